"""Correlations of scores with people's, and comparisons of metrics by them."""
