"""An exam of discernment, from files and names to its result."""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files
from math import isclose
from pathlib import Path
from types import MappingProxyType

from pydantic import TypeAdapter, ValidationError

from spanjury.judges.core import ConfigError, Result
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.services.exam_job import PanelExamJob
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.discernment.exam import Exam, ExamResult, examine
from spanjury.orchestration.studies.discernment.findings import Settings
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.exam_plugins import find_perturbation, find_statistic
from spanjury.orchestration.wiring.plugins import parameters
from spanjury.perturbations.generated import generated_perturbation
from spanjury.perturbations.pairs import Condition
from spanjury.perturbations.recipe import Recipe, RecipeItem, find_recipe

DEMO = Path(str(files("spanjury.perturbations").joinpath("demo", "summarization.jsonl")))
"""Texts that come with the package."""

_WEIGHTS: TypeAdapter[dict[str, dict[str, float]]] = TypeAdapter(dict[str, dict[str, float]])


_SEVERITIES = MappingProxyType({"minor": 2, "major": 4})
_SEVERITY = 3
"""Of damage that comes in one degree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamJob(PanelExamJob):
    """An exam: the panel, the texts, and how they are damaged.

    Parameters
    ----------
    recipe
        Name of a recipe, or a file that holds one.
    weights
        Condition -> aspect -> what experts think it harms, in place of the recipe's.
    damage_model
        Writes the damage that a model can be asked for; None to have all done by rules.
    """

    recipe: str
    weights: Mapping[str, Mapping[str, float]] = field(default_factory=lambda: MappingProxyType({}))
    damage_model: ModelConfig | None = None
    repeats: int = 1
    settings: Settings = Settings()


def exam_of(job: ExamJob) -> Exam:
    """Read the texts and build the exam.

    Raise `DataError` if the data cannot be read, and `ConfigError` if a name is unknown, or
    the texts are not of one task.
    """
    recipe = find_recipe(job.recipe)
    segments, aspects = job.read(task=recipe.task, aspects=recipe.aspects)
    names = [aspect.name for aspect in aspects]
    for condition, weights in job.weights.items():
        if strange := weights.keys() - set(names):
            raise ConfigError(f"{condition!r} weighs {', '.join(strange)}, not {', '.join(names)}")
    return Exam(
        segments=segments,
        aspects=aspects,
        conditions=conditions_of(
            recipe, weights=job.weights, has_generator=job.damage_model is not None
        ),
        repeats=job.repeats,
        settings=job.settings,
        test=find_statistic(name) if (name := job.settings.test) else None,
    )


def conditions_of(
    recipe: Recipe,
    *,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    has_generator: bool = False,
) -> tuple[Condition, ...]:
    """Return what a recipe does to each text.

    Raise `ConfigError` if a perturbation is unknown or has no such option, weights are for
    nothing, or there is nothing to write for a model that is to write.
    """
    given = weights or {}
    if strange := given.keys() - {item.name for item in recipe.items}:
        raise ConfigError(f"weights for {', '.join(sorted(strange))}, which {recipe.name} has not")
    if has_generator and not any(item.written for item in recipe.items):
        raise ConfigError(f"{recipe.name} has no damage that a model is asked for")
    return tuple(_condition(item, given.get(item.name, item.weights)) for item in recipe.items)


def read_weights(path: Path) -> Mapping[str, Mapping[str, float]]:
    """Read experts' weights from TOML: a table for each condition, aspect by aspect.

    Raise `ConfigError` if the file cannot be read, or the weights of a condition do not sum
    to 1.
    """
    try:
        read = _WEIGHTS.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise ConfigError(f"the weights {path} cannot be read: {error}") from error
    require_weights(read, of=f"{path}: ")
    return read


def require_weights(weights: Mapping[str, Mapping[str, float]], *, of: str = "") -> None:
    """Raise `ConfigError` if the weights of a condition do not sum to 1, or one is negative."""
    for condition, by_aspect in weights.items():
        if min(by_aspect.values(), default=0.0) < 0 or not isclose(sum(by_aspect.values()), 1.0):
            raise ConfigError(
                f"{of}the weights of {condition!r} must sum to 1, got {dict(by_aspect)}"
            )


async def run_exam(
    job: ExamJob,
    exam: Exam,
    *,
    stop_token: StopToken,
    meter: Meter,
    show: Callable[[Result], None],
) -> ExamResult:
    """Run the exam of a job.

    Raise `EvaluationError` as `examine` does, and if the panel, a model or the memory
    cannot be opened.
    """
    with open_session(job, stop_token=stop_token, meter=meter) as session:
        generator = session.generator(job.damage_model) if job.damage_model else None
        work = partial(
            examine,
            exam,
            session.opener(job.panel),
            generator=generator,
            workers=job.panel.workers,
            stop_token=stop_token,
            show=show,
        )
        return await session.run(work)


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
        generated=generated_perturbation(item.written) if item.written else None,
        severity=_SEVERITIES.get(item.degree or "", _SEVERITY),
        weights=weights,
    )
