"""What a panel said, row by row: written, read back, joined and exported."""
