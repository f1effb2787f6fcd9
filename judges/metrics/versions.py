"""Versions of libraries, cached because signatures are read often."""

from functools import lru_cache
from importlib import metadata


@lru_cache(maxsize=64)
def version(library: str) -> str:
    """Return the version of an installed library."""
    return metadata.version(library)
