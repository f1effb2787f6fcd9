"""The mark of a request: a short word that stands in none of the texts it shows.

A reply that repeats it behind its labels tells its own lines from those of a text.
"""

from collections.abc import Collection
from itertools import count

from spanjury.judges.core import fingerprint

__all__ = ["field_mark"]

_SHORTEST = 4


def field_mark(texts: Collection[str]) -> str:
    """Return 4 hexadecimal digits that none of `texts` holds in any case; more if need be.

    It is the same for the same texts, on every run.

    Examples
    --------
    >>> len(field_mark(["It rains."]))
    4
    """
    folded = [text.casefold() for text in texts]
    base = fingerprint(*texts)
    marks = (fingerprint(str(turn), base)[: _SHORTEST + turn] for turn in count())
    return next(mark for mark in marks if not any(mark in text for text in folded))
