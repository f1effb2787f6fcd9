"""Runs: the folder of one, and the memory that it is resumed from."""
