"""Runs that keep their results in a folder: list, compare, prune, spread over a cluster."""
