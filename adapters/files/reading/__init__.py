"""Rows of data, whatever file they come from, as segments."""
