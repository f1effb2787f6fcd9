"""`spanjury bench spans`: measure error spans and decisions on texts whose errors people marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.flags.data import AspectsFiles, Columns, Task
from spanjury.orchestration.cli.flags.panel import PanelFlags
from spanjury.orchestration.cli.flags.run import Html, LimitFlags, LogFlags
from spanjury.orchestration.cli.study import Output, Require, exit_if_missed, missed_gates

with lazily():
    from spanjury.orchestration.cli import console, exam_session, logging
    from spanjury.orchestration.report import destination, markdown
    from spanjury.orchestration.services import span_bench as service
    from spanjury.orchestration.studies import card
    from spanjury.orchestration.studies.agreement.spans import estimates
    from spanjury.orchestration.studies.span_bench import bench as study
    from spanjury.orchestration.studies.span_bench import values
    from spanjury.orchestration.wiring import runs


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedTextFlags(Flags, title="Texts and aspect"):
    """The flags that name the texts whose errors people marked, and the aspect."""

    files: Annotated[
        tuple[Path, ...],
        typer.Argument(
            metavar="FILE", help="Texts with marked errors, in JSONL, MQM or factgenie format."
        ),
    ]
    task: Task = None
    aspect: Annotated[str, Flag("Aspect of the marked errors.")] = "consistency"
    aspects_file: AspectsFiles = ()
    column: Columns = ()
    limit: Annotated[int | None, Flag("Use only the first N rows of each file.", min=1)] = None
    by: Annotated[
        str, Flag("Key of a row by which pages group texts, for example system.", "KEY")
    ] = "kind"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchFlags(Flags, title="Bench"):
    """The flags of the bench itself."""

    output: Output = Path("span-bench")
    html: Html = None
    require: Require = ()
    markdown: Annotated[bool, Flag("Print Markdown instead of tables.")] = False
    json: Annotated[bool, Flag("Print JSON instead of tables.")] = False
    draws: Annotated[
        int, Flag("Number of resamples of the sources; 0 for no intervals.", min=0, rare=True)
    ] = 1000


def spans(
    *,
    texts: MarkedTextFlags,
    bench: BenchFlags,
    judges: PanelFlags,
    limits: LimitFlags,
    show: LogFlags,
) -> None:
    """Compare judges' error spans and decisions with people's marks.

    Each judge is shown beside baselines. A row holds its marks under `spans`; `supported`, true
    or false, says whether the text is free of errors. Without --judge and --model the offline
    judges are examined, together and one by one.
    """
    if bench.markdown and bench.json:
        raise ConfigError("--markdown and --json exclude each other: choose one")
    logging.log_to(show.log_file)
    target = destination.Destination(folder=bench.output, page=bench.html)
    job = _job(texts, bench, judges=judges, limits=limits)
    planned = service.bench_of(job)
    gates = _gates(bench.require, planned)
    say(f"{len(planned.texts)} texts, {texts.aspect}: {', '.join(s.name for s in planned.sets)}")
    result = exam_session.run_exam(
        lambda live: service.run(
            job, planned, stop_token=live.stop_token, meter=live.meter, show=live
        ),
        total=len(planned.texts),
        limits=job.limits,
        memory=job.memory,
        quiet=show.no_progress,
    )
    _print(job, result, bench)
    for path in target.write(
        lambda folder: service.write_bench(folder, job, bench=planned, result=result)
    ):
        say(f"written: {path}")
    exit_if_missed(missed_gates(gates, values.measures_of(result.findings)))


def _job(
    texts: MarkedTextFlags, bench: BenchFlags, *, judges: PanelFlags, limits: LimitFlags
) -> "service.BenchJob":
    panel = judges.config()
    return service.BenchJob(
        data=tuple(dict.fromkeys(texts.files)),
        panel=panel,
        memory=bench.output / runs.MEMORY_NAME,
        task=texts.task,
        aspect=texts.aspect,
        aspects_files=texts.aspects_file,
        columns=texts.column,
        limit=texts.limit,
        by=texts.by,
        limits=limits.limits(),
        failures=limits.failures(),
        settings=estimates.Settings(
            seed=1 if panel.seed is None else panel.seed, draws=bench.draws
        ),
    )


def _print(job: "service.BenchJob", result: "study.BenchResult", bench: BenchFlags) -> None:
    if bench.json:
        console.print_json(service.values_of(job, result))
    elif bench.markdown:
        typer.echo(markdown.report_markdown(service.report_of(job, result)), nl=False)
    else:
        console.print_report(service.report_of(job, result))


def _gates(required: Sequence[str], planned: "study.Bench") -> "list[card.Gate]":
    """Read requirements; raise `ConfigError` for a measure that the bench will not give."""
    sets = [bench_set.name for bench_set in planned.sets if bench_set.texts]
    return [gate for text in required for gate in values.gates_on(card.parse_gate(text), sets)]
