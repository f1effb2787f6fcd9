"""Perturbing texts by a recipe, for users who want the damaged texts themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from spanjury.judges.core import Segment, stamped
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.conditions import conditions_of
from spanjury.orchestration.services.exam_texts import Texts, read_texts
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.discernment.generated_pairs import generated_pairs
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.results import write_segments
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.perturbations.recipe import find_recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbJob:
    """Texts to damage, and the damage.

    Parameters
    ----------
    recipe
        Name of a recipe, or a file that holds one.
    model
        Generates the damage that a model can be asked for; None to have all done by rules.
    limits, failures
        As in `evaluate.Job`; no small call is made before the first text.
    """

    data: Path | Texts
    recipe: str
    columns: tuple[str, ...] = ()
    seed: int = 1
    limit: int | None = None
    model: ModelConfig | None = None
    memory: Path | None = None
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy(preflight=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DamageJob(PerturbJob):
    """Texts to damage, the damage, and where it goes.

    Parameters
    ----------
    output
        A file for rows: each damaged text with the damage as its gold error spans.
    """

    output: Path


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PerturbedTexts:
    """Damaged texts, whose gold error spans are the damage.

    Parameters
    ----------
    skipped
        ``(condition, reason)`` -> the number of texts to which it was not done.
    """

    segments: tuple[Segment, ...]
    skipped: Mapping[tuple[str, str], int]

    def save(self, path: Path | str) -> int:
        """Write the texts as JSONL and return how many there are.

        Raise `StoreError` if the file cannot be written.
        """
        return write_segments(Path(path), self.segments)

    def __repr__(self) -> str:
        skipped = sum(self.skipped.values())
        return f"<PerturbedTexts: {len(self.segments)} texts, {skipped} skipped>"


async def perturbed(job: PerturbJob) -> PerturbedTexts:
    """Damage texts and return them; raise as `damage_file` does."""
    skipped: Counter[tuple[str, str]] = Counter()
    segments = tuple(await _damaged_texts(job, skipped))
    return PerturbedTexts(segments=segments, skipped=skipped)


async def damage_file(job: DamageJob) -> tuple[int, Mapping[tuple[str, str], int]]:
    """Damage the texts of a file; return how many, and ``(condition, reason)`` -> how many skipped.

    Raise `EvaluationError` if the data cannot be read, the recipe not found, a rule fails,
    the model cannot be asked or answers nothing, or rows cannot be written.
    """
    skipped: Counter[tuple[str, str]] = Counter()
    damaged = await _damaged_texts(job, skipped)
    return write_segments(job.output, damaged), skipped


async def _damaged_texts(job: PerturbJob, skipped: Counter[tuple[str, str]]) -> Iterator[Segment]:
    """Return what yields each damaged text and counts, as it does, those that are skipped."""
    segments = tuple(islice(read_texts(job.data, columns=job.columns), job.limit))
    recipe = find_recipe(job.recipe)
    conditions = conditions_of(recipe, has_generator=job.model is not None)
    by_name = {condition.name: condition for condition in conditions}
    pairs = await _pairs(job, segments, conditions)

    def damaged() -> Iterator[Segment]:
        for pair in pairs:
            if isinstance(pair, Skipped):
                skipped[pair.condition, pair.reason] += 1
            else:
                yield _damaged(pair, by_name[pair.condition], seed=job.seed)

    return damaged()


async def _pairs(
    job: PerturbJob, segments: Sequence[Segment], conditions: Sequence[Condition]
) -> Iterable[PerturbedPair | Skipped]:
    """Damage one by one as they are written to the file; by a model, all before that."""
    if job.model is None:
        return perturbed_pairs(segments, conditions, seed=job.seed)
    with open_session(job) as session:
        return await generated_pairs(
            segments,
            conditions,
            seed=job.seed,
            generator=session.generator(job.model),
            stop_token=session.stop_token,
        )


def _damaged(pair: PerturbedPair, condition: Condition, *, seed: int) -> Segment:
    """Return the damaged segment with all that it takes to do it again."""
    return replace(
        pair.damaged,
        meta={
            **pair.damaged.meta,
            "clean_id": pair.clean.segment_id,
            "treatment": condition.name,
            **_generation(pair, condition),
            "family": condition.perturbation.family,
            "level": condition.level,
            "options": dict(condition.options),
            "seed": seed,
            "edits": [edit._asdict() for edit in pair.damage.edits],
        },
    )


def _generation(pair: PerturbedPair, condition: Condition) -> dict[str, object]:
    """Return the model that generated the damage, and the request; nothing of a rule's."""
    if not pair.written_by or condition.generated is None:
        return {}
    return {"written_by": pair.written_by, "written": stamped(condition.generated.signature)}
