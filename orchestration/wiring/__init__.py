"""The composition root: builds judges, models, panels, sources and results from names and files.

Only this package imports adapters. Each use has its own module, so that a command imports only what
it uses.
"""
