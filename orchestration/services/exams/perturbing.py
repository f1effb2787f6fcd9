"""Damaged texts from Python, whose gold error spans are the damage."""

from collections.abc import Sequence
from pathlib import Path

from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.services import perturb as service
from spanjury.orchestration.services.exam_texts import texts_of
from spanjury.orchestration.services.exams.terms import memory_of, model_of
from spanjury.orchestration.services.synchronous import synchronous
from spanjury.orchestration.wiring.config import ModelConfig


async def aperturb(
    data: object,
    *,
    recipe: str,
    writer: str | ModelConfig | None = None,
    columns: Sequence[str] = (),
    limit: int | None = None,
    seed: int = 1,
    memory: Path | str | None = None,
    limits: Limits = Limits(),
) -> service.PerturbedTexts:
    """Damage good texts by a recipe, and mark the damage as gold error spans.

    Parameters
    ----------
    data
        Good texts: a path, rows, segments or a data frame.
    recipe
        Its name, as ``dhp/summarization``, or a TOML file.
    writer
        A model that writes the damage that it can be asked for; without one, rules do it all.
    columns, limit
        As in `read_segments`, and the number of rows that are taken.
    memory, limits
        A file that keeps replies, and when the model is asked no more.

    Raises
    ------
    ConfigError
        If a name is unknown, or nothing in the recipe is for a model.
    DataError
        If the texts cannot be read.
    EvaluationError
        If a rule fails, or the model cannot be asked or answers nothing.
    """
    job = service.PerturbJob(
        data=texts_of(data, columns=columns, limit=limit),
        recipe=recipe,
        columns=tuple(columns),
        seed=seed,
        limit=limit,
        model=model_of(writer),
        memory=memory_of(memory),
        limits=limits,
    )
    return await service.perturbed(job)


perturb = synchronous(aperturb, name="perturb", doc=f"{aperturb.__doc__}")
