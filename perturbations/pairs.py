"""Perturbed pairs: clean texts, each with its perturbed version."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from spanjury.judges.core import ErrorSpan, Located, PerturbationError, Segment
from spanjury.judges.core.transcript import segment_of, transcript_of
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.generated import GeneratedPerturbation
from spanjury.perturbations.others import other_texts
from spanjury.perturbations.perturbation import (
    Case,
    Level,
    NothingToDamageError,
    Perturbation,
    generator_for,
)

_WRONG, _WRONG_KIND = "wrong", "wrong_kind"
"""Keys of a segment's meta: a text that is known to be wrong there, and the kind of its error."""
_OF_CLEAN = frozenset({"supported", "spans", "annotator", "annotators"})
"""Keys of a segment's meta that say which errors people marked. Like people's scores, they are
about the clean text and not about a damaged version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A perturbation with fixed options, which every text of an exam undergoes.

    If there is a model, it can do the `generated` damage instead of the rule, `k` times if the
    options have it. The level is that whose average includes the condition. The severity is that
    of the errors that it makes, 1 to 5. Weights map an aspect to its share of the harm; they sum to
    1, or there are none.
    """

    name: str
    perturbation: Perturbation
    level: Level
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    generated: GeneratedPerturbation | None = None
    severity: int = 3
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbedPair:
    """A clean text and its damaged version, which differ in their output or trajectory.

    The damaged one has its own id, the damage as its gold error spans, and no scores or marks of
    people. `written_by` is the name of the model that made the damage; empty for a rule.
    """

    clean: Segment
    damaged: Segment
    condition: str
    damage: Damage
    written_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A text that a condition could not damage, and the reason; otherwise as `PerturbedPair`."""

    segment_id: str
    condition: str
    reason: str
    written_by: str = ""


def perturbed_pairs(
    segments: Sequence[Segment], conditions: Iterable[Condition], *, seed: int
) -> Iterator[PerturbedPair | Skipped]:
    """Damage every segment by the rule of every condition.

    The damage of a segment depends neither on the order nor on the number of the conditions. Raises
    `PerturbationError` if a rule fails, naming the condition and the segment. Ids of segments and
    names of conditions are distinct. Results come condition by condition, in the order of segments.
    """
    cases = [
        case_of(segment, others=others)
        for segment, others in zip(segments, other_texts(segments), strict=True)
    ]
    for condition in conditions:
        for segment, case in zip(segments, cases, strict=True):
            yield _pair(segment, condition, case=case, seed=seed)


def case_of(segment: Segment, *, others: Sequence[str] = ()) -> Case:
    """Return the text of `segment` in the form that rules receive."""
    wrong, kind = (segment.meta.get(key) for key in (_WRONG, _WRONG_KIND))
    return Case(
        text=segment.output,
        inputs=segment.inputs,
        others=others,
        wrong=wrong if isinstance(wrong, str) else "",
        wrong_kind=kind if isinstance(kind, str) else "",
        trajectory=segment.trajectory if transcript_of(segment) else None,
    )


def pair_of(
    segment: Segment, condition: Condition, *, damage: Damage, written_by: str = ""
) -> PerturbedPair:
    """Pair `segment` with the damaged text, under its own id, with the damage as gold spans."""
    damaged = replace(
        damaged_segment(segment, damage),
        segment_id=f"{segment.segment_id}#{condition.name}",
        gold=_gold(damage, condition),
    )
    return PerturbedPair(
        clean=segment,
        damaged=damaged,
        condition=condition.name,
        damage=damage,
        written_by=written_by,
    )


def damaged_segment(segment: Segment, damage: Damage) -> Segment:
    """Return `segment` with the damaged text or trajectory, and no scores or marks of people."""
    if damage.trajectory is not None:
        damaged = segment_of(damage.trajectory, segment)
    else:
        damaged = replace(segment, output=damage.text)
    meta = {key: value for key, value in damaged.meta.items() if key not in _OF_CLEAN}
    return replace(damaged, human={}, meta=meta)


def _pair(
    segment: Segment, condition: Condition, *, case: Case, seed: int
) -> PerturbedPair | Skipped:
    rng = generator_for(seed, condition.name, segment.segment_id)
    try:
        damage = condition.perturbation.damage(case, rng, **condition.options)
    except NothingToDamageError as error:
        return Skipped(segment_id=segment.segment_id, condition=condition.name, reason=error.kind)
    except PerturbationError as error:
        raise PerturbationError(
            f"{condition.name} cannot damage {segment.segment_id!r}: {error}"
        ) from error
    return pair_of(segment, condition, damage=damage)


def _gold(damage: Damage, condition: Condition) -> tuple[ErrorSpan, ...]:
    """Return the damage as a judge should mark it; a deletion marks the adjacent characters."""
    text = damage.text
    spans = []
    reasons = [mark.explanation for mark in damage.marks] or [
        f"{_change(damage.clean[edit.start : edit.end], edit.text)}." for edit in damage.edits
    ]
    for interval, reason in zip(damage.places, reasons, strict=True):
        start, end = _visible(interval, length=len(text))
        explanation = f"{condition.name}: {reason}"
        offsets = {"start": start, "end": end, "located": Located.EXACT} if start < end else {}
        spans.append(
            ErrorSpan(
                text=text[start:end],
                explanation=explanation,
                severity=condition.severity,
                category=condition.perturbation.family,
                **offsets,  # type: ignore[arg-type]  # each of its own type
            )
        )
    return tuple(spans)


def _change(old: str, new: str) -> str:
    if not old:
        return f"{new!r} was inserted"
    return f"{old!r} was replaced by {new!r}" if new else f"{old!r} was deleted"


def _visible(interval: tuple[int, int], *, length: int) -> tuple[int, int]:
    """Widen an empty interval by the adjacent characters."""
    start, end = interval
    return interval if start < end else (max(0, start - 1), min(length, end + 1))
