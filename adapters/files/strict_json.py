"""Strict JSON for foreign input: no duplicate keys, no NaN, no text that UTF-8 cannot encode."""

import json
import math
from collections.abc import Iterable
from dataclasses import replace

from spanjury.adapters.files.limits import USUAL
from spanjury.judges.core import DataError
from spanjury.judges.core.json_text import unique_keys, without_lone_escapes

_EXCERPT = 60


class NestingError(DataError):
    """JSON is nested too deeply to be read."""


def parse_json(text: str, *, depth: int = USUAL.depth) -> object:
    r"""Parse `text` as one JSON value.

    A lone surrogate, which JSON can express (``"\ud800"``) and UTF-8 cannot, becomes one U+FFFD:
    offsets into the text stay valid, and all of it can be encoded again.

    At most `depth` objects and lists may be nested.

    Raises `DataError` if `text` is not one JSON value, an object has a duplicate key (one of the
    two values would be lost), or a number is NaN or infinite. Raises `NestingError` if the nesting
    is too deep.
    """
    try:
        value: object = _DECODER.decode(without_lone_escapes(text))
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg} at column {error.colno}") from error
    except ValueError as error:  # an integer with thousands of digits
        raise DataError(f"not JSON: {error}") from error
    except RecursionError as error:
        raise NestingError("nested too deeply to be read") from error
    if _is_deeper(value, depth):
        limits = replace(USUAL, depth=depth)
        raise NestingError(str(limits.exceeded("depth", "nested too deeply to be read")))
    return value


def _is_deeper(value: object, depth: int) -> bool:
    """Return whether objects and lists are nested more than `depth` levels deep."""
    level = [value] if type(value) in _NESTING else []
    for _ in range(depth):
        if not level:
            return False
        level = [inner for outer in level for inner in _members(outer) if type(inner) in _NESTING]
    return bool(level)


def _members(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


_NESTING = frozenset({dict, list})


def excerpt(value: object) -> str:
    """Return `value` as JSON, shortened for an error message."""
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def _finite(number: str) -> float:
    """Parse a number; raise `DataError` if it is too large for a float."""
    value = float(number)
    if math.isinf(value):
        _refuse(number)
    return value


def _refuse(number: str) -> None:
    """Raise `DataError` for a number that is not finite."""
    raise DataError(f"the number {excerpt(number)} is not finite")


_DECODER = json.JSONDecoder(
    object_pairs_hook=unique_keys, parse_float=_finite, parse_constant=_refuse
)
