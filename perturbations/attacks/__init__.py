"""Attacks on a judge: additions that do not improve a text but request a better score."""
