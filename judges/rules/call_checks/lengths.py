"""Lengths of time in hours and minutes, and the number words that times and lengths share."""

import re
from collections.abc import Iterator
from types import MappingProxyType

from spanjury.judges.text.numbers import UNITS

HOURS = MappingProxyType({word: hour for word, hour in UNITS.items() if hour in range(1, 13)})
"""Word -> hour on a dial."""
_TENS = MappingProxyType(
    {"fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "ninety": 90}
)
COUNT = rf"(?:\d{{1,3}}|{'|'.join((*HOURS, *_TENS))}|an?|a couple of)"
"""Pattern of a number in digits or words that `count_of` reads."""
_LENGTH = re.compile(
    rf"\b((?:three[ -])?quarters? of an|{COUNT}|half an?|\d{{1,15}}\.\d+)(?: and a (half|quarter))?"
    r"[ -]?(minute|min|hour|hr|h)s?\b(?: and a (half|quarter))?",
    re.IGNORECASE,
)
_FIELD_LENGTH = re.compile(r"\"(?:\w*_)?(minute|min|hour)s?\": ?(\d{1,3})\b")


def count_of(word: str) -> int:
    """Return the number that a match of `COUNT` states."""
    lower = word.lower()
    if lower.isdecimal():
        return int(lower)
    return 2 if "couple" in lower else (HOURS | _TENS).get(lower, 1)


def lengths(text: str) -> Iterator[int]:
    """Yield the minutes of each length of time in hours and minutes that `text` states.

    Examples
    --------
    >>> list(lengths("an hour and a half, then 20 minutes"))
    [90, 20]
    """
    for match in _LENGTH.finditer(text):
        part = match[2] or match[4]
        amount = _amount(match[1].lower())
        amount += {"half": 0.5, "quarter": 0.25}.get((part or "").lower(), 0.0)
        yield round(amount * (60 if match[3].lower().startswith("h") else 1))
    for match in _FIELD_LENGTH.finditer(text):
        yield int(match[2]) * (60 if match[1] == "hour" else 1)


def _amount(text: str) -> float:
    if "quarter" in text:
        return 0.75 if text.startswith("three") else 0.25
    if text.startswith("half"):
        return 0.5
    return float(text) if "." in text else float(count_of(text))
