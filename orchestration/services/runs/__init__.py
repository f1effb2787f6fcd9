"""Runs that keep their results in a folder: list, compare, prune, or spread them over a cluster."""
