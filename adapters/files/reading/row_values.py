"""Normalisation of row values, which users may write in several ways."""

import json
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Protocol, TypeGuard, runtime_checkable

from spanjury.judges.core import DataError
from spanjury.judges.core.passages import passages_apart

INPUT_HEADER = "Input"
"""Name of an input that is a plain text."""
OTHER_NAMES = MappingProxyType(
    {"input": "inputs", "source": "inputs", "reference": "references", "scores": "human"}
)
"""Aliases of keys. The first alias present is used, and only if the key itself is absent."""

_TEXTS = {str}
_OTHER_SCALARS = (date, time, timedelta, Decimal, bytes)


@runtime_checkable
class _Array(Protocol):
    def tolist(self) -> object: ...


def plain(value: object) -> object:
    """Return a table's value with the types of JSON; bytes that are not UTF-8 stay bytes.

    Tuples and arrays become lists.
    """
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, _Array):
        return plain(value.tolist())
    if isinstance(value, _OTHER_SCALARS):
        with suppress(DataError):  # bytes that are not text
            return _scalar(value)
    return value


def without_bytes(value: object) -> object:
    """Return a plain value in which bytes are replaced by their length."""
    if isinstance(value, dict):
        return {key: without_bytes(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_bytes(inner) for inner in value]
    return f"{len(value)} bytes" if isinstance(value, bytes) else value


def as_text(identity: object) -> object:
    """Convert a number to a text; booleans do not count as numbers."""
    if isinstance(identity, int | float) and not isinstance(identity, bool):
        return str(identity)
    return identity


def by_header(inputs: object) -> object:
    """Render every input except passages as text; an input without a name gets the usual one.

    Documents with ids are inputs of these names.
    """
    if isinstance(inputs, str | list):
        return documents(inputs) or {INPUT_HEADER: rendered(inputs)}
    if not isinstance(inputs, dict):
        return inputs
    if {*map(type, inputs.values())} == _TEXTS:
        return dict(inputs)
    return passages_apart(
        {
            header: value
            if isinstance(header, str) and _is_list_of_texts(value)
            else rendered(value)
            for header, value in inputs.items()
            if value is not None
        }
    )


def documents(inputs: object) -> dict[str, str]:
    """Return id -> text of a list of documents, ``[{"id": …, "text": …}]``; else nothing."""
    if not isinstance(inputs, list) or not all(
        isinstance(each, dict) and each.keys() == {"id", "text"} and isinstance(each["text"], str)
        for each in inputs
    ):
        return {}
    texts = {str(each["id"]): each["text"] for each in inputs}
    return texts if len(texts) == len(inputs) else {}


def as_list(references: object) -> object:
    """Wrap a single text in a list."""
    return [references] if isinstance(references, str) else references


def by_rater(human: object) -> object:
    """Assign a bare score to the rater ``""``, and drop missing scores."""
    if not isinstance(human, dict):
        return human
    rated = {}
    for aspect, scores in human.items():
        by_rater = scores if isinstance(scores, dict) else {"": scores}
        given = {rater: score for rater, score in by_rater.items() if score is not None}
        if given:
            rated[aspect] = given
    return rated


def rendered(value: object) -> str:
    """Convert an input to text: a list of texts to one line each, other JSON values to JSON.

    Dates, times, decimal numbers and UTF-8 bytes, which JSON lacks, become plain text. Raise
    `DataError` for any other value.
    """
    if isinstance(value, str):
        return value
    if _is_list_of_texts(value):
        return "\n".join(value)
    if isinstance(value, _OTHER_SCALARS):
        return _scalar(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_scalar)


def _scalar(value: object) -> str:
    """Convert a value of a type that tables have and JSON lacks."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
        raise DataError("an input holds bytes that are not text, expected a text")
    raise DataError(f"an input holds a {type(value).__name__}, expected a text")


def _is_list_of_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
