"""Score rows: the raw scores of an exam, from which judges can be compared later."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Aspect, Outcome, Segment, fingerprint
from spanjury.orchestration.experiments.discernment.evidence import Heard, score_sum
from spanjury.orchestration.experiments.discernment.exhibits import Exhibit, Treatment
from spanjury.perturbations.perturbation import Effect

__all__ = ["ScoreRow", "digest_of", "score_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """Scores of one text, clean and damaged, on one aspect.

    Parameters
    ----------
    text
        Its segment id.
    treatment
        What was done to it; None for the control, where the clean text is judged once more.
    aspect
        On which it was judged.
    expected
        What the score should do; None where anything may happen.
    clean, damaged
        Sums of `repeats` scores; None where one of them is missing.
    repeats
        How often each was judged.
    clean_outcome, damaged_outcome
        How the assessments ended: `scored`, or how the first one without a score did.
    clean_digest, damaged_digest
        Of all that a judge may see of the text: two exams with the same digests have shown
        the same.
    """

    text: str
    treatment: str | None
    aspect: str
    expected: Effect | None
    clean: float | None
    damaged: float | None
    repeats: int
    clean_outcome: Outcome
    damaged_outcome: Outcome
    clean_digest: str
    damaged_digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What came of one text on one aspect, over all draws."""

    total: float | None
    outcome: Outcome


def score_rows(
    segments: Sequence[Segment],
    aspects: Sequence[Aspect],
    shown: Sequence[Exhibit],
    *,
    draws: Sequence[Heard],
    control: Sequence[Heard],
    treatments: Sequence[Treatment],
) -> Iterator[ScoreRow]:
    """Tell the scores of an exam text by text; parameters as in `evidence.gathered`.

    Yields
    ------
    ScoreRow
        The control first, then treatment by treatment.
    """
    by_name = {treatment.name: treatment.perturbation for treatment in treatments}
    for segment in segments:
        for aspect in aspects:
            yield _row(
                (segment, segment), aspect.name, (draws, control), treatment=None, to="unchanged"
            )
    for exhibit in shown:
        for aspect in aspects:
            yield _row(
                (exhibit.clean, exhibit.damaged),
                aspect.name,
                (draws, draws),
                treatment=exhibit.treatment,
                to=by_name[exhibit.treatment].effect_on(aspect.name),
            )


def _row(
    texts: tuple[Segment, Segment],
    aspect: str,
    heard: tuple[Sequence[Heard], Sequence[Heard]],
    *,
    treatment: str | None,
    to: Effect | None,
) -> ScoreRow:
    clean, damaged = (
        _said((text.segment_id, aspect), draws) for text, draws in zip(texts, heard, strict=True)
    )
    return ScoreRow(
        text=texts[0].segment_id,
        treatment=treatment,
        aspect=aspect,
        expected=to,
        clean=clean.total,
        damaged=damaged.total,
        repeats=len(heard[0]),
        clean_outcome=clean.outcome,
        damaged_outcome=damaged.outcome,
        clean_digest=digest_of(texts[0]),
        damaged_digest=digest_of(texts[1]),
    )


def _said(key: tuple[str, str], draws: Sequence[Heard]) -> _Said:
    total = score_sum(key, draws)
    outcomes = (heard[key].outcome for heard in draws if heard[key].score is None)
    return _Said(total=None if np.isnan(total) else total, outcome=next(outcomes, Outcome.SCORED))


def digest_of(segment: Segment) -> str:
    """Return a digest of all that a judge may see of `segment`."""
    inputs = [part for item in sorted(segment.inputs.items()) for part in item]
    return fingerprint(segment.output, str(len(inputs)), *inputs, *segment.references)
