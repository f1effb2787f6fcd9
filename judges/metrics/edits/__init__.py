"""Metrics of the edits that make an output its reference."""
