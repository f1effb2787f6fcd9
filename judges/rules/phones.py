"""Telephone numbers: runs of groups of digits that begin with a plus or a zero."""

import re
import sys
from collections.abc import Iterator
from functools import lru_cache

_PHONE = re.compile(
    r"(?<![\w.,:/+-])(?:\+\d{1,3}|\(?0\d{2,5}\)?)(?:[ \u00a0./-]?(?:\(\d++\)|\d++))++(?![.,:/-]?\d)"
)
_FEWEST, _MOST = 8, 16  # digits of a telephone number
_BETWEEN = re.compile(r"(?<=\d)[ \u00a0()./-]{1,3}(?=\d)")
_DIGITS = re.compile(r"\d{6,}")
_TRUNK = "(0)"


def phones(text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
    """Yield the telephone numbers of a text, between the offsets `start` and `end`.

    Examples
    --------
    >>> [match.group() for match in phones("Call +49 30 1234567 or (089) 765-4321 by 01.02.2030.")]
    ['+49 30 1234567', '(089) 765-4321']
    """
    for match in _PHONE.finditer(text, start, end):
        if _FEWEST <= sum(character.isdigit() for character in match.group()) <= _MOST:
            yield match


def is_known(phone: str, source: str) -> bool:
    """Return whether `source` has a telephone number, in any grouping.

    Examples
    --------
    >>> is_known("030 123 45 67", "Hotline: +49 (0)30 1234567")
    True
    """
    own = _bare(phone)
    return any(own.endswith(other) or other.endswith(own) for other in _runs(source))


@lru_cache(maxsize=4)
def _runs(source: str) -> frozenset[str]:
    """Return the long runs of digits in a source, without the marks between them."""
    joined = _BETWEEN.sub("", source.replace(_TRUNK, ""))
    return frozenset(run.lstrip("0") for run in _DIGITS.findall(joined))


def _bare(phone: str) -> str:
    """Return the digits of a telephone number without a zero before them."""
    return re.sub(r"\D", "", phone.replace(_TRUNK, "")).lstrip("0")
