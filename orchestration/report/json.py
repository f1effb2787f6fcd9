"""Findings as plain values, for programs."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import version

from spanjury.judges.core import VERSION

_DIGITS = 6
"""Significant digits: more than any number of texts can support."""


def versions() -> dict[str, str]:
    """Return the versions of the packages that computed the numbers."""
    return {"spanjury": VERSION, **{name: version(name) for name in ("numpy", "scipy")}}


def fields_of(value: object, *, digits: int | None = _DIGITS) -> dict[str, object]:
    """Return a dataclass as a JSON object."""
    assert is_dataclass(value)
    named = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {name: plain(part, digits=digits) for name, part in named}


def plain(value: object, *, digits: int | None = _DIGITS) -> object:
    """Return a dataclass, a named tuple or a container of these as JSON-compatible values.

    Numbers have `digits` significant digits; None for all. Undefined and infinite ones become None.
    """
    if isinstance(value, float):
        rounded = float(value if digits is None else f"{value:.{digits}g}")
        return rounded if math.isfinite(value) else None
    if is_dataclass(value):
        return fields_of(value, digits=digits)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict(), digits=digits)
    if isinstance(value, Mapping):
        return {str(key): plain(part, digits=digits) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, digits=digits) for part in value]
    return value


def json_text(value: object) -> str:
    """Return plain values as the text of a JSON file."""
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n"
