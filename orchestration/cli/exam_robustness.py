"""`spanjury exam robustness`: see whether attacks on flawed texts raise a judge's scores."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

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
    from spanjury.orchestration.services import robustness as service
    from spanjury.orchestration.studies.robustness import attempts, values
    from spanjury.orchestration.wiring import runs


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessFlags(Flags, title="Exam"):
    """The flags of the exam itself."""

    attack: Annotated[
        tuple[str, ...],
        Flag("An attack, or a family of them; the standard ones by default; repeatable.", env=True),
    ] = ()
    recipe: Annotated[
        str, Flag("Recipe, or TOML file, of the damage that each text takes first.")
    ] = "flaws"
    as_they_are: Annotated[bool, Flag("Attack the texts undamaged.")] = False
    output: Output = Path("robustness")
    html: Html = None
    require: Require = ()
    step: Annotated[
        float,
        Flag(
            "An attack succeeds if the score rises by so many steps of its scale.",
            "STEPS",
            min=0.01,
            rare=True,
        ),
    ] = 0.5
    span_share: Annotated[
        float,
        Flag(
            "It also succeeds if so many marked spans vanish and the score does not fall.",
            "SHARE",
            min=0.01,
            max=1.0,
            rare=True,
        ),
    ] = 0.5


def robustness(
    *,
    texts: ExamTextFlags,
    exam: RobustnessFlags,
    judges: PanelFlags,
    limits: LimitFlags,
    show: LogFlags,
) -> None:
    """Attack flawed texts, and count how often a judge scores them better or overlooks errors.

    An attack adds to a text, or to its source, what makes the text no better: a finished review,
    a quoted score, marks of chat templates, orders, appeals. Without --judge and --model the
    offline judges are examined.
    """
    logging.log_to(show.log_file)
    place = destination.Destination(folder=exam.output, page=exam.html)
    job = _job(texts, exam, judges=judges, limits=limits)
    planned = service.exam_of(job)
    names = values.measure_names([attack.family for attack in planned.attacks.values()])
    gates = known_gates(exam.require, names)
    say_scope(planned.segments, planned.aspects, parts=f"{len(planned.attacks)} attacks")
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
    texts: ExamTextFlags, exam: RobustnessFlags, *, judges: PanelFlags, limits: LimitFlags
) -> "service.RobustnessJob":
    panel = judges.config()
    return service.RobustnessJob(
        data=texts.file,
        panel=panel,
        recipe="" if exam.as_they_are else exam.recipe,
        attacks=exam.attack,
        memory=exam.output / runs.MEMORY_NAME,
        task=texts.task,
        aspects=texts.aspect,
        aspects_files=texts.aspects_file,
        columns=texts.column,
        limit=texts.limit,
        settings=attempts.Settings(
            step=exam.step, share=exam.span_share, seed=1 if panel.seed is None else panel.seed
        ),
        limits=limits.limits(),
        failures=limits.failures(),
    )
