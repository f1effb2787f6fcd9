"""Runs: their folder, and the memory from which they are resumed."""
