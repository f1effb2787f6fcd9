"""Results of a panel, row by row: written, read back, joined and exported."""
