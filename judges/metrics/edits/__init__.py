"""Metrics of the edits that turn an output into its reference."""
