"""What `spanjury distil gate` does once its flags are read."""

from functools import partial

import typer

from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.examining_watched import held
from spanjury.orchestration.cli.exits import GATE, say
from spanjury.orchestration.cli.logging import log_to
from spanjury.orchestration.cli.told_gate import ToldGate
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.services.gate.job import run_gate, write_gate
from spanjury.orchestration.studies.gate.tables import gate_report

__all__ = ["examine_distilled"]


def examine_distilled(**flags: object) -> None:
    """Examine a distilled judge beside others, and exit with 5 if a demand is not met."""
    told = ToldGate(**flags)  # type: ignore[arg-type]  # the command line has checked
    log_to(told.log_file)
    job = told.job()
    say(
        f"{job.questions} assessments by {', '.join(job.judges)};"
        f" exams: {', '.join(exam.name for exam in job.exams)}"
    )
    held(
        partial(run_gate, job),
        total=job.questions,
        limits=job.limits,
        memory=None,
        progress=not told.no_progress,
    )
    findings, written = write_gate(job)
    CleanConsole().print(report_view(gate_report(findings)))
    for caution in job.cautions:
        say(f"note: {caution}")
    for path in written:
        say(f"written: {path}")
    for result in findings.missed:
        say(f"not met: {result.line}")
    if findings.missed:
        raise typer.Exit(GATE)
