"""Discernment: whether the score falls when the text is damaged."""
