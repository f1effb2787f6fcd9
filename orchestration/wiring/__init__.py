"""The composition root: names and files become judges, models, panels, sources and results.

Nothing else reaches into the adapters. There is a module for each use, and a command loads only
what it uses.
"""
