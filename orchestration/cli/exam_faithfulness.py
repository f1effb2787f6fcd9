"""`spanjury exam faithfulness`: see whether a score follows the judge's own error list."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exam import Output, say_scope
from spanjury.orchestration.cli.flags.data import DataFlags
from spanjury.orchestration.cli.flags.panel import PanelFlags, WriterFlags
from spanjury.orchestration.cli.flags.run import Html, LimitFlags, LogFlags

with lazily():
    from spanjury.orchestration.cli import console, exam_session, logging
    from spanjury.orchestration.report import destination
    from spanjury.orchestration.services import discernment
    from spanjury.orchestration.services import faithfulness as service
    from spanjury.orchestration.wiring import rescorable, runs

_ONE = "name a file of texts, or --demo, or --replay with a record, and not both"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFlags(DataFlags):
    """The flags that name texts, or a record of scores."""

    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="Texts: a JSONL, CSV or TSV file."),
    ] = None
    demo: Annotated[bool, Flag("Use texts that come with spanjury, with errors put in.")] = False
    replay: Annotated[
        Path | None, Flag("Analyse this record of scores, JSONL or .gz; no judge is asked.")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FaithfulnessFlags(Flags, title="Exam"):
    """The flags of the exam itself."""

    perturbation: Annotated[
        tuple[str, ...],
        Flag(
            "NAME or NAME:option=value,…; those of the paper by default; repeatable.",
            env="SPANJURY_EXPLANATION_PERTURBATION",
        ),
    ] = ()
    output: Output = Path("faithfulness")
    html: Html = None


def faithfulness(
    *,
    texts: TextFlags,
    exam: FaithfulnessFlags,
    judges: PanelFlags,
    writer: WriterFlags,
    limits: LimitFlags,
    show: LogFlags,
) -> None:
    """Change judges' error lists, and see whether their scores follow.

    Every seat of the panel is examined by itself. Without --judge and --model it is the offline
    judges whose score can follow from a list.
    """
    logging.log_to(show.log_file)
    place = destination.Destination(folder=exam.output, page=exam.html)
    seed = 1 if judges.seed is None else judges.seed
    if texts.replay is None:
        job = service.FaithfulnessJob(
            data=_file(texts),
            panel=rescorable.rescorable_panel(judges.config()),
            recipe=service.FLAWS if texts.demo else "",
            perturbations=exam.perturbation,
            writer=writer.config(judging=judges),
            memory=exam.output / runs.MEMORY_NAME,
            task=texts.task,
            aspects=texts.aspect,
            aspects_files=texts.aspects_file,
            columns=texts.column,
            limit=texts.limit,
            seed=seed,
            limits=limits.limits(),
            failures=limits.failures(),
        )
        result = _examined(job, quiet=show.no_progress)
    else:
        result = _replayed(texts, writer, seed=seed)
    console.print_report(service.exam_report(result))
    console.say_written(place.write(lambda folder: service.write_exam(folder, result)))


def _file(texts: TextFlags) -> Path:
    if (texts.data is None) != texts.demo:
        raise ConfigError(_ONE)
    return texts.data or discernment.DEMO


def _replayed(texts: TextFlags, writer: WriterFlags, *, seed: int) -> "service.ExamResult":
    if texts.data is not None or texts.demo or texts.replay is None:
        raise ConfigError(_ONE)
    if writer.writer or writer.writer_base_url:
        raise ConfigError("nothing is written for --replay: leave --writer out")
    return service.read_result(texts.replay, seed=seed)


def _examined(job: "service.FaithfulnessJob", *, quiet: bool) -> "service.ExamResult":
    planned = service.exam_of(job)
    judges = ", ".join(seat.name or str(seat.judge) for seat in job.panel.seats_or_default)
    parts = f"{len(planned.conditions)} perturbations of the error lists of {judges}"
    say_scope(planned.segments, planned.aspects, parts=parts)
    return exam_session.run_exam(
        lambda live: service.run_exam(
            job,
            planned,
            stop_token=live.stop_token,
            meter=live.meter,
            show=live,
            expect=live.expect,
        ),
        total=planned.questions(seats=len(job.panel.seats_or_default)),
        limits=job.limits,
        memory=job.memory,
        quiet=quiet,
    )
