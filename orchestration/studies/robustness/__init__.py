"""Robustness: whether a judge gives a better score for an addition that does not improve the text."""
