"""Flawed texts: good texts with known errors, so that a score has room to rise."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from spanjury.judges.core import PerturbationError, Segment
from spanjury.orchestration.experiments.discernment.exhibits import Treatment
from spanjury.perturbations.perturbation import Case, NothingToDamageError, generator_for

__all__ = ["Flawed", "flawed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flawed:
    """The texts that are attacked.

    Parameters
    ----------
    segments
        Under the ids that they had; without gold spans, which were those of the good text.
    damaged
        Treatment -> how many texts it damaged.
    """

    segments: tuple[Segment, ...]
    damaged: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))


def flawed(segments: Sequence[Segment], treatments: Sequence[Treatment], *, seed: int) -> Flawed:
    """Damage every text in all ways that it can be damaged in, one after the other.

    A text that cannot be damaged at all is attacked as it is.

    Raises
    ------
    PerturbationError
        If a rule fails, naming the treatment and the segment.
    """
    damaged: Counter[str] = Counter()
    flaws = tuple(_flawed(segment, treatments, seed=seed, damaged=damaged) for segment in segments)
    return Flawed(segments=flaws, damaged=dict(damaged))


def _flawed(
    segment: Segment, treatments: Sequence[Treatment], *, seed: int, damaged: Counter[str]
) -> Segment:
    text = segment.output
    for treatment in treatments:
        case = Case(text=text, inputs=segment.inputs)
        rng = generator_for(seed, treatment.name, segment.segment_id)
        try:
            text = treatment.perturbation.damage(case, rng, **treatment.options).text
        except NothingToDamageError:
            continue
        except PerturbationError as error:
            raise PerturbationError(
                f"{treatment.name} cannot damage {segment.segment_id!r}: {error}"
            ) from error
        damaged[treatment.name] += 1
    return segment if text == segment.output else replace(segment, output=text, gold=())
