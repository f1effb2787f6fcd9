"""Versions of a text under repair, and the panel's order of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from spanjury.judges.core import Decision, Outcome, Result, Segment, Usage
from spanjury.orchestration.engine.text_repair.places import (
    Marked,
    MarkedPassage,
    SpanEdit,
    marked_in,
    passages_in,
)

_GRAVITY = {Decision.OK: 0, Decision.UNSURE: 1, None: 1, Decision.FAULTY: 2}
"""Order of decisions; a missing one counts like unsure."""
_UNKNOWN = 3
"""The assumed severity of an error for which the judge stated none."""
_NOISE = 1e-9
"""Smaller differences of scores are rounding errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A text under repair, with the panel's results.

    Parameters
    ----------
    segment
        The segment with this text as its output.
    results
        The panel's report on each aspect.
    edits
        The changes from the version that it was made from; empty for the first.
    kept
        Whether it was better than the previous best, so that the next was made from it.
    usage
        The writer's spending on it.
    """

    segment: Segment
    results: tuple[Result, ...]
    edits: tuple[SpanEdit, ...] = ()
    kept: bool = True
    usage: Usage = Usage()

    @property
    def text(self) -> str:
        """The text of this version."""
        return self.segment.output

    @property
    def errors(self) -> tuple[Marked, ...]:
        """All errors marked in it."""
        return marked_in(self.results)

    @property
    def passages(self) -> tuple[MarkedPassage, ...]:
        """The passages marked in it."""
        return passages_in(self.text, self.errors)

    @property
    def spent(self) -> Usage:
        """The spending of the writer and of the panel on it."""
        return sum((result.report.usage for result in self.results), self.usage)

    @property
    def unjudged(self) -> tuple[Result, ...]:
        """The results of aspects that the panel failed to judge; abstentions are not failures."""
        return tuple(
            result
            for result in self.results
            if result.report.outcome not in {Outcome.SCORED, Outcome.ABSTAINED}
        )

    @property
    def scored(self) -> frozenset[str]:
        """Names of the aspects with a score."""
        return frozenset(
            result.aspect.name for result in self.results if result.report.score is not None
        )


class Rank(NamedTuple):
    """The order of versions, best first: decision, then errors, then score."""

    gravity: int
    errors: float
    shortfall: float


def rank(results: Iterable[Result]) -> Rank:
    """Return the rank of a version by its scored results.

    It consists of the worst decision, the sum of the errors' severities, and the mean distance of
    the scores from the best, as a share of their scales.
    """
    scored = [result for result in results if result.report.score is not None]
    severities = (span.severity for result in scored for span in result.report.spans)
    return Rank(
        max((_GRAVITY[result.report.decision] for result in scored), default=0),
        sum(_UNKNOWN if severity is None else severity for severity in severities),
        fmean(map(_shortfall, scored)) if scored else 1.0,
    )


def is_better(version: Version, best: Version) -> bool:
    """Return whether `version` is better than `best`; never if it lost a score or all its text."""
    if not version.text.strip() or version.unjudged or best.scored - version.scored:
        return False
    new, old = (
        rank(result for result in candidate.results if result.aspect.name in best.scored)
        for candidate in (version, best)
    )
    if new[:2] != old[:2]:
        return new < old
    return new.shortfall < old.shortfall - _NOISE


def _shortfall(result: Result) -> float:
    scale, score = result.aspect.scale, result.report.score
    assert score is not None
    return (scale.high - score) / (scale.high - scale.low)
