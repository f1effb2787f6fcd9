"""Judging texts: a single one, many, or the rows of a job."""
