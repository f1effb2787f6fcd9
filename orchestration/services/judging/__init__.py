"""Judge texts: one, many, or the rows of a job."""
