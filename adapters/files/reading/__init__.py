"""Rows of data from files of any kind, as segments."""
