"""Adapters of everything outside the project: models, servers, libraries and files."""
