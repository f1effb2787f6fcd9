"""Texts cut into words and n-grams, and how many of these they share."""
