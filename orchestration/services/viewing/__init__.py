"""Runs as data for a page: columns of all rows, and details of selected rows."""
