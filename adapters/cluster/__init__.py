"""Clusters: many machines that work on one run."""
