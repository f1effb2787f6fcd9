"""Robustness: a judge gives no better score for an addition that makes the text no better."""
