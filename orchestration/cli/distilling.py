"""What `spanjury distil build` does once its flags are read."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.examining_watched import held
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.cli.told_failures import failure_policy
from spanjury.orchestration.cli.told_panel import ToldPanel
from spanjury.orchestration.cli.training_set_view import training_set_view
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.services.distil import build_from_damage, build_from_panel
from spanjury.orchestration.services.distil_material import DistilJob, material_of
from spanjury.orchestration.studies.distillation.splitting import Shares
from spanjury.orchestration.wiring.config import PanelConfig

__all__ = ["build_training_set"]

_RECIPE = "distil"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """The flags of `distil build`, by their names; the command describes them."""

    panel: ToldPanel
    data: list[Path]
    from_damage: bool
    recipe: str | None
    task: str | None
    aspect: list[str] | None
    aspects_file: list[Path] | None
    column: list[str] | None
    systems_per_input: int
    aspects_per_output: int
    damages_per_text: int
    validation: float
    test: float
    evaluation: list[Path] | None
    licence: str
    teacher_licence: list[str] | None
    require_licence: bool
    accept_licence: list[str] | None
    reading: Literal["stretched", "share"]
    limit: int | None
    output: Path
    max_cost: float | None
    max_tokens_total: int | None
    max_seconds: float | None
    max_outage: float | None
    no_preflight: bool
    no_progress: bool
    log_file: Path | None

    @property
    def job(self) -> DistilJob:
        assert self.panel.seed is not None
        return DistilJob(
            data=tuple(self.data),
            output=self.output,
            panel=self._teachers(),
            recipe=self.recipe or _RECIPE,
            task=self.task,
            aspects=tuple(self.aspect or ()),
            aspects_files=tuple(self.aspects_file or ()),
            columns=tuple(self.column or ()),
            limit=self.limit,
            systems=self.systems_per_input,
            aspects_per_output=self.aspects_per_output,
            damages_per_text=self.damages_per_text,
            seed=self.panel.seed,
            shares=self._shares(),
            evaluation=tuple(self.evaluation or ()),
            licence=self.licence,
            teacher_licences=dict(map(_licence, self.teacher_licence or ())),
            require_licence=self.require_licence,
            accepted=tuple(self.accept_licence or ()),
            reading=self.reading,
            limits=Limits(
                max_cost=self.max_cost,
                max_tokens=self.max_tokens_total,
                max_seconds=self.max_seconds,
            ),
            failures=failure_policy(self.max_outage, no_preflight=self.no_preflight),
        )

    def _teachers(self) -> PanelConfig | None:
        named = bool(self.panel.panel or self.panel.judge or self.panel.model)
        if named == self.from_damage:
            raise ConfigError(
                "name teachers (--panel, --judge, --model) or --from-damage, not both"
            )
        if self.recipe and not self.from_damage:
            raise ConfigError("--recipe says how texts are damaged: it goes with --from-damage")
        return None if self.from_damage else self.panel.config()

    def _shares(self) -> Shares:
        try:
            return Shares(validation=self.validation, test=self.test)
        except ValueError as error:
            raise ConfigError(f"--validation and --test: {error}") from error


def build_training_set(**flags: object) -> None:
    """Build a training set as the flags say, and say what it holds."""
    panel = ToldPanel.taken_from(flags)
    told = _Told(panel=panel, **flags)  # type: ignore[arg-type]  # the command line has checked
    log_to(told.log_file)
    job = told.job
    material = material_of(job)
    if job.panel is None:
        inventory = build_from_damage(job, material)
    else:
        say(f"{len(material.pairs)} assessments of {len(material.rows)} texts")
        inventory = held(
            partial(build_from_panel, job, material),
            total=len(material.pairs),
            limits=job.limits,
            memory=job.memory,
            progress=not told.no_progress,
        )
    CleanConsole().print(training_set_view(inventory))
    say(f"{inventory.examples} examples are in {job.output}")


def _licence(told: str) -> tuple[str, str]:
    teacher, equals, licence = told.rpartition("=")
    if not equals or not teacher or not licence:
        raise ConfigError(f"--teacher-licence {told!r}: expected TEACHER=LICENCE")
    return teacher, licence
