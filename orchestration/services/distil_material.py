"""What a training set is made of: read, dealt out and checked before anybody is asked."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from spanjury.judges.core import Aspect, ConfigError, DataError
from spanjury.judges.llm.percent import Reading
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.batch import ALL_ASPECTS
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.python import read_segments
from spanjury.orchestration.studies.distillation.lesson import Lesson
from spanjury.orchestration.studies.distillation.licences import OURS, require_licences
from spanjury.orchestration.studies.distillation.rows import DataFile, Row, refuse_overlap, rows_of
from spanjury.orchestration.studies.distillation.sampling import sampled
from spanjury.orchestration.studies.distillation.splitting import Shares
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.plugins import JUDGES, parameters
from spanjury.orchestration.wiring.runs import MEMORY_NAME

__all__ = ["DistilJob", "Material", "material_of"]

_OFFLINE = frozenset({"form", "grounding"})
"""Judges that are rules of our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilJob:
    """What a training set is made of, and where it goes.

    Parameters
    ----------
    data
        Files that sources can read; of damage good texts.
    output
        A folder.
    panel
        The teachers; None for damage alone.
    recipe
        Name of a recipe, or a file that holds one, of the damage.
    task, aspects, aspects_files, columns
        As in `job.Job`; without aspects all of a task.
    limit
        How many rows of each file are taken; None for all.
    systems, aspects_per_output, damages_per_text
        How many systems are drawn for each input, aspects for each output, and how many
        damaged texts are made of each clean one.
    seed
        Of all that is drawn, and of judges that draw.
    shares
        What is kept from training.
    evaluation
        Files whose inputs must not be trained on.
    licence
        Of the rows that name none.
    teacher_licences
        Judge or model -> licence of what it says.
    require_licence, accepted
        Whether all must permit training, and which licences do beside those that are known.
    reading
        What becomes of scores.
    limits
        What it may cost.
    failures
        The care that is taken of models that fail.
    """

    data: tuple[Path, ...]
    output: Path
    panel: PanelConfig | None = None
    recipe: str = "distil"
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    columns: tuple[str, ...] = ()
    limit: int | None = None
    systems: int = 4
    aspects_per_output: int = 3
    damages_per_text: int = 4
    seed: int = 1
    shares: Shares = field(default_factory=Shares)
    evaluation: tuple[Path, ...] = ()
    licence: str = ""
    teacher_licences: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    require_licence: bool = False
    accepted: tuple[str, ...] = ()
    reading: Reading = "stretched"
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()

    @property
    def memory(self) -> Path:
        """Where what the teachers say is kept."""
        return self.output / MEMORY_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a training set is made of, read and checked: nobody has been asked yet.

    Parameters
    ----------
    rows
        All texts.
    aspects
        Task -> what may be judged in it.
    lesson
        What all examples have in common.
    pairs
        What the panel judges; empty for damage.
    """

    rows: tuple[Row, ...]
    aspects: Mapping[str, tuple[Aspect, ...]]
    lesson: Lesson
    pairs: tuple[tuple[Row, Aspect], ...] = ()


def material_of(job: DistilJob) -> Material:
    """Read and check what is asked.

    Raises
    ------
    DataError
        If a file cannot be read, there is nothing to learn from, or inputs are evaluated on.
    ConfigError
        If a name is unknown, or a licence does not permit training and must.
    """
    rows = rows_of(
        _files(job, job.data, limit=job.limit),
        task=job.task,
        licence=job.licence,
        shares=job.shares,
        seed=job.seed,
    )
    refuse_overlap(rows, _files(job, job.evaluation, limit=None))
    teachers = _teachers(job)
    if job.require_licence:
        told = [(row.source, row.licence) for row in rows]
        require_licences([*told, *teachers.items()], accepted=job.accepted)
    aspects = _aspects(job, {row.segment.task for row in rows})
    lesson = Lesson(seed=job.seed, reading=job.reading, teachers=teachers)
    drawn = sampled(
        rows, aspects, systems=job.systems, per_output=job.aspects_per_output, seed=job.seed
    )
    pairs = tuple(drawn) if job.panel else ()
    if job.panel and not pairs:
        raise DataError("no aspect can be judged of any row: the inputs that they need are lacking")
    return Material(rows=rows, aspects=aspects, lesson=lesson, pairs=pairs)


def _files(job: DistilJob, paths: Iterable[Path], *, limit: int | None) -> list[DataFile]:
    return [
        DataFile(
            path=str(path),
            dataset=path.name.partition(".")[0],
            segments=tuple(islice(read_segments(path, columns=job.columns), limit)),
        )
        for path in paths
    ]


def _aspects(job: DistilJob, tasks: Iterable[str]) -> Mapping[str, tuple[Aspect, ...]]:
    catalogue = Catalogue.load(*job.aspects_files)
    if not job.aspects or ALL_ASPECTS in job.aspects:
        return {task: catalogue.aspects(task) for task in tasks}
    return {task: tuple(catalogue.aspect(task, name) for name in job.aspects) for task in tasks}


def _teachers(job: DistilJob) -> Mapping[str, str]:
    """Return who teaches, with the licences that were told; our own rules have ours."""
    if job.panel is None:
        return {}
    named = dict.fromkeys(
        name for seat in job.panel.seats_or_default for name in _asked(seat, job.panel)
    )
    if job.panel.consolidate_model is not None:
        named[_name(job.panel.consolidate_model)] = None
    if strange := job.teacher_licences.keys() - named:
        known = ", ".join(named)
        raise ConfigError(
            f"a licence of {', '.join(sorted(strange))}, who teaches nothing: {known}"
        )
    ours = dict.fromkeys(_OFFLINE, OURS)
    return {name: job.teacher_licences.get(name, ours.get(name, "")) for name in named}


def _asked(seat: SeatConfig, panel: PanelConfig) -> Iterator[str]:
    """Yield the models that a seat asks, or the judge itself."""
    if not isinstance(seat.judge, str):
        yield seat.name or type(seat.judge).__name__
    elif seat.judge in JUDGES.names() and "model" in parameters(JUDGES.get(seat.judge)):
        asked = (seat.model,) if seat.model is not None else panel.models
        yield from map(_name, asked)
    else:
        yield seat.judge


def _name(model: ModelConfig | str) -> str:
    return model.name if isinstance(model, ModelConfig) else model
