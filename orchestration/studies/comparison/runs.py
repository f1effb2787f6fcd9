"""Two runs on the same texts: by how much scores differ, and whether by more than chance.

Texts about one source are correlated, so intervals and tests treat each source as one observation.
"""

import math
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import counted, unstamped
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Entry,
    Report,
    between,
    code,
    left,
    named,
    prose,
    right,
    table_of,
)
from spanjury.orchestration.studies.agreement.scorers import PANEL, Scorer
from spanjury.orchestration.studies.comparison.changes import (
    Change,
    changes_answer,
    changes_sections,
)
from spanjury.orchestration.studies.estimates import LEVEL, holm_adjusted, numbered, resampled
from spanjury.stats.arrays import FloatArray, cluster_sums, mean_of_defined
from spanjury.stats.resampling import estimates
from spanjury.stats.weighted import mean_drop

with lazily():
    from spanjury.stats.significance import sign_flip  # needs scipy, which `view` does without

_SPEC = ".3f"
Sources = Mapping[str, Hashable]
"""Text, or anything that was scored -> its source; one that is absent is its own source."""
EACH_ITS_OWN: Sources = MappingProxyType({})
_DIGEST = re.compile("[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDifference:
    """Difference between two means of scores on the same texts.

    `first`, `second`: mean scores; NaN without any text.
    `difference`, `low`, `high`: second minus first, with its 95 % interval over resampled sources.
    """

    texts: int
    """Texts with both scores; all figures are of these."""
    sources: int
    first: float
    second: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(MeanDifference):
    """Difference of one scorer's scores on one aspect between two runs.

    `p`, `adjusted`: two-sided, of the exact paired test of the sums by source; the same by Holm's
    method over all differences.
    """

    scorer: str
    aspect: str
    only_first: int
    only_second: int
    higher: int
    lower: int
    p: float
    adjusted: float
    same_signature: bool
    """True if the same judge was asked, so that the runs can differ by chance only."""
    changes: tuple[str, ...]
    """Parts in which the judge's two signatures differ, as ``rules``."""


def differences(
    first: Sequence[Scorer],
    second: Sequence[Scorer],
    *,
    sources: Sources = EACH_ITS_OWN,
    seed: int = 1,
    draws: int = 2000,
) -> tuple[Difference, ...]:
    """Compare scorers of one name and aspect in two runs, and the scores of the runs themselves.

    `first`, `second`: scores of the two runs; any other scorer that only one run has is skipped,
    and so is a judge that abstained from an aspect in both.
    The scores of two runs whose scorers differ in name are compared as those of the panel.
    """
    rows = [
        _difference(before, after, sources=sources, seed=seed, draws=draws)
        for before, after in _pairs(first, second)
        if before.scores or after.scores
    ]
    adjusted = holm_adjusted([row.p for row in rows])
    return tuple(replace(row, adjusted=float(p)) for row, p in zip(rows, adjusted, strict=True))


def _pairs(first: Sequence[Scorer], second: Sequence[Scorer]) -> Iterator[tuple[Scorer, Scorer]]:
    by_name = {(scorer.name, scorer.aspect): scorer for scorer in second}
    own = {scorer.aspect: scorer for scorer in second if scorer.is_own}
    for scorer in first:
        whole = own.get(scorer.aspect) if scorer.is_own else None
        if whole is not None and whole.name != scorer.name:
            yield replace(scorer, name=PANEL), whole
        if namesake := by_name.get((scorer.name, scorer.aspect)):
            yield scorer, namesake


def differences_report(
    rows: Sequence[Difference],
    *,
    first: str,
    second: str,
    changed: Sequence[Change] = (),
    notes: Sequence[str] = (),
) -> Report:
    """Return the report of a comparison of two runs by their names."""
    return Report(
        title="Comparison of two runs",
        answer=" ".join(filter(None, (_answer(rows), changes_answer(changed)))),
        facts=(prose("first: {}", code(first)), prose("second: {}", code(second))),
        sections=(
            table_of(
                map(_entries, rows),
                note="second minus first over the texts that both scored; interval and test treat"
                " each source as one observation; * p < 0.05 (Holm)",
            ),
            *changes_sections(changed),
            Bullets(notes, tone="caution"),
        ),
    )


def doubts(rows: Sequence[Difference], *, first: str, second: str, undecided: int) -> Iterator[str]:
    """Yield reasons to doubt a comparison: other judges, and results that it leaves out."""
    others = {
        row.scorer: f"{row.scorer} differs in {named(row.changes)}"
        for row in rows
        if not row.same_signature
    }
    if others:
        yield (
            f"{first} and {second} were not scored by the same judges: a difference may come from"
            " the judges instead of the texts"
        )
        yield from others.values()
    if undecided:
        yield (
            f"{counted(undecided, 'result')} of {first} {'has' if undecided == 1 else 'have'} a"
            f" decision there and none in {second}"
        )


def _answer(rows: Sequence[Difference]) -> str:
    """Say which scores are shown to differ, and which run has the higher ones."""
    texts = max((row.texts for row in rows), default=0)
    differing = [row for row in rows if row.adjusted < LEVEL]
    if not differing:
        return f"No score is shown to differ between the two runs ({texts} texts)."
    sides = {
        "second": [row for row in differing if row.difference > 0],
        "first": [row for row in differing if row.difference < 0],
    }
    parts = []
    for side, on_side in sides.items():
        scores = [f"{row.aspect} by {row.scorer} ({row.difference:+.2f})" for row in on_side]
        if scores:
            parts.append(f"the {side} run is higher on {named(scores, most=3)}")
    return f"{len(differing)} of {len(rows)} scores differ: {'; '.join(parts)}."


def _entries(row: Difference) -> Iterator[Entry]:
    alone, star = row.only_first + row.only_second, "*" if row.adjusted < LEVEL else ""
    yield left("scorer", row.scorer)
    yield left("aspect", row.aspect)
    for heading, cell in (
        ("first", Cell(row.first, _SPEC)),
        ("second", Cell(row.second, _SPEC)),
        ("difference", Cell(row.difference, f"+{_SPEC}", note=star)),
        ("95 %", Cell(between(row.low, row.high, f"+{_SPEC}"))),
    ):
        yield right(heading, cell, wrap=True)
    yield right("higher", row.higher, only="page")
    yield right("lower", row.lower, only="page")
    yield right(
        "texts", Cell(row.texts, note=f"({alone} more in one run only)" if alone else ""), wrap=True
    )
    yield right("sources", row.sources, only="page")


def mean_difference(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    sources: Sources = EACH_ITS_OWN,
    seed: int = 1,
    draws: int = 2000,
) -> MeanDifference:
    """Compare scores by the name of what was scored; names that only one side has are skipped."""
    before, after, owner = _paired(first, second, sources=sources)
    count, low, high = len(np.unique(owner)), math.nan, math.nan
    if count:
        drawn = resampled(mean_drop(after - before), owner, seed=seed, draws=draws)
        ((_, low, high),) = estimates(drawn)
    return MeanDifference(
        texts=before.size,
        sources=count,
        first=float(mean_of_defined(before)),
        second=float(mean_of_defined(after)),
        difference=float(mean_of_defined(after - before)),
        low=low,
        high=high,
    )


def _difference(
    first: Scorer, second: Scorer, *, sources: Sources, seed: int, draws: int
) -> Difference:
    means = mean_difference(first.scores, second.scores, sources=sources, seed=seed, draws=draws)
    before, after, owner = _paired(first.scores, second.scores, sources=sources)
    moved = after - before
    changes = tuple(_changes(first, second))
    sums = cluster_sums(moved, owner)
    p = min(sign_flip.paired_test(side).p for side in (sums, -sums)) if moved.size else math.nan
    return Difference(
        **{each.name: getattr(means, each.name) for each in fields(means)},
        scorer=first.name,
        aspect=first.aspect,
        only_first=len(first.scores) - means.texts,
        only_second=len(second.scores) - means.texts,
        higher=int(np.count_nonzero(moved > 0)),
        lower=int(np.count_nonzero(moved < 0)),
        p=float(np.minimum(2 * p, 1.0)),  # NaN stays NaN
        adjusted=math.nan,
        same_signature=not changes,
        changes=changes,
    )


def _changes(first: Scorer, second: Scorer) -> Iterator[str]:
    """Yield the name of each part in which two signatures differ, with values that people read."""
    before, after = _parts(first.signature), _parts(second.signature)
    if before["judge"] != after["judge"]:
        yield f"judge ({before['judge']} in the first, {after['judge']} in the second)"
        return
    for name in dict.fromkeys([*before, *after]):
        if first.is_own != second.is_own and not (name in before and name in after):
            continue  # a seat's signature lacks how a run decides
        values = [parts.get(name, "none") for parts in (before, after)]
        if values[0] != values[1]:
            is_digest = any(map(_DIGEST.fullmatch, values))
            yield (
                name
                if is_digest
                else f"{name} ({values[0]} in the first, {values[1]} in the second)"
            )


def _parts(signature: str) -> dict[str, str]:
    """Return the parts of a signature by name: the name of its judge, then its settings."""
    name, *parts = unstamped(signature).split("|")
    return {"judge": name, **{key: value for key, _, value in (x.partition(":") for x in parts)}}


def _paired(
    first: Mapping[str, float], second: Mapping[str, float], *, sources: Sources
) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
    names = [name for name in first if name in second]
    before, after = (np.array([scores[name] for name in names]) for scores in (first, second))
    owner, _ = numbered([sources.get(name, (name,)) for name in names])
    return before, after, owner
