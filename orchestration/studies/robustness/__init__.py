"""Robustness: whether a judge rewards additions that do not improve a text."""
