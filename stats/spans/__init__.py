"""Spans: their agreement, and whether they lie where the errors are."""
