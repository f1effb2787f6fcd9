"""Attacks on a judge: additions that make no text better and ask for a better score."""
