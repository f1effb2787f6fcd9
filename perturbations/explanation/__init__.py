"""Controlled changes of a judge's own error list, to test whether its score follows."""
