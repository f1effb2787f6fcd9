"""Texts in JSON that parsers read differently: repeated keys, escapes that name no character."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from spanjury.judges.core.errors import DataError
from spanjury.judges.core.visible import shown_json

_LONGEST = 60
# Keeps surrogate pairs and all other escapes, and finds lone surrogates.
_ESCAPE = re.compile(
    r"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u])"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


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


def without_lone_escapes(text: str) -> str:
    r"""Return JSON in which the escape of a lone surrogate is that of U+FFFD.

    JSON can express a lone surrogate (``"\ud800"``) and UTF-8 cannot. Offsets into the texts stay
    valid.

    Examples
    --------
    >>> without_lone_escapes(r'"a\ud800b, \ud83d\ude00"')
    '"a\\ufffdb, \\ud83d\\ude00"'
    """
    return _ESCAPE.sub(lambda escape: escape[1] or r"\ufffd", text) if "\\u" in text else text
