"""Wording: how an explanation sounds at each of the five levels of severity.

English. The reason why something is an error stays word for word; what is said of its weight
is replaced, and a sentence that gives the new weight is put before it.
"""

import re
from functools import cache, partial
from types import MappingProxyType

from numpy.random import Generator

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY
from spanjury.perturbations.text.places import cased_like, picked
from spanjury.perturbations.text.wordlists import lists

_LEXICON = "severities"
_LEVELS = range(MIN_SEVERITY, MAX_SEVERITY + 1)
_REACH = MappingProxyType({"adjectives": 2, "adverbs": 1})  # words between a weight and its error


def openings(level: int) -> tuple[str, ...]:
    """Return sentences that say that an error is of severity `level`."""
    return lists(_LEXICON)[f"openings-{level}"]


def reworded(explanation: str, rng: Generator, *, level: int) -> str:
    """Word `explanation` as one of an error of severity `level`.

    `level` is 1 to 5. A weight given by this function before is taken off.

    Examples
    --------
    >>> from spanjury.perturbations.perturbation import generator_for
    >>> reworded("A minor factual error.", generator_for(1, "w", "a"), level=5)[-23:]
    ' A fatal factual error.'
    """
    reason = _without_opening(explanation)
    for ladder in _REACH:
        word = lists(_LEXICON)[ladder][level - MIN_SEVERITY]
        reason = _weights(ladder).sub(partial(_replaced, word=word), reason)
    return f"{picked(openings(level), rng)} {reason}".rstrip()


def _without_opening(explanation: str) -> str:
    for level in _LEVELS:
        for opening in openings(level):
            explanation = explanation.removeprefix(opening).lstrip()
    return explanation


def _replaced(match: re.Match[str], *, word: str) -> str:
    """Write `word` for the weight that was `match`, with an article before it that suits."""
    article = f"{match['article'][0]} " if match["article"] else ""
    return article + cased_like(word, match["word"])


@cache
def _weights(ladder: str) -> re.Pattern[str]:
    """Return what finds the weights of `ladder` where they are said of errors, not of events."""
    words, before = ("|".join(lists(_LEXICON)[f"{ladder}-{part}"]) for part in ("found", "before"))
    return re.compile(
        rf"(?:\b(?P<article>an?)\s+)?\b(?P<word>{words})\b"
        rf"(?=(?:\s+\w+){{0,{_REACH[ladder]}}}\s+(?:{before}))",
        re.IGNORECASE,
    )
