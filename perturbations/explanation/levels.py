"""Errors moved to a lower or higher level: their severity, their explanation, or both.

The explanation is worded for the severity `by` levels away. An error at the end of the scale, or
without a severity, is unchanged. The reason why something is an error is kept word for word. Words
that describe its severity are replaced, and a sentence that states the new severity precedes it.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG
    Metrics?, section 3.2.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import Literal, get_args

from numpy.random import Generator

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, ErrorSpan, PerturbationError
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    Family,
    NothingToChangeError,
    Push,
    Unchanged,
)
from spanjury.perturbations.text.places import cased_like, picked
from spanjury.perturbations.text.wordlists import lists

_LEXICON = "severities"
_LEVELS = range(MIN_SEVERITY, MAX_SEVERITY + 1)
_REACH = {"adjectives": 2, "adverbs": 1}  # words between severity and error


def openings(level: int) -> tuple[str, ...]:
    """Return sentences that state that an error is of severity `level`."""
    return lists(_LEXICON)[f"openings-{level}"]


def reworded(explanation: str, rng: Generator, *, level: int) -> str:
    """Word `explanation` like one of an error of severity `level`, 1 to 5.

    A statement of severity from an earlier call is removed first.
    """
    reason = explanation
    for opening in chain.from_iterable(map(openings, _LEVELS)):
        reason = reason.removeprefix(opening).lstrip()
    for ladder in _REACH:
        word = lists(_LEXICON)[ladder][level - MIN_SEVERITY]
        reason = _weights(ladder).sub(partial(_replaced, word=word), reason)
    return f"{picked(openings(level), rng)} {reason}".rstrip()


def _replaced(match: re.Match[str], *, word: str) -> str:
    """Replace the matched word for a severity by `word`, with an article that fits."""
    article = f"{match['article'][0]} " if match["article"] else ""
    return article + cased_like(word, match["word"])


@cache
def _weights(ladder: str) -> re.Pattern[str]:
    """Return a pattern of the words of `ladder` that describe errors, not events."""
    words, before = ("|".join(lists(_LEXICON)[f"{ladder}-{part}"]) for part in ("found", "before"))
    return re.compile(
        rf"(?:\b(?P<article>an?)\s+)?\b(?P<word>{words})\b"
        rf"(?=(?:\s+\w+){{0,{_REACH[ladder]}}}\s+(?:{before}))",
        re.IGNORECASE,
    )


Only = Literal["all", "one"]
"""The errors that move: all that can, or one drawn at random."""

_WIDEST = MAX_SEVERITY - MIN_SEVERITY


def _rule(push: Push, family: Family, summary: str) -> ExplanationPerturbation:
    """Make the rule that moves errors so that the score should be pushed in a direction."""

    def moved(
        errors: ErrorList, rng: Generator, *, by: int = 1, only: Only = "all"
    ) -> list[ErrorSpan]:
        spans = list(errors.spans)
        for index, level in moves(errors, rng, by=by, push=push, only=only).items():
            span = spans[index]
            if family != "severity":
                span = replace(span, explanation=reworded(span.explanation, rng, level=level))
            spans[index] = span if family == "explanation" else replace(span, severity=level)
        return spans

    moved.__doc__ = summary
    verb = "soften" if push == "rises" else "worsen"
    moved.__qualname__ = f"{verb}_{family}"  # Python's errors about arguments contain it
    return ExplanationPerturbation(moved, push=push, family=family)


soften_severity = _rule(
    "rises",
    "severity",
    "Lower the severity of all errors, or of one, by `by` levels, down to 1.",
)
worsen_severity = _rule(
    "falls", "severity", "Raise the severity of all errors, or of one, by `by` levels, up to 5."
)
soften_explanation = _rule(
    "rises",
    "explanation",
    "Word explanations as if the errors were `by` levels less severe; the severities stay.",
)
worsen_explanation = _rule(
    "falls",
    "explanation",
    "Word explanations as if the errors were `by` levels more severe; the severities stay.",
)
soften_both = _rule(
    "rises", "both", "Lower severities by `by` levels, and word the explanations to match."
)
worsen_both = _rule(
    "falls", "both", "Raise severities by `by` levels, and word the explanations to match."
)


def moves(
    errors: ErrorList, rng: Generator, *, by: int, push: Push, only: Only
) -> Mapping[int, int]:
    """Return the indices of the errors that move, and the new severity of each; never empty.

    They move by 1 to 4 levels. The score is pushed up, it ``rises``, if errors become less severe.
    Raises `NothingToChangeError` if no error has a severity, or all are at the end of the scale.
    Raises `PerturbationError` if an option is out of range.
    """
    _require(by=by, only=only)
    shift = -by if push == "rises" else by
    old = {i: span.severity for i, span in enumerate(errors.spans) if span.severity is not None}
    if not old:
        raise NothingToChangeError("no error has a severity", reason=Unchanged.NO_SEVERITIES)
    new = {i: min(MAX_SEVERITY, max(MIN_SEVERITY, severity + shift)) for i, severity in old.items()}
    moving = [i for i in old if new[i] != old[i]]
    if not moving:
        end = MAX_SEVERITY if shift > 0 else MIN_SEVERITY
        raise NothingToChangeError(f"every severity is {end}", reason=Unchanged.NO_ROOM)
    if only == "one":
        moving = [moving[int(rng.integers(len(moving)))]]
    return {i: new[i] for i in moving}


def _require(*, by: object, only: object) -> None:
    if type(by) is not int or not 1 <= by <= _WIDEST:
        raise PerturbationError(f"by must be 1 to {_WIDEST} levels, got {by!r}")
    if only not in get_args(Only):
        raise PerturbationError(f"only must be one of {', '.join(get_args(Only))}, got {only!r}")
