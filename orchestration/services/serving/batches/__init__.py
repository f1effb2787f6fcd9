"""Batches that a service judges for others: stored on disk, run in turn, and resumed."""
