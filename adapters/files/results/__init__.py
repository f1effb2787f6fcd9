"""Results of a panel, row by row: written, read back, merged and exported."""
