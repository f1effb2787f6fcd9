"""Metrics with model weights, run by torch here, or by a worker in a separate environment."""
