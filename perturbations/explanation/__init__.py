"""Controlled changes of a judge's own error list, to see whether its score follows."""
