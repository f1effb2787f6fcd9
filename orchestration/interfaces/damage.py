"""Damaging a file of texts by a recipe, for whoever wants the damaged texts themselves."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Segment
from spanjury.orchestration.experiments.discernment.exhibits import (
    Exhibit,
    LeftOut,
    Treatment,
    exhibits,
)
from spanjury.orchestration.interfaces.exam import treatments_of
from spanjury.orchestration.interfaces.python import read_segments
from spanjury.orchestration.wiring import write_segments
from spanjury.perturbations.recipe_files import find_recipe

__all__ = ["DamageJob", "damage_file"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DamageJob:
    """What is damaged, how, and where it goes.

    Parameters
    ----------
    data
        A file of good texts.
    recipe
        Name of a recipe, or a file that holds one.
    output
        A file for rows: each damaged text with the damage as its gold error spans.
    seed
        Of all random numbers.
    limit
        How many texts are damaged; None for all.
    """

    data: Path
    recipe: str
    output: Path
    seed: int = 1
    limit: int | None = None


def damage_file(job: DamageJob) -> tuple[int, Mapping[tuple[str, str], int]]:
    """Damage the texts of a file; return how many, and ``(treatment, reason)`` -> left out.

    Raises
    ------
    EvaluationError
        If the data cannot be read, the recipe not found, a rule fails, or rows cannot be
        written.
    """
    segments = tuple(islice(read_segments(job.data), job.limit))
    treatments = {one.name: one for one in treatments_of(find_recipe(job.recipe))}
    left_out: Counter[tuple[str, str]] = Counter()

    def damaged() -> Iterator[Segment]:
        for shown in exhibits(segments, tuple(treatments.values()), seed=job.seed):
            if isinstance(shown, LeftOut):
                left_out[shown.treatment, shown.reason] += 1
            else:
                yield _told(shown, treatments[shown.treatment], seed=job.seed)

    return write_segments(job.output, damaged()), left_out


def _told(shown: Exhibit, treatment: Treatment, *, seed: int) -> Segment:
    """Return the damaged segment with all that it takes to do it again."""
    return replace(
        shown.damaged,
        meta={
            **shown.damaged.meta,
            "clean_id": shown.clean.segment_id,
            "treatment": treatment.name,
            "family": treatment.perturbation.family,
            "level": treatment.level,
            "options": dict(treatment.options),
            "seed": seed,
            "edits": [asdict(edit) for edit in shown.damage.edits],
        },
    )
