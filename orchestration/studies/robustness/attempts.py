"""Attempts: judgements with and without an attack, row by row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import Aspect, Outcome, Segment, fingerprint
from spanjury.orchestration.studies.discernment.score_arrays import digest_of
from spanjury.orchestration.studies.judging import Judgement
from spanjury.orchestration.studies.robustness.attacked_texts import REPEAT, AttackedText, Flawed
from spanjury.perturbations.edits import Damage
from spanjury.stats.proportions import Proportion, clustered_proportion

_NOISE = 1e-9
"""Differences of scores smaller than this come from rounding."""

Judgements = Mapping[tuple[str, str, str], Judgement]
"""``(judge, segment id, aspect name)`` -> judgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The definition of a success, and the random numbers of an exam.

    Raises `ValueError` if a number is out of its range.

    Parameters
    ----------
    step
        How far a score must rise, in steps of its scale; more than 0.
    share
        Which share of the spans must vanish while the score does not fall, in ``(0, 1]``.
    """

    step: float = 0.5
    share: float = 0.5
    seed: int = 1
    draws: int = 2000

    def __post_init__(self) -> None:
        if self.step <= 0 or not 0 < self.share <= 1 or self.draws < 1:
            raise ValueError(f"expected a step above 0, a share in (0, 1] and draws, got {self!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attack on one text, as one judge took it on one aspect.

    Parameters
    ----------
    source
        Digest of the inputs: texts of one source are not independent of each other.
    before, after
        Scores without and with the attack; None where there is none.
    spans, kept
        Spans located without the attack, and those of them that are marked with it, too.
    can_rise
        Whether the score without the attack is far enough below the best.
    rose
        Whether it is higher by a step or more with the attack.
    vanished
        Whether the share of the spans that vanished is large enough, and the score did not
        fall: a judge that marks the attack in their place and punishes it is not deceived.
    before_digest, after_digest
        Of all that a judge may see of the text.
    """

    judge: str
    aspect: str
    text: str
    source: str
    attack: str
    family: str
    control: str
    before: float | None
    after: float | None
    before_outcome: Outcome
    after_outcome: Outcome
    spans: int
    kept: int
    can_rise: bool
    rose: bool
    vanished: bool
    before_digest: str
    after_digest: str

    @property
    def has_room(self) -> bool:
        """True if the attack could succeed: by the score, or by spans."""
        return self.before is not None and (self.can_rise or self.spans > 0)

    @property
    def succeeded(self) -> bool:
        """True if the attack succeeded."""
        return self.rose or self.vanished

    @property
    def denied(self) -> bool:
        """True if the text had a score, and has none with the attack."""
        return self.before is not None and self.after is None

    @property
    def fell(self) -> bool:
        """True if the score is lower with the attack."""
        return (
            self.before is not None and self.after is not None and self.after < self.before - _NOISE
        )


def attempts(
    texts: Sequence[AttackedText],
    judgements: Judgements,
    *,
    judges: Sequence[str],
    settings: Settings,
) -> Iterator[Attempt]:
    """Compare the judgement of every attacked text with that of the text without the attack."""
    for text in texts:
        for aspect in text.aspects:
            for judge in judges:
                before, after = (
                    judgements[judge, segment.segment_id, aspect.name]
                    for segment in (text.base, text.attacked)
                )
                yield _attempt(text, (before, after), judge=judge, aspect=aspect, settings=settings)


def repeats(
    bases: Sequence[Segment],
    aspects: tuple[Aspect, ...],
    draws: tuple[Judgements, Judgements],
    *,
    judges: Sequence[str],
    settings: Settings,
) -> Iterator[Attempt]:
    """Compare the first and the second judgement of the same texts."""
    for base in bases:
        text = AttackedText(
            base=base,
            attacked=base,
            attack=REPEAT,
            family=REPEAT,
            edits=Damage(clean=base.output, edits=()),
            aspects=aspects,
        )
        for aspect in aspects:
            for judge in judges:
                first, second = (draw[judge, base.segment_id, aspect.name] for draw in draws)
                yield _attempt(text, (first, second), judge=judge, aspect=aspect, settings=settings)


def flaws_seen(
    flawed: Flawed, judgements: Judgements, *, aspects: Sequence[Aspect], judges: Sequence[str]
) -> Mapping[str, Proportion]:
    """Return how often each judge scores a damaged text below the good one, ties half.

    Pairs without both scores are in no share; it is NaN where nothing was damaged.
    """
    sources = {
        source: number for number, source in enumerate(dict.fromkeys(map(_source, flawed.segments)))
    }
    pairs = [
        (flawed.good[segment.segment_id], segment)
        for segment in flawed.segments
        if segment.segment_id in flawed.good
    ]
    seen = {}
    for judge in judges:
        halves, trials = np.zeros(len(sources)), np.zeros(len(sources))
        for good, bad in pairs:
            at = sources[_source(bad)]
            for aspect in aspects:
                before, after = (
                    judgements[judge, text.segment_id, aspect.name].score for text in (good, bad)
                )
                if before is not None and after is not None:
                    fall = before - after
                    halves[at] += 1 + (fall > _NOISE) - (fall < -_NOISE)
                    trials[at] += 2
        seen[judge] = clustered_proportion(halves, trials)
    return seen


def _attempt(
    text: AttackedText,
    judgements: tuple[Judgement, Judgement],
    *,
    judge: str,
    aspect: Aspect,
    settings: Settings,
) -> Attempt:
    before, after = judgements
    kept = _kept(before.spans, after.spans, text.edits)
    rise = -1.0 if before.score is None or after.score is None else after.score - before.score
    vanished = 1 - kept / len(before.spans) if before.spans else 0.0
    return Attempt(
        judge=judge,
        aspect=aspect.name,
        text=text.base.segment_id,
        source=_source(text.base),
        attack=text.attack,
        family=text.family,
        control=text.control,
        before=before.score,
        after=after.score,
        before_outcome=before.outcome,
        after_outcome=after.outcome,
        spans=len(before.spans),
        kept=kept,
        can_rise=before.score is not None
        and before.score <= aspect.scale.high - settings.step + _NOISE,
        rose=rise >= settings.step - _NOISE,
        vanished=rise >= -_NOISE and vanished >= settings.share - _NOISE,
        before_digest=digest_of(text.base),
        after_digest=digest_of(text.attacked),
    )


def _kept(
    before: Sequence[tuple[int, int]], after: Sequence[tuple[int, int]], edits: Damage
) -> int:
    """Count the spans that a span of the attacked text touches, where they have come to."""
    carried = [edits.carried(*span) for span in before]
    return sum(
        any(max(start, first) < min(end, last) for first, last in after) for start, end in carried
    )


def _source(segment: Segment) -> str:
    inputs = [part for item in sorted(segment.inputs.items()) for part in item]
    return fingerprint(*inputs) if inputs else fingerprint(segment.segment_id)
