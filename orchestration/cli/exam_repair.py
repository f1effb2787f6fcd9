"""`spanjury exam repair`: see what a repair removes of planted errors, and what it harms."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exam import (
    ExamTextFlags,
    Output,
    Require,
    exit_if_missed,
    known_gates,
    missed_gates,
    say_scope,
)
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.panel import PanelFlags
from spanjury.orchestration.cli.flags.run import Html, LimitFlags, LogFlags

with lazily():
    from spanjury.orchestration.cli import console, exam_session, logging
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services import repair_exam as service
    from spanjury.orchestration.studies.repair import findings, values
    from spanjury.orchestration.wiring import config as configs
    from spanjury.orchestration.wiring import panel_files, runs


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairFlags(Flags, title="Exam"):
    """The flags of the exam itself."""

    repair_model: Annotated[
        str | None, Flag("Model that writes what stands in place of marked words.", env=True)
    ] = None
    repair_base_url: Annotated[
        tuple[str, ...],
        Flag("Address of that model's server; repeatable.", "URL", env=True, rare=True),
    ] = ()
    examiner: Annotated[
        Path | None,
        Flag("TOML file of the panel that judges the ends; with judges of its own.", env=True),
    ] = None
    recipe: Annotated[str, Flag("Recipe, or TOML file, of the damage that is planted.")] = "flaws"
    rounds: Annotated[
        int, Flag("How often a text is corrected at most.", min=1, env=True, rare=True)
    ] = 3
    output: Output = Path("repair")
    html: Html = None
    require: Require = ()


def repair(
    *,
    texts: ExamTextFlags,
    exam: RepairFlags,
    judges: PanelFlags,
    limits: LimitFlags,
    show: LogFlags,
) -> None:
    """Plant errors in good texts, have them repaired, and count what is gone and what is harmed.

    The panel of --judge and --model guides the repair, and keeps the better version; that of
    --examiner judges what came of it, beside changing nothing and deleting every marked span.
    """
    logging.log_to(show.log_file)
    place = destination.Destination(folder=exam.output, page=exam.html)
    job = _job(texts, exam, judges=judges, limits=limits)
    gates = known_gates(exam.require, values.measure_names())
    planned = service.exam_of(job)
    say_scope(planned.segments, planned.aspects, parts=f"{len(planned.conditions)} damages")
    found = exam_session.run_exam(
        lambda live: service.run_exam(
            job,
            planned,
            stop_token=live.stop_token,
            meter=live.meter,
            show=live,
            expect=live.expect,
        ),
        total=planned.assessments,
        limits=job.limits,
        memory=job.memory,
        quiet=show.no_progress,
    )
    console.print_report(service.exam_report(job, found))
    for path in place.write(lambda folder: service.write_exam(folder, job, found)):
        say(f"written: {path}")
    exit_if_missed(missed_gates(gates, values.measures_of(found.findings)))


def _job(
    texts: ExamTextFlags, exam: RepairFlags, *, judges: PanelFlags, limits: LimitFlags
) -> "service.RepairJob":
    if exam.repair_model is None:
        raise ConfigError("a repair needs a model: name it with --repair-model")
    if exam.examiner is None:
        raise ConfigError(
            "a repair is judged by a panel that it was not guided by: name it with --examiner"
        )
    panel = judges.config()
    model = judges.calls.applied(exam.repair_model, base_url=exam.repair_base_url)
    return service.RepairJob(
        data=texts.file,
        panel=panel,
        model=model if isinstance(model, configs.ModelConfig) else configs.ModelConfig(name=model),
        examiner=panel_files.read_panel_file(exam.examiner),
        recipe=exam.recipe,
        rounds=exam.rounds,
        memory=exam.output / runs.MEMORY_NAME,
        task=texts.task,
        aspects=texts.aspect,
        aspects_files=texts.aspects_file,
        columns=texts.column,
        limit=texts.limit,
        settings=findings.Settings(seed=1 if panel.seed is None else panel.seed),
        limits=limits.limits(),
        failures=limits.failures(),
    )
