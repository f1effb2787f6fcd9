"""Metrics that look at the output, its source or the corpus, and at no reference."""
