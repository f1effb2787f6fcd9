"""Values of a row, as users write them in one of several ways, in the one way that we know."""

import json
from contextlib import suppress
from datetime import date, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import TypeGuard

from spanjury.judges.core import DataError
from spanjury.judges.core.passages import passages_apart

INPUT_HEADER = "Input"
"""The header of an input that comes as a plain text."""
OTHER_NAMES = MappingProxyType(
    {"input": "inputs", "source": "inputs", "reference": "references", "scores": "human"}
)
"""Other names of a key; the first of them counts, and only where the key itself is absent."""

_TEXTS = {str}
_OTHER_SCALARS = (date, time, timedelta, Decimal, bytes)


def plain(value: object) -> object:
    """Return a value of a table as JSON holds it; bytes that are no text stay bytes."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
        return value
    return _scalar(value) if isinstance(value, _OTHER_SCALARS) else value


def without_bytes(value: object) -> object:
    """Return a plain value with the number of bytes in the place of bytes."""
    if isinstance(value, dict):
        return {key: without_bytes(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_bytes(inner) for inner in value]
    return f"{len(value)} bytes" if isinstance(value, bytes) else value


def as_text(identity: object) -> object:
    """Write a number as a text; True and False are no numbers here."""
    if isinstance(identity, int | float) and not isinstance(identity, bool):
        return str(identity)
    return identity


def by_header(inputs: object) -> object:
    """Render every input, passages apart; one that comes without a header gets the usual one."""
    if isinstance(inputs, str | list):
        return {INPUT_HEADER: rendered(inputs)}
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


def as_list(references: object) -> object:
    """Take a single text for a list of one."""
    return [references] if isinstance(references, str) else references


def by_rater(human: object) -> object:
    """Give a bare score the rater ``""`` and drop what has no rating."""
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
    """Write an input as text: the turns of a list on lines of their own, else as JSON.

    Raise `DataError` for what is neither text nor JSON's, nor a date, a number or text in bytes.
    """
    if isinstance(value, str):
        return value
    if _is_list_of_texts(value):
        return "\n".join(value)
    if isinstance(value, _OTHER_SCALARS):
        return _scalar(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_scalar)


def _scalar(value: object) -> str:
    """Write what tables hold and JSON does not."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if isinstance(value, bytes):
        with suppress(UnicodeDecodeError):
            return value.decode()
        raise DataError("an input holds bytes that are no text, expected a text")
    raise DataError(f"an input holds a {type(value).__name__}, expected a text")


def _is_list_of_texts(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
