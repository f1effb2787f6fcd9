"""The mark of a request: a short word that stands in none of the texts it shows.

A reply that repeats it behind its labels tells its own lines from those of a text.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

from spanjury.judges.core import fingerprint

__all__ = ["AnswerMark", "field_mark"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMark:
    """The mark that an answer in JSON repeats, so that no quoted object passes for it.

    Parameters
    ----------
    mark
        The `field_mark` of the texts.
    required
        Whether an answer without it is refused: where a text may hold an answer of its own.
    """

    mark: str
    required: bool

    @classmethod
    def of(cls, texts: Collection[str], *, key: str) -> "AnswerMark":
        """Return the mark for answers to a request that shows `texts`.

        Parameters
        ----------
        texts
            The judged texts.
        key
            A key that every answer has.
        """
        answer = re.compile(rf"\b{key}\b\W{{0,3}}[:：=]", re.IGNORECASE)
        required = any(answer.search(text) for text in texts)
        return cls(mark=field_mark(texts), required=required)

    def problem(self, mark: str) -> str:
        """Say what is wrong with an answer that gives `mark`, or return an empty text."""
        if not self.required or mark.strip(" ()").casefold() == self.mark:
            return ""
        return f'mark: must be "{self.mark}", as in the form of the answer'
