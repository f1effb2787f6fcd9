"""Versions of libraries, each looked up once: signatures are read again and again."""

from functools import lru_cache
from importlib import metadata


@lru_cache(maxsize=64)
def version(library: str) -> str:
    """Return the version of an installed library."""
    return metadata.version(library)
