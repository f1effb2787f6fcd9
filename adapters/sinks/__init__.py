"""Sinks: services that take the scores of live traffic, each by its own HTTP interface."""
