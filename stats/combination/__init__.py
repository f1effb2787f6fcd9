"""Combination of several p-values."""
