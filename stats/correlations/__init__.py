"""Correlations of scores with people's, and whether one metric agrees more than another."""
