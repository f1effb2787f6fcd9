"""Damaging a file of texts by a recipe, for whoever wants the damaged texts themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Segment, stamped
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.discernment import conditions_of
from spanjury.orchestration.services.python import read_segments
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.discernment.perturbed_pairs import (
    Condition,
    Exhibit,
    LeftOut,
    exhibits,
    written_exhibits,
)
from spanjury.orchestration.wiring import write_segments
from spanjury.orchestration.wiring.config import ModelConfig
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
    columns
        As in `python.read_segments`.
    output
        A file for rows: each damaged text with the damage as its gold error spans.
    seed
        Of all random numbers.
    limit
        How many texts are damaged; None for all.
    model
        Writes the damage that a model can be asked for; None to have all done by rules.
    memory
        Keeps what the model replies, so that it is not asked twice; or None.
    """

    data: Path
    recipe: str
    output: Path
    columns: tuple[str, ...] = ()
    seed: int = 1
    limit: int | None = None
    model: ModelConfig | None = None
    memory: Path | None = None

    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy(preflight=False)


async def damage_file(job: DamageJob) -> tuple[int, Mapping[tuple[str, str], int]]:
    """Damage the texts of a file; return how many, and ``(condition, reason)`` -> left out.

    Raises
    ------
    EvaluationError
        If the data cannot be read, the recipe not found, a rule fails, the model cannot be
        asked or answers nothing, or rows cannot be written.
    """
    segments = tuple(islice(read_segments(job.data, columns=job.columns), job.limit))
    recipe = find_recipe(job.recipe)
    conditions = conditions_of(recipe, has_writer=job.model is not None)
    by_name = {one.name: one for one in conditions}
    left_out: Counter[tuple[str, str]] = Counter()
    shown = await _shown(job, segments, conditions)

    def damaged() -> Iterator[Segment]:
        for one in shown:
            if isinstance(one, LeftOut):
                left_out[one.condition, one.reason] += 1
            else:
                yield _told(one, by_name[one.condition], seed=job.seed)

    return write_segments(job.output, damaged()), left_out


async def _shown(
    job: DamageJob, segments: Sequence[Segment], conditions: Sequence[Condition]
) -> Iterable[Exhibit | LeftOut]:
    """Damage one by one as they are written to the file; by a model, all before that."""
    if job.model is None:
        return exhibits(segments, conditions, seed=job.seed)
    with open_session(job) as session:
        return await written_exhibits(
            segments,
            conditions,
            seed=job.seed,
            writer=session.generator(job.model),
            stop_token=session.stop_token,
        )


def _told(shown: Exhibit, condition: Condition, *, seed: int) -> Segment:
    """Return the damaged segment with all that it takes to do it again."""
    return replace(
        shown.damaged,
        meta={
            **shown.damaged.meta,
            "clean_id": shown.clean.segment_id,
            "treatment": condition.name,
            **_writing(shown, condition),
            "family": condition.perturbation.family,
            "level": condition.level,
            "options": dict(condition.options),
            "seed": seed,
            "edits": [edit._asdict() for edit in shown.damage.edits],
        },
    )


def _writing(shown: Exhibit, condition: Condition) -> dict[str, object]:
    """Return who wrote the damage, and what was asked for; nothing of a rule's."""
    if not shown.written_by or condition.written is None:
        return {}
    return {"written_by": shown.written_by, "written": stamped(condition.written.signature)}
