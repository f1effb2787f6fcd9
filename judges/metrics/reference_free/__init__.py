"""Metrics of the output, its source or the corpus, without references."""
