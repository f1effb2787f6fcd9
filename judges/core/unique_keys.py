"""Refuse JSON objects with a repeated key, of which parsers silently keep only one value."""

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from spanjury.judges.core.errors import DataError
from spanjury.judges.core.visible import shown_json

_LONGEST = 60


def unique_keys(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its pairs; raise `DataError` if a key occurs twice.

    It is an ``object_pairs_hook`` of `json`.
    """
    unique = dict(pairs)
    if len(unique) != len(pairs):
        (key, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise DataError(f"the key {_excerpt(key)} occurs twice in one object")
    return unique


def require_unique_keys(text: str | bytes) -> None:
    """Raise `DataError` if an object in `text` has a key twice; text that is not JSON passes.

    Examples
    --------
    >>> require_unique_keys('{"a": {"b": 1, "b": 2}}')
    Traceback (most recent call last):
    spanjury.judges.core.errors.DataError: the key "b" occurs twice in one object
    """
    with suppress(ValueError, RecursionError):  # the caller's own parser refuses such a text
        json.loads(text, object_pairs_hook=unique_keys)


def _excerpt(key: str) -> str:
    text = shown_json(key)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
