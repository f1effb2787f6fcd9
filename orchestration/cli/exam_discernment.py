"""`spanjury exam discernment`: see whether the score falls when a text is damaged."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exam import (
    ExamTextFlags,
    Output,
    Recipe,
    Require,
    exit_if_missed,
    known_gates,
    missed_gates,
    say_scope,
)
from spanjury.orchestration.cli.flags.panel import PanelFlags, WriterFlags
from spanjury.orchestration.cli.flags.run import Html, LimitFlags, LogFlags

with lazily():
    from spanjury.orchestration.cli import console, exam_session, logging
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services import discernment as service
    from spanjury.orchestration.services import discernment_report as report
    from spanjury.orchestration.studies.discernment import findings, values
    from spanjury.orchestration.wiring import runs


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscernmentFlags(Flags, title="Exam"):
    """The flags of the exam itself."""

    recipe: Recipe = "standard"
    output: Output = Path("exam")
    html: Html = None
    require: Require = ()
    weights: Annotated[
        Path | None,
        Flag("TOML file: for each condition the aspects that experts think it harms.", rare=True),
    ] = None
    repeats: Annotated[
        int,
        Flag(
            "How often each text is judged, if the judge's scores vary.", min=1, env=True, rare=True
        ),
    ] = 1
    mode: Annotated[
        Literal["calibrated", "wilson", "paper"],
        Flag("How p-values are combined; 'paper' is as printed.", env=True, rare=True),
    ] = "calibrated"
    test: Annotated[str, Flag("A statistic instead of the mode's test.", env=True, rare=True)] = ""


def discernment(
    *,
    texts: ExamTextFlags,
    exam: DiscernmentFlags,
    judges: PanelFlags,
    writer: WriterFlags,
    limits: LimitFlags,
    show: LogFlags,
) -> None:
    """Damage good texts, judge both versions, and see whether the score falls.

    Without --judge and --model the offline judges are examined.
    """
    logging.log_to(show.log_file)
    place = destination.Destination(folder=exam.output, page=exam.html)
    panel = judges.config()
    job = service.ExamJob(
        data=texts.file,
        panel=panel,
        recipe=exam.recipe,
        damage_model=writer.config(judging=judges),
        memory=exam.output / runs.MEMORY_NAME,
        task=texts.task,
        aspects=texts.aspect,
        aspects_files=texts.aspects_file,
        columns=texts.column,
        limit=texts.limit,
        weights=service.read_weights(exam.weights) if exam.weights else {},
        repeats=exam.repeats,
        settings=findings.Settings(
            mode=exam.mode, test=exam.test, seed=1 if panel.seed is None else panel.seed
        ),
        limits=limits.limits(),
        failures=limits.failures(),
    )
    planned = service.exam_of(job)
    names = values.measure_names(condition.name for condition in planned.conditions)
    gates = known_gates(exam.require, names)
    say_scope(planned.segments, planned.aspects, parts=f"{len(planned.conditions)} conditions")
    found = exam_session.run_exam(
        lambda live: service.run_exam(
            job, planned, stop_token=live.stop_token, meter=live.meter, show=live
        ),
        total=planned.assessments,
        limits=job.limits,
        memory=job.memory,
        quiet=show.no_progress,
    )
    console.print_report(report.exam_report(job, found))
    console.say_written(place.write(lambda folder: report.write_exam(folder, job, found)))
    exit_if_missed(missed_gates(gates, values.measures_of(found.findings)))
