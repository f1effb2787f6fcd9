"""Draws: who asks a model the same twice within one assessment is given two replies."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from spanjury.judges.core.keys import digest

__all__ = ["Assessment", "asked_anew", "assessing", "next_draw", "note_reply"]


@dataclass(slots=True, kw_only=True)
class Assessment:
    """The assessment in which a model is asked, and how often for each reply.

    One that is made `anew`, after an answer that was of no use, takes no remembered reply.
    """

    place: str
    anew: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    remembered: int = 0
    replied: int = 0

    @property
    def made_of_memory(self) -> bool:
        """Say whether models were asked, and all that they said was remembered."""
        return self.remembered > 0 and not self.replied


_ASSESSMENT: ContextVar[Assessment | None] = ContextVar("assessment", default=None)


@contextmanager
def assessing(*, place: str, anew: bool) -> Iterator[Assessment]:
    """Have models know that whatever they are asked inside belongs to one assessment.

    Parameters
    ----------
    place
        Whose assessment it is: the draws of one place are not those of another.
    anew
        Whether replies that are remembered were of no use and must not be given once more.
    """
    assessment = Assessment(place=place, anew=anew)
    outer = _ASSESSMENT.set(assessment)
    try:
        yield assessment
    finally:
        _ASSESSMENT.reset(outer)


def asked_anew() -> bool:
    """Say whether the assessment under way takes no remembered reply."""
    assessment = _ASSESSMENT.get()
    return assessment is not None and assessment.anew


def note_reply(*, remembered: bool) -> None:
    """Have the assessment under way know of a reply that it was given, from memory or not."""
    assessment = _ASSESSMENT.get()
    if assessment is not None:
        assessment.remembered += remembered
        assessment.replied += not remembered


def next_draw(key: str) -> Callable[[str], str]:
    """Begin the next draw of the reply at `key` within the assessment under way.

    Returns
    -------
    Callable
        Tells the key of this draw, given `key` or another that the reply may be at.
    """
    assessment = _ASSESSMENT.get()
    if assessment is None:
        return str
    assessment.asked[key] += 1
    place, number = assessment.place, str(assessment.asked[key])
    return lambda base: digest(base, place, number)
