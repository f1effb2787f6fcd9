"""The command `spanjury exam robustness`, once its flags are read."""

from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from spanjury.judges.core import ConfigError
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.examining_watched import Shown, held
from spanjury.orchestration.cli.exits import GATE, say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.cli.told_failures import failure_policy
from spanjury.orchestration.cli.told_panel import ToldPanel
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.discernment import DEMO
from spanjury.orchestration.services.robustness import (
    RobustnessJob,
    exam_of,
    exam_report,
    run_exam,
    write_exam,
)
from spanjury.orchestration.studies.card import Gate, Measure, parse_gate
from spanjury.orchestration.studies.robustness.attempts import Settings
from spanjury.orchestration.studies.robustness.exam import Exam, ExamResult
from spanjury.orchestration.studies.robustness.findings import Findings
from spanjury.orchestration.studies.robustness.values import measure_names, measures_of
from spanjury.orchestration.wiring import MEMORY_NAME

__all__ = ["examine_robustness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flags:
    """The flags of `exam robustness`, by their names; the command describes them."""

    panel: ToldPanel
    data: Path | None
    demo: bool
    attack: list[str] | None
    recipe: str
    as_they_are: bool
    task: str | None
    aspect: list[str] | None
    aspects_file: list[Path] | None
    column: list[str] | None
    limit: int | None
    step: float
    span_share: float
    require: list[str] | None
    output: Path
    max_cost: float | None
    max_tokens_total: int | None
    max_seconds: float | None
    max_outage: float | None
    no_preflight: bool
    no_progress: bool
    log_file: Path | None

    @property
    def job(self) -> RobustnessJob:
        if (self.data is None) != self.demo:
            raise ConfigError("name a file of texts, or --demo, and not both")
        panel = self.panel.config()
        return RobustnessJob(
            data=self.data or DEMO,
            panel=panel,
            recipe="" if self.as_they_are else self.recipe,
            attacks=tuple(self.attack or ()),
            memory=self.output / MEMORY_NAME,
            task=self.task,
            aspects=tuple(self.aspect or ()),
            aspects_files=tuple(self.aspects_file or ()),
            columns=tuple(self.column or ()),
            limit=self.limit,
            settings=Settings(
                step=self.step,
                share=self.span_share,
                seed=1 if panel.seed is None else panel.seed,
            ),
            limits=Limits(
                max_cost=self.max_cost,
                max_tokens=self.max_tokens_total,
                max_seconds=self.max_seconds,
            ),
            failures=failure_policy(self.max_outage, no_preflight=self.no_preflight),
        )


def examine_robustness(**options: object) -> None:
    """Attack a panel as the flags say, write the findings, and exit with 5 on a missed demand."""
    panel = ToldPanel.taken_from(options)
    flags = _Flags(panel=panel, **options)  # type: ignore[arg-type]  # the command line has checked
    log_to(flags.log_file)
    job = flags.job
    exam = exam_of(job)
    gates = _gates(flags.require or (), exam)
    say(
        f"{len(exam.segments)} texts, {len(exam.attacks)} attacks,"
        f" {len(exam.aspects)} aspects: {', '.join(aspect.name for aspect in exam.aspects)}"
    )

    def watched(
        *, stop_token: StopToken, meter: Meter, show: Shown
    ) -> Coroutine[object, object, ExamResult]:
        return run_exam(
            job, exam, stop_token=stop_token, meter=meter, show=show, expect=show.expect
        )

    result = held(
        watched,
        total=len(exam.segments) * (len(exam.attacks) + 2) * len(exam.aspects),
        limits=job.limits,
        memory=job.memory,
        progress=not flags.no_progress,
    )
    CleanConsole().print(report_view(exam_report(job, result)))
    for path in write_exam(flags.output, job, result):
        say(f"written: {path}")
    _require(gates, result.findings)


def _gates(demands: Sequence[str], exam: Exam) -> list[Gate]:
    """Read demands; raise `ConfigError` for a measure that the exam will not give."""
    known = measure_names([attack.family for attack in exam.attacks.values()])
    gates = [parse_gate(text) for text in demands]
    for gate in gates:
        if gate.name not in known:
            raise ConfigError(f"no such measure {gate.name!r}; there are {', '.join(known)}")
    return gates


def _require(gates: list[Gate], findings: Findings) -> None:
    """Say which demands are not met, and exit with 5 if there are any."""
    measures = {measure.name: [measure] for measure in measures_of(findings)}
    for gate in gates:  # a family may have had nothing to attack
        measures.setdefault(gate.name, [Measure(name=gate.name, value=None, says="", count=0)])
    missed = [gate for gate in gates if not gate.is_passed(measures)]
    for gate in missed:
        say(f"not met: {gate} (it is {measures[gate.name][0].figure})")
    if missed:
        raise typer.Exit(GATE)
