"""Batches that a service judges for others: kept on disk, run in turn, and gone on with."""
