"""Raters: their agreement, and what a panel gains from its seats."""
