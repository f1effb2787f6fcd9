"""Sinks: services that receive the scores of live traffic, each through its own HTTP API."""
