"""Experiments that put a judge on trial."""
