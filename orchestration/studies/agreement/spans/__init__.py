"""Span agreement: whether judges mark what people mark."""
