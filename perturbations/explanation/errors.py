"""Errors added to a judge's list that it did not find, and errors removed from the list.

The intervals of false errors lie in the judged text, as in [1], section 3.2.

References
----------
.. [1] Terentowicz, Lango, Dušek (2025), How (Un)faithful are Explainable LLM-based NLG Metrics?
"""

import re
from collections.abc import Sequence
from typing import Literal, get_args

from numpy.random import Generator

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, ErrorSpan, Located, PerturbationError
from spanjury.judges.text.words import words
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    NothingToChangeError,
    Unchanged,
    explanation_perturbation,
)
from spanjury.perturbations.text.places import picked, require_count
from spanjury.perturbations.text.wordlists import lists

Interval = tuple[int, int]
_LEXICON = "severities"
_LONGEST = 12  # words, as in most of the intervals that judges mark
_MARKS = re.compile(r"\S+")
Which = Literal["first", "last", "random", "gravest"]
"""Errors to remove; of equally grave ones the first, and those without a severity last."""


@explanation_perturbation(push="falls", family="addition")
def add_errors(errors: ErrorList, rng: Generator, *, k: int = 1) -> list[ErrorSpan]:
    """Add `k` false errors after the others, with severities and words drawn at random.

    A false error overlaps no other error as long as there are words without one.
    """
    require_count(k)
    tokens = _tokens(errors.output)
    if not tokens:
        raise NothingToChangeError("there is no word in the text", reason=Unchanged.NO_TEXT)
    spans = list(errors.spans)
    taken = [span.interval for span in errors.spans if span.interval]
    for later in reversed(range(k)):
        taken.append(_free_interval(tokens, rng, taken=taken, later=later))
    for false_place in taken[-k:]:
        severity = int(rng.integers(MIN_SEVERITY, MAX_SEVERITY + 1))
        reason = picked(lists(_LEXICON)[f"reasons-{severity}"], rng)
        spans.append(_error_at(false_place, errors.output, explanation=reason, severity=severity))
    return spans


@explanation_perturbation(push="falls", family="critical")
def critical_error(errors: ErrorList, _: Generator, *, replacing: bool = False) -> list[ErrorSpan]:
    """Add one error of severity 5 on the whole text, after the others or instead of them.

    In an empty text, the error has no location, like an omission. The others stay by default, as
    in [1], listing 8.
    """
    (explanation,) = lists(_LEXICON)["critical"]
    whole = (0, len(errors.output))
    critical = _error_at(whole, errors.output, explanation=explanation, severity=MAX_SEVERITY)
    return [critical] if replacing else [*errors.spans, critical]


def _error_at(interval: Interval, text: str, *, explanation: str, severity: int) -> ErrorSpan:
    start, end = interval
    if start == end:
        return ErrorSpan(text="", explanation=explanation, severity=severity)
    return ErrorSpan(
        text=text[start:end],
        start=start,
        end=end,
        located=Located.EXACT,
        explanation=explanation,
        severity=severity,
    )


def _free_interval(
    tokens: Sequence[Interval], rng: Generator, *, taken: Sequence[Interval], later: int
) -> Interval:
    """Draw a run of words that leaves a separate one for each of the `later` ones, if possible."""
    drawn = int(rng.integers(1, _LONGEST + 1))
    room = sum(not _meets(token, taken) for token in tokens) - later
    for length in range(min(drawn, max(room, 1)), 0, -1):
        if apart := [run for run in _runs(tokens, length) if not _meets(run, taken)]:
            return apart[int(rng.integers(len(apart)))]
    runs = _runs(tokens, min(drawn, len(tokens)))
    return runs[int(rng.integers(len(runs)))]


def _runs(tokens: Sequence[Interval], length: int) -> list[Interval]:
    """Return every run of `length` tokens."""
    return [
        (start, end) for (start, _), (_, end) in zip(tokens, tokens[length - 1 :], strict=False)
    ]


def _meets(run: Interval, taken: Sequence[Interval]) -> bool:
    return any(run[0] < end and start < run[1] for start, end in taken)


def _tokens(text: str) -> list[Interval]:
    """Return the intervals of words, or in a text of signs alone those of the signs."""
    intervals = [(word.start, word.end) for word in words(text)]
    return intervals or [match.span() for match in _MARKS.finditer(text)]


@explanation_perturbation(push="rises", family="removal")
def remove_errors(
    errors: ErrorList, rng: Generator, *, k: int = 1, which: Which = "first"
) -> list[ErrorSpan]:
    """Remove `k` errors, possibly all; the others keep their order."""
    require_count(k)
    if k > len(errors.spans):
        raise NothingToChangeError(
            f"too few errors ({len(errors.spans)} of {k} needed)", reason=Unchanged.TOO_FEW_ERRORS
        )
    gone = _order(errors, rng, which=which)[:k]
    return [span for index, span in enumerate(errors.spans) if index not in gone]


def _order(errors: ErrorList, rng: Generator, *, which: Which) -> list[int]:
    """Return the indices of the errors in the order of their removal."""
    indices = list(range(len(errors.spans)))
    if which == "first":
        return indices
    if which == "last":
        return indices[::-1]
    if which == "random":
        return [int(index) for index in rng.permutation(len(indices))]
    if which == "gravest":
        return sorted(indices, key=lambda index: -(errors.spans[index].severity or 0))
    raise PerturbationError(f"which must be one of {', '.join(get_args(Which))}, got {which!r}")
