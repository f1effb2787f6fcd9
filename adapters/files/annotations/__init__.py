"""Annotators' marks in the formats of other programs."""
