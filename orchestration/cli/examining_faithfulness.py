"""What `spanjury exam faithfulness` does once its flags are read."""

from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.examining_watched import Shown, held
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.cli.told_failures import failure_policy
from spanjury.orchestration.cli.told_panel import ToldPanel
from spanjury.orchestration.cli.told_writer import told_writer
from spanjury.orchestration.cli.written import tell_written
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.faithfulness import (
    ExamResult,
    FaithfulnessJob,
    exam_of,
    exam_report,
    read_result,
    run_exam,
    write_exam,
)
from spanjury.orchestration.wiring import MEMORY_NAME

__all__ = ["examine_faithfulness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """The flags of `exam faithfulness`, by their names; the command describes them."""

    panel: ToldPanel
    data: Path | None
    replay: Path | None
    perturbation: list[str] | None
    writer: str | None
    writer_base_url: list[str] | None
    task: str | None
    aspect: list[str] | None
    aspects_file: list[Path] | None
    column: list[str] | None
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
    def seed(self) -> int:
        return 1 if self.panel.seed is None else self.panel.seed

    def job(self, data: Path) -> FaithfulnessJob:
        return FaithfulnessJob(
            data=data,
            panel=self.panel.config(),
            perturbations=tuple(self.perturbation or ()),
            writer=told_writer(self.writer, self.writer_base_url, judging=self.panel),
            memory=self.output / MEMORY_NAME,
            task=self.task,
            aspects=tuple(self.aspect or ()),
            aspects_files=tuple(self.aspects_file or ()),
            columns=tuple(self.column or ()),
            limit=self.limit,
            seed=self.seed,
            limits=Limits(
                max_cost=self.max_cost,
                max_tokens=self.max_tokens_total,
                max_seconds=self.max_seconds,
            ),
            failures=failure_policy(self.max_outage, no_preflight=self.no_preflight),
        )


def examine_faithfulness(**flags: object) -> None:
    """Examine judges, or analyse a record, and write the findings into a folder."""
    panel = ToldPanel.taken_from(flags)
    told = _Told(panel=panel, **flags)  # type: ignore[arg-type]  # the command line has checked
    log_to(told.log_file)
    result = _result(told)
    CleanConsole().print(report_view(exam_report(result)))
    tell_written(write_exam(told.output, result))


def _result(told: _Told) -> ExamResult:
    if told.replay is not None and told.data is None:
        if told.writer or told.writer_base_url:
            raise ConfigError("nothing is written for --replay: leave --writer out")
        return read_result(told.replay, seed=told.seed)
    if told.data is None or told.replay is not None:
        raise ConfigError("name a file of texts, or --replay with a record, and not both")
    job = told.job(told.data)
    exam = exam_of(job)
    say(
        f"{len(exam.segments)} texts, {len(exam.conditions)} perturbations,"
        f" {len(exam.aspects)} aspects: {', '.join(aspect.name for aspect in exam.aspects)}"
    )

    def watched(
        *, stop_token: StopToken, meter: Meter, show: Shown
    ) -> Coroutine[object, object, ExamResult]:
        return run_exam(
            job, exam, stop_token=stop_token, meter=meter, show=show, expect=show.expect
        )

    return held(
        watched,
        total=exam.questions(seats=len(job.panel.heard)),
        limits=job.limits,
        memory=job.memory,
        progress=not told.no_progress,
    )
