"""Significance: tests of paired scores, and the number of items that they require."""
