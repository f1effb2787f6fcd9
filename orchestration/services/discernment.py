"""An exam of discernment, from files and names to its result."""

import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from itertools import islice
from math import isclose
from pathlib import Path
from types import MappingProxyType

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import ConfigError, Memory, Result, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import (
    FailurePolicy,
    StopToken,
    run_watched,
    stop_in_time,
)
from spanjury.orchestration.services.python import read_segments
from spanjury.orchestration.studies.discernment.exam import Exam, ExamResult, examine
from spanjury.orchestration.studies.discernment.findings import Settings
from spanjury.orchestration.studies.discernment.perturbed_pairs import Condition
from spanjury.orchestration.studies.generation import Writer
from spanjury.orchestration.wiring import Guard, guard_of, open_configured_panel, open_memory
from spanjury.orchestration.wiring.building import parameters
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.exam_plugins import find_perturbation, find_statistic
from spanjury.orchestration.wiring.writers import open_writer
from spanjury.perturbations.recipe import Recipe, RecipeItem
from spanjury.perturbations.recipe_files import find_recipe
from spanjury.perturbations.written import written_perturbation

__all__ = [
    "DEMO",
    "ExamJob",
    "conditions_of",
    "exam_of",
    "read_weights",
    "run_exam",
    "task_of",
    "writer_of",
]

DEMO = Path(str(files("spanjury.perturbations").joinpath("demo", "summarization.jsonl")))
"""Texts that come with the package."""

_WEIGHTS: TypeAdapter[dict[str, dict[str, float]]] = TypeAdapter(dict[str, dict[str, float]])


_SEVERITIES = MappingProxyType({"minor": 2, "major": 4})
_SEVERITY = 3
"""Of damage that comes in one degree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamJob:
    """An exam: the panel, the texts, and how they are damaged.

    Parameters
    ----------
    data
        A file of good texts.
    panel
        The judges.
    recipe
        Name of a recipe, or a file that holds one.
    memory
        Keeps what judges and models say, so that an exam that broke off goes on; or None.
    task, aspects, aspects_files, columns, limit
        As in `job.Job`; without aspects those of the recipe.
    weights
        Condition -> aspect -> what experts think it harms, in place of the recipe's.
    damage_model
        Writes the damage that a model can be asked for; None to have all done by rules.
    repeats, settings
        As in `Exam`.
    limits
        Of its cost.
    failures
        The care that is taken of models that fail.
    """

    data: Path
    panel: PanelConfig
    recipe: str
    memory: Path | None = None
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    limit: int | None = None
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: MappingProxyType({}))
    damage_model: ModelConfig | None = None
    repeats: int = 1
    settings: Settings = Settings()
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


def exam_of(job: ExamJob) -> Exam:
    """Read the texts and build the exam.

    Raises
    ------
    DataError
        If the data cannot be read.
    ConfigError
        If a name is unknown, or the texts are not of one task.
    """
    recipe = find_recipe(job.recipe)
    segments = tuple(islice(read_segments(job.data, columns=job.columns), job.limit))
    task = task_of(segments, job.task or "", default=recipe.task)
    catalogue = Catalogue.load(*job.aspects_files)
    names = job.aspects or recipe.aspects or catalogue.task(task).default_aspects
    for condition, weights in job.weights.items():
        if strange := weights.keys() - set(names):
            raise ConfigError(f"{condition!r} weighs {', '.join(strange)}, not {', '.join(names)}")
    return Exam(
        segments=segments,
        aspects=tuple(catalogue.aspect(task, name) for name in names),
        conditions=conditions_of(
            recipe, weights=job.weights, has_writer=job.damage_model is not None
        ),
        repeats=job.repeats,
        settings=job.settings,
        test=find_statistic(name) if (name := job.settings.test) else None,
    )


def task_of(segments: Iterable[Segment], named: str, *, default: str = "") -> str:
    """Return the task of an exam: the one that is `named`, or that of its texts.

    Parameters
    ----------
    segments
        The texts.
    named
        The task that the user asks for; empty to take that of the texts.
    default
        The task of texts without one.

    Raises
    ------
    ConfigError
        If the texts are not of one task.
    """
    tasks = {named or segment.task or default for segment in segments}
    if len(tasks) != 1 or "" in tasks:
        names = ", ".join(sorted(tasks - {""})) or "none"
        raise ConfigError(f"an exam is of one task, and the data has {names}: name it with --task")
    return tasks.pop()


def conditions_of(
    recipe: Recipe,
    *,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    has_writer: bool = False,
) -> tuple[Condition, ...]:
    """Return what a recipe does to each text.

    Raises
    ------
    ConfigError
        If a perturbation is unknown or has no such option, weights are for nothing, or
        there is nothing to write for a model that is to write.
    """
    given = weights or {}
    if strange := given.keys() - {item.name for item in recipe.items}:
        raise ConfigError(f"weights for {', '.join(sorted(strange))}, which {recipe.name} has not")
    if has_writer and not any(item.written for item in recipe.items):
        raise ConfigError(f"{recipe.name} has no damage that a model is asked for")
    return tuple(_condition(item, given.get(item.name, item.weights)) for item in recipe.items)


def writer_of(model: ModelConfig, *, memory: Memory | None, meter: Meter, guard: Guard) -> Writer:
    """Return `model` as a writer, who is asked as a judge's model is."""
    return Writer(
        name=model.name,
        open=partial(open_writer, model, memory=memory, meter=meter, guard=guard),
        workers=PanelConfig(models=(model,)).workers,
    )


def read_weights(path: Path) -> Mapping[str, Mapping[str, float]]:
    """Read experts' weights from TOML: a table for each condition, aspect by aspect.

    Raises
    ------
    ConfigError
        If the file cannot be read, or the weights of a condition do not sum to 1.
    """
    try:
        read = _WEIGHTS.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigError(f"the weights {path} cannot be read: {error}") from error
    for condition, weights in read.items():
        if min(weights.values(), default=0.0) < 0 or not isclose(sum(weights.values()), 1.0):
            raise ConfigError(f"{path}: the weights of {condition!r} must sum to 1, got {weights}")
    return read


async def run_exam(
    job: ExamJob,
    exam: Exam,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
) -> ExamResult:
    """Run the exam of a job.

    Raises
    ------
    EvaluationError
        As `examine` does, and if the panel, a model or the memory cannot be opened.
    """
    guard = guard_of(job.failures, memory=job.memory)
    with open_memory(job.memory) if job.memory else nullcontext() as memory:
        opened = partial(open_configured_panel, job.panel, memory=memory, meter=meter, guard=guard)

        def open_panel(draw: str) -> AbstractAsyncContextManager[Panel]:
            return opened(draw=draw)

        model = job.damage_model
        writer = writer_of(model, memory=memory, meter=meter, guard=guard) if model else None
        results: list[ExamResult] = []

        async def run() -> None:
            results.append(
                await examine(
                    exam,
                    open_panel,
                    writer=writer,
                    workers=job.panel.workers,
                    stop_token=stop_token,
                    show=show,
                )
            )

        async def watch_the_clock() -> None:
            await stop_in_time(stop_token, job.limits.max_seconds)

        await run_watched(run, watch_the_clock)
        guard.require_success()
        return results[0]


def _condition(item: RecipeItem, weights: Mapping[str, float]) -> Condition:
    perturbation = find_perturbation(item.perturbation)
    known = parameters(perturbation.rule)
    if strange := item.options.keys() - known:
        raise ConfigError(f"{item.perturbation!r} has no option {', '.join(sorted(strange))}")
    return Condition(
        name=item.name,
        perturbation=perturbation,
        level=item.level,
        options=item.options,
        written=written_perturbation(item.written) if item.written else None,
        severity=_SEVERITIES.get(item.degree or "", _SEVERITY),
        weights=weights,
    )
