"""Draws: who asks a model the same twice within one assessment is given two replies."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from spanjury.orchestration.memory_keys import digest

__all__ = ["asked_anew", "assessing", "drawn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assessment:
    """The assessment in which a model is asked, and how often for each reply.

    One that is made `anew`, after an answer that was of no use, takes no remembered reply.
    """

    place: str
    anew: bool = False
    asked: Counter[str] = field(default_factory=Counter)


_ASSESSMENT: ContextVar[_Assessment | None] = ContextVar("assessment", default=None)


@contextmanager
def assessing(*, place: str, anew: bool) -> Iterator[None]:
    """Have models know that whatever they are asked inside belongs to one assessment.

    Parameters
    ----------
    place
        Whose assessment it is: the draws of one place are not those of another.
    anew
        Whether replies that are remembered were of no use and must not be given once more.
    """
    outer = _ASSESSMENT.set(_Assessment(place=place, anew=anew))
    try:
        yield
    finally:
        _ASSESSMENT.reset(outer)


def asked_anew() -> bool:
    """Say whether the assessment under way takes no remembered reply."""
    assessment = _ASSESSMENT.get()
    return assessment is not None and assessment.anew


def drawn(key: str) -> str:
    """Return the key of the next draw of the reply at `key`, within the assessment under way."""
    assessment = _ASSESSMENT.get()
    if assessment is None:
        return key
    assessment.asked[key] += 1
    return digest(key, assessment.place, str(assessment.asked[key]))
