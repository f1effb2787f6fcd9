"""A training set for a distilled judge: read and check the material, then write examples."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from anyio import to_thread

from spanjury.judges.core import VERSION, Aspect, ConfigError, DataError, Result, stamped
from spanjury.judges.llm.distilled_form import Reading
from spanjury.judges.tasks import ALL_ASPECTS, Catalogue
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.services.exams.study import Live
from spanjury.orchestration.services.judging.conditions import conditions_of
from spanjury.orchestration.services.judging.panels import read_segments
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.studies.distillation.damage import DamagePlan, Harm, damage_examples
from spanjury.orchestration.studies.distillation.summary import Inventory
from spanjury.orchestration.studies.distillation.targets import (
    OURS,
    DataFile,
    Row,
    Targets,
    refuse_overlap,
    require_licences,
    rows_of,
    sampled,
)
from spanjury.orchestration.studies.distillation.training_set import (
    FORMAT,
    Example,
    Shares,
    example_line,
    split_file,
)
from spanjury.orchestration.wiring.checking import asks_model
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.plugins import JUDGES
from spanjury.orchestration.wiring.runs import MEMORY_NAME
from spanjury.orchestration.wiring.training import open_training_files
from spanjury.perturbations.recipe import Recipe, find_recipe

_OFFLINE = frozenset({"form", "grounding", "reader"})
"""Our own judges that use no external model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetJob:
    """A training set to build, in any form.

    `columns` and `limit` are as in `Job`, and `shares` are held out from training. No text with an
    input of the `evaluation` files is trained on. Rows that state no licence have that of
    `licence`. With `require_licence`, all licences must permit training: the known ones that do,
    and those that are `accepted`.
    """

    output: Path
    columns: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 1
    shares: Shares = field(default_factory=Shares)
    evaluation: tuple[Path, ...] = ()
    licence: str = ""
    require_licence: bool = False
    accepted: tuple[str, ...] = ()

    def read(self, path: Path) -> DataFile:
        """Read a file in any supported format; raise `DataError` if it cannot be read."""
        return DataFile(
            path=str(path),
            dataset=path.name.partition(".")[0],
            segments=tuple(islice(read_segments(path, columns=self.columns), self.limit)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilJob(SetJob):
    """A training set of prompts and replies.

    Parameters
    ----------
    data
        Files in supported formats; for damage, of good texts.
    panel
        The teachers; None to use damage only.
    recipe
        Name or file of the recipe for damage.
    task, aspects, aspects_files
        As in `Job`; by default all aspects of a task.
    systems, aspects_per_output, damages_per_text
        The numbers of systems drawn for each input, of aspects for each output, and of damaged
        texts made from each clean one.
    teacher_licences
        Judge or model -> licence of its output.
    reading
        How scores are converted.
    """

    data: tuple[Path, ...]
    panel: PanelConfig | None = None
    recipe: str = "distil"
    task: str | None = None
    aspects: tuple[str, ...] = ()
    aspects_files: tuple[Path, ...] = ()
    systems: int = 4
    aspects_per_output: int = 3
    damages_per_text: int = 4
    teacher_licences: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    reading: Reading = "stretched"
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()

    @property
    def memory(self) -> Path:
        """The file that stores the teachers' reports."""
        return self.output / MEMORY_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The material of a training set, read and checked before any model is called.

    `aspects` has the aspects to judge in each task; `pairs`, which the panel judges, is empty for
    damage.
    """

    rows: tuple[Row, ...]
    aspects: Mapping[str, tuple[Aspect, ...]]
    targets: Targets
    pairs: tuple[tuple[Row, Aspect], ...] = ()


def material_of(job: DistilJob) -> Material:
    """Read and check the material of a training set.

    Raise `DataError` if a file cannot be read, there is nothing to learn from, or inputs belong to
    evaluation, and `ConfigError` if a name is unknown, or a licence that must permit training does
    not.
    """
    rows = rows_of(
        [job.read(path) for path in job.data],
        task=job.task,
        licence=job.licence,
        shares=job.shares,
        seed=job.seed,
    )
    refuse_overlap(rows, [replace(job, limit=None).read(path) for path in job.evaluation])
    teachers = _teachers(job)
    if job.require_licence:
        texts = [(row.source, row.licence) for row in rows]
        require_licences([*texts, *teachers.items()], accepted=job.accepted)
    catalogue = Catalogue.load(*job.aspects_files)
    are_all = not job.aspects or ALL_ASPECTS in job.aspects
    aspects = {
        task: catalogue.aspects(task)
        if are_all
        else tuple(catalogue.aspect(task, name) for name in job.aspects)
        for task in {row.segment.task for row in rows}
    }
    tasks = {name: of[0].task for name, of in aspects.items()}
    rows = tuple(replace(row, segment=tasks[row.segment.task].fit(row.segment)) for row in rows)
    targets = Targets(seed=job.seed, reading=job.reading, teachers=teachers)
    drawn = sampled(
        rows, aspects, systems=job.systems, per_output=job.aspects_per_output, seed=job.seed
    )
    pairs = tuple(drawn) if job.panel else ()
    if job.panel and not pairs:
        raise DataError("no aspect can be judged of any row: the inputs that they need are lacking")
    return Material(rows=rows, aspects=aspects, targets=targets, pairs=pairs)


def build_from_damage(job: DistilJob, material: Material) -> Inventory:
    """Damage texts and write the training set; return its inventory.

    Raise `EvaluationError` if the recipe is not found, a rule fails, there is nothing to learn
    from, or the folder cannot be written.
    """
    recipe = find_recipe(job.recipe)
    plan = DamagePlan(
        harms=harms_of(recipe),
        recipe=recipe.name,
        texts=job.damages_per_text,
        per_output=job.aspects_per_output,
        targets=material.targets,
    )
    examples = damage_examples(material.rows, material.aspects, plan)
    inventory = Inventory()
    inventory.skipped.update(
        f"no damage of {plan.recipe} harms {aspect.name} ({aspect.task.name})"
        for row in material.rows
        for aspect in material.aspects[row.segment.task]
        if not plan.can_harm(aspect)
    )
    return _write(job, examples, inventory, made_by={"recipe": recipe.name})


def harms_of(recipe: Recipe) -> tuple[Harm, ...]:
    """Return the kinds of damage in `recipe`; raise `ConfigError` if a name in it is unknown."""
    return tuple(
        Harm(
            name=item.name,
            rule=item.perturbation,
            perturbation=condition.perturbation,
            options=condition.options,
            severity=condition.severity,
        )
        for item, condition in zip(recipe.items, conditions_of(recipe), strict=True)
    )


async def judged(job: DistilJob, material: Material, live: Live) -> tuple[Sequence[Result], str]:
    """Have the panel judge the material; return results in order, and the panel's signature.

    Its reports are remembered. Raise `RunStoppedError` if the run was ended early, and
    `EvaluationError` if the panel cannot be opened.
    """
    assert job.panel is not None
    results: list[Result] = []

    def keep(result: Result) -> None:
        results.append(result)
        live(result)

    pairs = ((row.segment, aspect) for row, aspect in material.pairs)
    with open_session(job, stop_token=live.stop_token, meter=live.meter) as session:
        signature = await session.judge(job.panel, pairs, write=keep)
    return results, stamped(signature)


async def build_from_panel(job: DistilJob, material: Material, live: Live) -> Inventory:
    """Have the panel judge, and write the training set; return its inventory.

    Raise the errors of `judged`, in which case nothing is written, and `EvaluationError` if there
    is nothing to learn from, or the folder cannot be written.
    """
    results, signature = await judged(job, material, live)
    inventory = Inventory()
    examples = _examples(material, results, inventory)
    made_by = {"panel": signature, "teachers": dict(material.targets.teachers)}
    return await to_thread.run_sync(lambda: _write(job, examples, inventory, made_by=made_by))


def _examples(
    material: Material, results: Sequence[Result], inventory: Inventory
) -> Iterator[Example]:
    for (row, aspect), result in zip(material.pairs, results, strict=True):
        inventory.add_scores(aspect.task.name, result.report)
        made = material.targets.of_panel(row, result)
        if isinstance(made, Example):
            yield made
        else:
            inventory.skipped[made] += 1


def _write(
    job: DistilJob,
    examples: Iterable[Example],
    inventory: Inventory,
    *,
    made_by: Mapping[str, object],
) -> Inventory:
    with open_training_files(job.output) as files:
        for example in examples:
            files.append(split_file(example.split), example_line(example))
            inventory.add(example)
        if not inventory.examples:
            reasons = ", ".join(f"{count} x {why}" for why, count in inventory.skipped.items())
            raise DataError(f"there is nothing to learn from: {reasons or 'no example was made'}")
        files.close_with(
            {
                "format": FORMAT,
                "spanjury": VERSION,
                "made_by": made_by,
                "seed": job.seed,
                "reading": job.reading,
                **inventory.plain(),
            }
        )
    return inventory


def _teachers(job: DistilJob) -> Mapping[str, str]:
    """Return the teachers, models or else judges, with the licences that the user gave.

    Our own rules have ours.
    """
    if job.panel is None:
        return {}
    named: dict[str, None] = {}
    for seat in job.panel.seats_or_default:
        if not isinstance(seat.judge, str):
            named[seat.name or type(seat.judge).__name__] = None
        elif seat.judge in JUDGES.names() and asks_model(seat.judge, seat.options):
            asked = (seat.model,) if seat.model is not None else job.panel.models
            named |= {ModelConfig.of(model).name: None for model in asked}
        else:
            named[seat.judge] = None
    if job.panel.consolidate_model is not None:
        named[ModelConfig.of(job.panel.consolidate_model).name] = None
    if strange := job.teacher_licences.keys() - named:
        teachers = ", ".join(named)
        raise ConfigError(
            f"a licence of {', '.join(sorted(strange))}, who is no teacher: {teachers}"
        )
    ours = dict.fromkeys(_OFFLINE, OURS)
    return {name: job.teacher_licences.get(name, ours.get(name, "")) for name in named}
