"""What `spanjury exam discernment` does once its flags are read."""

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
from spanjury.orchestration.cli.told_writer import told_writer
from spanjury.orchestration.cli.written import tell_written
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.discernment import (
    DEMO,
    ExamJob,
    exam_of,
    read_weights,
    run_exam,
)
from spanjury.orchestration.services.discernment_report import exam_report, write_exam
from spanjury.orchestration.studies.discernment.findings import Settings
from spanjury.orchestration.wiring import MEMORY_NAME

__all__ = ["examine_discernment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """The flags of `exam discernment`, by their names; the command describes them."""

    panel: ToldPanel
    data: Path | None
    demo: bool
    recipe: str
    damage_model: str | None
    damage_model_base_url: list[str] | None
    task: str | None
    aspect: list[str] | None
    aspects_file: list[Path] | None
    column: list[str] | None
    weights: Path | None
    limit: int | None
    repeats: int
    mode: Literal["calibrated", "wilson", "paper"]
    test: str
    output: Path
    max_cost: float | None
    max_tokens_total: int | None
    max_seconds: float | None
    max_outage: float | None
    no_preflight: bool
    no_progress: bool
    log_file: Path | None

    @property
    def job(self) -> ExamJob:
        if (self.data is None) != self.demo:
            raise ConfigError("name a file of good texts, or --demo, and not both")
        panel = self.panel.config()
        return ExamJob(
            data=self.data or DEMO,
            panel=panel,
            recipe=self.recipe,
            damage_model=told_writer(
                self.damage_model, self.damage_model_base_url, judging=self.panel
            ),
            memory=self.output / MEMORY_NAME,
            task=self.task,
            aspects=tuple(self.aspect or ()),
            aspects_files=tuple(self.aspects_file or ()),
            columns=tuple(self.column or ()),
            limit=self.limit,
            weights=read_weights(self.weights) if self.weights else {},
            repeats=self.repeats,
            settings=Settings(
                mode=self.mode, test=self.test, seed=1 if panel.seed is None else panel.seed
            ),
            limits=Limits(
                max_cost=self.max_cost,
                max_tokens=self.max_tokens_total,
                max_seconds=self.max_seconds,
            ),
            failures=failure_policy(self.max_outage, no_preflight=self.no_preflight),
        )


def examine_discernment(**flags: object) -> None:
    """Examine a panel as the flags say, and write what is found into a folder."""
    panel = ToldPanel.taken_from(flags)
    told = _Told(panel=panel, **flags)  # type: ignore[arg-type]  # the command line has checked
    log_to(told.log_file)
    job = told.job
    exam = exam_of(job)
    say(
        f"{len(exam.segments)} texts, {len(exam.conditions)} conditions,"
        f" {len(exam.aspects)} aspects: {', '.join(aspect.name for aspect in exam.aspects)}"
    )
    result = held(
        partial(run_exam, job, exam),
        total=len(exam.segments) * (len(exam.conditions) + 2) * len(exam.aspects),
        limits=job.limits,
        memory=job.memory,
        progress=not told.no_progress,
    )
    CleanConsole().print(report_view(exam_report(job, result)))
    tell_written(write_exam(told.output, job, result))
