"""The composition root: builds judges, models, panels, sources and results from names and files.

Only this package and the benchmarks import adapters. Each use has its own module, so that a command
imports only what it uses.
"""
