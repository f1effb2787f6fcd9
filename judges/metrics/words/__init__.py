"""Texts split into words and n-grams, and the number of these that texts share."""
