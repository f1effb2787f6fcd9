"""Scores of clean and of damaged texts: as rows of a file, and as arrays side by side."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, Outcome, Result, Segment, fingerprint
from spanjury.orchestration.studies.estimates import numbered
from spanjury.orchestration.studies.judging import Judgement, judgement_of
from spanjury.orchestration.studies.sources import source_of
from spanjury.perturbations.pairs import Condition, PerturbedPair
from spanjury.perturbations.perturbation import Effect, Perturbation

_DIGITS = 9
"""Decimals of a sum of scores: 4.1 + 4.3 is to tie with 4.2 + 4.2."""

BIAS = "bias"
"""Family of the perturbations that leave the substance alone and tempt the judge."""

Judgements = Mapping[tuple[str, str], Judgement]
"""``(segment id, aspect name)`` -> what the panel says."""


def judgements_of(results: Mapping[tuple[str, str], Result]) -> Judgements:
    """Return what the panel says in each result."""
    return {key: judgement_of(result.report) for key, result in results.items()}


def is_harmless(perturbation: Perturbation, *, aspects: Sequence[str]) -> bool:
    """Return whether a text is none the worse for it, so that a flag on it is a false alarm.

    One that harms an aspect which is not judged is not harmless. Nor is an attempt to sway the
    judge: that a text with such a sentence is flagged need not be wrong.
    """
    harms = any(effect != "unchanged" for effect in perturbation.effects.values())
    spared = all(perturbation.effect_on(aspect) == "unchanged" for aspect in aspects)
    return spared and not harms and perturbation.family != BIAS


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """Scores of one text, clean and damaged, on one aspect.

    `clean`, `damaged`: sums of `repeats` scores; None where one of them is missing.
    `clean_outcome`, `damaged_outcome`: how the assessments ended: `scored`, or how the first one
    without a score did.
    `clean_digest`, `damaged_digest`: digest of all that a judge may see of the text: two exams with
    the same digests have shown the same.
    """

    text: str
    condition: str | None
    """Name of the damage; None for the control, where the clean text is judged once more."""
    aspect: str
    expected: Effect | None
    """The expected movement of the score; None where anything may happen."""
    clean: float | None
    damaged: float | None
    repeats: int
    clean_outcome: Outcome
    damaged_outcome: Outcome
    clean_digest: str
    damaged_digest: str
    harmless: bool | None = None
    """True if the text is none the worse: a flag on it is a false alarm. None in files of releases
    until 0.2, which do not say."""
    source: str | None = None
    """Digest of the text's inputs, the same for all texts about one source. None in files of
    releases until 0.2: the text then counts as its own source."""


def score_rows(
    segments: Sequence[Segment],
    aspects: Sequence[Aspect],
    pairs: Sequence[PerturbedPair],
    *,
    draws: Sequence[Judgements],
    control: Sequence[Judgements],
    conditions: Sequence[Condition],
) -> Iterator[ScoreRow]:
    """Yield the scores of an exam text by text: the control, then condition by condition."""
    by_name = {condition.name: condition.perturbation for condition in conditions}
    names = [aspect.name for aspect in aspects]
    harmless = {name for name, rule in by_name.items() if is_harmless(rule, aspects=names)}
    texts: list[tuple[Segment, Segment, str | None]] = [
        *((segment, segment, None) for segment in segments),
        *((pair.clean, pair.damaged, pair.condition) for pair in pairs),
    ]
    for (clean, damaged, condition), aspect in product(texts, names):
        first, second = (clean.segment_id, aspect), (damaged.segment_id, aspect)
        later = control if condition is None else draws
        yield ScoreRow(
            text=clean.segment_id,
            condition=condition,
            aspect=aspect,
            expected="unchanged" if condition is None else by_name[condition].effect_on(aspect),
            clean=score_sum(first, draws),
            damaged=score_sum(second, later),
            repeats=len(draws),
            clean_outcome=_outcome(first, draws),
            damaged_outcome=_outcome(second, later),
            clean_digest=digest_of(clean),
            damaged_digest=digest_of(damaged),
            harmless=condition is None or condition in harmless,
            source=source_of(clean),
        )


def score_sum(key: tuple[str, str], draws: Sequence[Judgements]) -> float | None:
    """Sum the scores under ``(segment id, aspect name)``; None if one of them is missing."""
    scores = [judgements[key].score for judgements in draws]
    given = [score for score in scores if score is not None]
    return round(math.fsum(given), _DIGITS) if len(given) == len(scores) else None


def _outcome(key: tuple[str, str], draws: Sequence[Judgements]) -> Outcome:
    outcomes = (judgements[key].outcome for judgements in draws if judgements[key].score is None)
    return next(outcomes, Outcome.SCORED)


def digest_of(segment: Segment) -> str:
    """Return a digest of all that a judge may see of `segment`."""
    inputs = [*chain(*sorted(segment.inputs.items()))]
    return fingerprint(segment.output, str(len(inputs)), *inputs, *segment.references)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreArrays:
    """Scores, NaN if missing.

    `clean`, `control`: shape ``(aspects, segments)``: of the clean texts, and of the same a second
    time.
    """

    segments: tuple[str, ...]
    sources: tuple[str, ...]
    aspects: tuple[str, ...]
    conditions: tuple[str, ...]
    clean: NDArray[np.float64]
    control: NDArray[np.float64]
    damaged: NDArray[np.float64]
    """Shape ``(conditions, aspects, segments)``; NaN also where nothing could be damaged."""
    applied: NDArray[np.bool_]
    """Shape ``(conditions, segments)``: whether there is a damaged text."""
    repeats: int
    """Number of scores that each number is the sum of: sums have ties where means would have
    differences in their last digit."""

    @property
    def owner(self) -> NDArray[np.intp]:
        """Number of each segment's source: segments of one source are drawn together."""
        return numbered(self.sources)[0]

    def single(self) -> "ScoreArrays":
        """Return the means of the repeats in place of their sums; what ties here tied there."""
        clean, control, damaged = (
            scores / self.repeats for scores in (self.clean, self.control, self.damaged)
        )
        return replace(self, clean=clean, control=control, damaged=damaged, repeats=1)


def collect_scores(rows: Sequence[ScoreRow], *, conditions: Sequence[str]) -> ScoreArrays:
    """Put the scores of an exam into arrays: texts and aspects in the order of the control."""
    control = [row for row in rows if row.condition is None]
    texts, aspects, columns = (
        {name: number for number, name in enumerate(dict.fromkeys(names))}
        for names in ((row.text for row in control), (row.aspect for row in control), conditions)
    )
    clean = np.full((2, len(aspects), len(texts)), np.nan)
    damaged = np.full((len(columns), len(aspects), len(texts)), np.nan)
    applied = np.zeros((len(columns), len(texts)), dtype=bool)
    for row in rows:
        aspect, text = aspects[row.aspect], texts[row.text]
        before, after = (math.nan if score is None else score for score in (row.clean, row.damaged))
        if row.condition is None:
            clean[:, aspect, text] = before, after
        else:
            damaged[columns[row.condition], aspect, text] = after
            applied[columns[row.condition], text] = True
    sources = {row.text: row.source or row.text for row in control}
    return ScoreArrays(
        segments=tuple(texts),
        sources=tuple(sources[text] for text in texts),
        aspects=tuple(aspects),
        conditions=tuple(columns),
        clean=clean[0],
        control=clean[1],
        damaged=damaged,
        applied=applied,
        repeats=rows[0].repeats,
    )
