"""Runs as the data of a page: columns of all rows, and details of the rows that are looked at."""
