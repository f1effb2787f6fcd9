"""Spans: their agreement, and their overlap with the errors."""
