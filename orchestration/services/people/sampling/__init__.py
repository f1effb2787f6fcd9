"""Samples of a run's texts for people to mark, drawn and read again."""
