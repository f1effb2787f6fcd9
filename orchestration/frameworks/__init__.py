"""Judges for evaluation frameworks, in the form that each framework expects."""
