"""Exhibits: clean texts, damaged each in every way that an exam asks for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from spanjury.judges.core import ErrorSpan, Located, PerturbationError, Segment
from spanjury.perturbations.edits import Damage
from spanjury.perturbations.perturbation import (
    Case,
    Level,
    NothingToDamageError,
    Perturbation,
    generator_for,
)
from spanjury.perturbations.written import WrittenPerturbation

__all__ = ["Exhibit", "LeftOut", "Treatment", "exhibit_of", "exhibits"]

_WRONG = "wrong"
"""Key of a segment's meta that holds a text which is known to be wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """One way in which every text is damaged.

    Parameters
    ----------
    name
        What it is called in the report, unique in an exam.
    perturbation, options
        The rule that damages, and how much.
    written
        What a model may be asked for in the rule's place, as many times as the option `k`
        says; None where there is the rule only.
    level
        Under which level it counts.
    severity
        1 to 5: how grave the errors are that it makes.
    weights
        Aspect -> how much experts think it is harmed, summing to 1; empty where nobody
        was asked.
    """

    name: str
    perturbation: Perturbation
    level: Level
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    written: WrittenPerturbation | None = None
    severity: int = 3
    weights: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhibit:
    """A damaged text beside the clean one.

    Parameters
    ----------
    clean, damaged
        The same segment, but for its output; the damaged one has an id of its own, and the
        damage as its gold error spans.
    treatment
        Name of what was done.
    damage
        What was done, edit by edit.
    written_by
        Name of the model that did it; empty for a rule.
    """

    clean: Segment
    damaged: Segment
    treatment: str
    damage: Damage
    written_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A text that a treatment could not damage, and why; `written_by` as in `Exhibit`."""

    segment_id: str
    treatment: str
    reason: str
    written_by: str = ""


def exhibits(
    segments: Sequence[Segment], treatments: Sequence[Treatment], *, seed: int
) -> Iterator[Exhibit | LeftOut]:
    """Damage every segment in every way by rules; what is done to one depends on no other's turn.

    Parameters
    ----------
    segments
        Clean texts under distinct ids.
    treatments
        Under distinct names.
    seed
        Of all random numbers.

    Yields
    ------
    Exhibit or LeftOut
        Treatment by treatment, in the order of the segments.

    Raises
    ------
    PerturbationError
        If a rule fails, naming the treatment and the segment.
    """
    for treatment in treatments:
        for number, segment in enumerate(segments):
            others = tuple(
                other.output
                for other in (*segments[number + 1 :], *segments[:number])
                if other.task == segment.task and other.inputs != segment.inputs
            )
            yield _exhibit(segment, treatment, others=others, seed=seed)


def exhibit_of(
    segment: Segment, treatment: Treatment, *, damage: Damage, written_by: str = ""
) -> Exhibit:
    """Put the damaged text beside `segment`, under an id of its own, its damage as gold spans."""
    damaged = replace(
        segment,
        segment_id=f"{segment.segment_id}#{treatment.name}",
        output=damage.text,
        gold=_gold(damage, treatment),
    )
    return Exhibit(
        clean=segment,
        damaged=damaged,
        treatment=treatment.name,
        damage=damage,
        written_by=written_by,
    )


def _exhibit(
    segment: Segment, treatment: Treatment, *, others: tuple[str, ...], seed: int
) -> Exhibit | LeftOut:
    wrong = segment.meta.get(_WRONG)
    case = Case(
        text=segment.output,
        inputs=segment.inputs,
        others=others,
        wrong=wrong if isinstance(wrong, str) else "",
    )
    rng = generator_for(seed, treatment.name, segment.segment_id)
    try:
        damage = treatment.perturbation.damage(case, rng, **treatment.options)
    except NothingToDamageError as error:
        return LeftOut(segment_id=segment.segment_id, treatment=treatment.name, reason=str(error))
    except PerturbationError as error:
        raise PerturbationError(
            f"{treatment.name} cannot damage {segment.segment_id!r}: {error}"
        ) from error
    return exhibit_of(segment, treatment, damage=damage)


def _gold(damage: Damage, treatment: Treatment) -> tuple[ErrorSpan, ...]:
    """Mark the damage as a judge should; of a deletion the characters beside it are marked."""
    text = damage.text
    spans = []
    for place, edit in zip(damage.places, damage.edits, strict=True):
        start, end = _visible(place, length=len(text))
        was = damage.clean[edit.start : edit.end]
        told = f"{treatment.name}: {was!r} was replaced by {edit.text!r}."
        offsets = {"start": start, "end": end, "located": Located.EXACT} if start < end else {}
        spans.append(
            ErrorSpan(
                text=text[start:end],
                explanation=told,
                severity=treatment.severity,
                category=treatment.perturbation.family,
                **offsets,  # type: ignore[arg-type]  # each of its own type
            )
        )
    return tuple(spans)


def _visible(place: tuple[int, int], *, length: int) -> tuple[int, int]:
    """Widen an empty place by the characters beside it."""
    start, end = place
    return place if start < end else (max(0, start - 1), min(length, end + 1))
