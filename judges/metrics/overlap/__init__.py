"""Metrics of the words that an output shares with its references."""
