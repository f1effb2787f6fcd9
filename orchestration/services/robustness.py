"""An exam of robustness, from files and names to a sitting."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from spanjury.judges.core import ConfigError, Result
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services.discernment import conditions_of, task_of
from spanjury.orchestration.services.panels import read_segments
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.robustness.attacked_texts import Flawed, flawed
from spanjury.orchestration.studies.robustness.attempts import Settings
from spanjury.orchestration.studies.robustness.exam import Exam, Sitting, sit
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.exam_plugins import find_attack
from spanjury.orchestration.wiring.plugins import ATTACKS
from spanjury.perturbations.attacks.attack import Attack
from spanjury.perturbations.attacks.standard import STANDARD_ATTACKS
from spanjury.perturbations.recipe import find_recipe

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


async def hold(
    job: RobustnessJob,
    exam: Exam,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
    expect: Callable[[int], None],
) -> Sitting:
    """Hold the exam of a job; `sit` explains the parameters.

    Raises
    ------
    EvaluationError
        As `sit` does, and if the panel, a model or the memory cannot be opened.
    """
    with open_session(job, stop_token=stop_token, meter=meter) as session:
        work = partial(
            sit,
            exam,
            session.opener(job.panel),
            workers=job.panel.workers,
            stop_token=stop_token,
            show=show,
            expect=expect,
        )
        return await session.run(work)
