"""Samples of a run's texts: which are worth a person's time, and what chance each had."""
