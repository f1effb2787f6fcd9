"""What an exam came to as plain values, which JSON can write."""

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np
import scipy

from spanjury.judges.core import VERSION

__all__ = ["fields_of", "plain", "versions"]

_DIGITS = 6
"""Significant digits: more than any number of texts supports."""


def versions() -> dict[str, str]:
    """Return the versions of what the numbers were made with."""
    return {"spanjury": VERSION, "numpy": np.__version__, "scipy": scipy.__version__}


def fields_of(value: object) -> dict[str, object]:
    """Return a dataclass as an object of JSON."""
    assert is_dataclass(value)
    return {field.name: plain(getattr(value, field.name)) for field in fields(value)}


def plain(value: object) -> object:
    """Return a dataclass, a named tuple or what holds them as JSON can write it."""
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
    if is_dataclass(value):
        return fields_of(value)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value
