"""An exam of faithfulness, from files and names to a list of changes."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from spanjury.judges.core import ConfigError, Result
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import (
    FailurePolicy,
    StopToken,
    run_watched,
    stop_in_time,
)
from spanjury.orchestration.services.discernment import task_of, writer_of
from spanjury.orchestration.services.python import read_segments
from spanjury.orchestration.studies.faithfulness.changes import Change
from spanjury.orchestration.studies.faithfulness.exam import Exam, examine
from spanjury.orchestration.studies.faithfulness.trials import Condition
from spanjury.orchestration.wiring import guard_of, open_configured_panel, open_memory
from spanjury.orchestration.wiring.building import parameters
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, parse_options
from spanjury.orchestration.wiring.exam_plugins import find_explanation_perturbation
from spanjury.perturbations.explanation.paper import paper_perturbations
from spanjury.perturbations.explanation.written import written_twin

__all__ = ["FaithfulnessJob", "condition_of", "exam_of", "hold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessJob:
    """Who is examined on what.

    Parameters
    ----------
    data
        A file of texts.
    panel
        Who judges; each of its seats is examined.
    perturbations
        ``NAME`` or ``NAME:option=value,…``; none for those of the paper.
    writer
        Writes the explanations that a model can be asked for; None to have all of them
        worded by rules.
    memory
        Keeps what judges and models say, so that an exam that broke off goes on; or None.
    task, aspects, aspects_files, columns, limit
        As in `job.Job`; without aspects those of the task.
    seed
        Of the changes, and of the bootstrap.
    limits
        What it may cost.
    failures
        The care that is taken of models that fail.
    """

    data: Path
    panel: PanelConfig
    perturbations: tuple[str, ...] = ()
    writer: ModelConfig | None = None
    memory: Path | None = None
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 1
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


def exam_of(job: FaithfulnessJob) -> Exam:
    """Read and build what is asked.

    Raises
    ------
    DataError
        If the data cannot be read.
    ConfigError
        If a name is unknown, the texts are not of one task, or there is nothing to write for
        a model that is to write.
    """
    segments = tuple(islice(read_segments(job.data, columns=job.columns), job.limit))
    task = task_of(segments, job.task or "")
    catalogue = Catalogue.load(*job.aspects_files)
    names = job.aspects or catalogue.task(task).default_aspects
    exam = Exam(
        dataset=job.data.name.partition(".")[0],
        segments=segments,
        aspects=tuple(catalogue.aspect(task, name) for name in names),
        conditions=tuple(map(condition_of, job.perturbations)) or _of_the_paper(),
        seed=job.seed,
    )
    if job.writer is not None:
        _require_orders(exam)
    return exam


def condition_of(told: str) -> Condition:
    """Return the condition that ``NAME`` or ``NAME:option=value,…`` names.

    Raises
    ------
    ConfigError
        If there is no such perturbation, or it has no such option.
    """
    name, options = parse_options(told, what="perturbation")
    perturbation = find_explanation_perturbation(name)
    known: Mapping[str, object] = parameters(perturbation.rule)
    if strange := options.keys() - known.keys():
        raise ConfigError(f"{name!r} has no option {', '.join(sorted(strange))}")
    return Condition(name=told, perturbation=perturbation, options=options)


async def run_exam(
    job: FaithfulnessJob,
    exam: Exam,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
    expect: Callable[[int], None],
) -> list[Change]:
    """Hold the exam of a job; `examine` explains the parameters.

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

        asked = partial(examine, exam, open_panel, workers=job.panel.workers, stop_token=stop_token)
        writer = None
        if job.writer is not None:
            writer = writer_of(job.writer, memory=memory, meter=meter, guard=guard)
        held: list[Change] = []

        async def examine() -> None:
            held.extend(await asked(show=show, expect=expect, writer=writer))

        async def watch_the_clock() -> None:
            await stop_in_time(stop_token, job.limits.max_seconds)

        await run_watched(examine, watch_the_clock)
        guard.require_success()
        return held


def _require_orders(exam: Exam) -> None:
    """Raise `ConfigError` if no perturbation of `exam` has anything that a model can write."""
    rules = [condition.perturbation for condition in exam.conditions]
    if not any(written_twin(rule, aspect=exam.aspects[0]) for rule in rules):
        names = ", ".join(condition.name for condition in exam.conditions)
        raise ConfigError(f"there is nothing that a model is asked to write in {names}")


def _of_the_paper() -> tuple[Condition, ...]:
    return tuple(
        Condition(name=one.name, perturbation=one.perturbation, options=one.options)
        for one in paper_perturbations()
    )
