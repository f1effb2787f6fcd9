"""An exam of robustness, from files and names to a sitting."""

from collections.abc import Callable, Mapping, Sequence
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
from spanjury.orchestration.services.discernment import conditions_of, task_of
from spanjury.orchestration.services.python import read_segments
from spanjury.orchestration.studies.robustness.attacked_texts import Flawed, flawed
from spanjury.orchestration.studies.robustness.attempts import Settings
from spanjury.orchestration.studies.robustness.exam import Exam, ExamResult, examine
from spanjury.orchestration.wiring import ATTACKS, guard_of, open_configured_panel, open_memory
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.exam_plugins import find_attack
from spanjury.perturbations.attacks.attack import Attack
from spanjury.perturbations.attacks.standard import STANDARD_ATTACKS
from spanjury.perturbations.recipe_files import find_recipe

__all__ = ["RobustnessJob", "attacks_of", "exam_of", "hold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessJob:
    """An exam of robustness as it is asked for: the panel, the texts, the attacks.

    Parameters
    ----------
    data
        A file of texts.
    panel
        Who judges; each of its seats is examined, and the panel as a whole.
    recipe
        Name of a recipe, or a file that holds one: all of its damage is done to each text
        before it is attacked. Empty to attack the texts as they are.
    attacks
        Names of attacks or of families of them; none for the standard ones.
    memory
        Keeps what judges and models say, so that an exam that broke off goes on; or None.
    task, aspects, aspects_files, columns, limit
        As in `job.Job`; without aspects those of the task.
    settings
        As in `Exam`.
    limits
        What it may cost.
    failures
        As in `job.Job`.
    """

    data: Path
    panel: PanelConfig
    recipe: str = "flaws"
    attacks: tuple[str, ...] = ()
    memory: Path | None = None
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    limit: int | None = None
    settings: Settings = Settings()
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


def exam_of(job: RobustnessJob) -> Exam:
    """Read and build what is asked.

    Raises
    ------
    DataError
        If the data cannot be read.
    ConfigError
        If a name is unknown, or the texts are not of one task.
    """
    attacks = attacks_of(job.attacks)
    conditions = conditions_of(find_recipe(job.recipe)) if job.recipe else ()
    segments = tuple(islice(read_segments(job.data, columns=job.columns), job.limit))
    task = task_of(segments, job.task or "")
    catalogue = Catalogue.load(*job.aspects_files)
    aspects = job.aspects or catalogue.task(task).default_aspects
    return Exam(
        flawed=(
            flawed(segments, conditions, seed=job.settings.seed)
            if conditions
            else Flawed(segments=segments)
        ),
        aspects=tuple(catalogue.aspect(task, name) for name in aspects),
        attacks=attacks,
        settings=job.settings,
    )


def attacks_of(names: Sequence[str]) -> Mapping[str, Attack]:
    """Return attacks by name, those of a family by its name, or without names the standard ones.

    Raises
    ------
    ConfigError
        If a name is neither an attack's nor a family's.
    """
    standard = {name: find_attack(name) for name in STANDARD_ATTACKS}
    if not names:
        return standard
    chosen: dict[str, Attack] = {}
    for name in names:
        family = {known: attack for known, attack in standard.items() if attack.family == name}
        if not family and name not in ATTACKS.names():
            families = ", ".join(dict.fromkeys(attack.family for attack in standard.values()))
            choices = ", ".join(ATTACKS.names())
            raise ConfigError(f"no attack is called {name!r}: choose from {families}; {choices}")
        chosen |= family or {name: find_attack(name)}
    return chosen


async def run_exam(
    job: RobustnessJob,
    exam: Exam,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
    expect: Callable[[int], None],
) -> ExamResult:
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

        workers = job.panel.workers
        held: list[ExamResult] = []

        async def examine() -> None:
            held.append(
                await examine(
                    exam,
                    open_panel,
                    workers=workers,
                    stop_token=stop_token,
                    show=show,
                    expect=expect,
                )
            )

        async def watch_the_clock() -> None:
            await stop_in_time(stop_token, job.limits.max_seconds)

        await run_watched(examine, watch_the_clock)
        guard.require_success()
        return held[0]
