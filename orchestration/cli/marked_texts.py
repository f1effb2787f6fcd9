"""`spanjury bench spans`, `perturb`: measure judges on texts with known errors, or damage texts."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from spanjury.judges.core import ConfigError, counted
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import say, standard_output
from spanjury.orchestration.cli.flags.data import AspectsFiles, Columns, FileLimit, RowLimit, Task
from spanjury.orchestration.cli.flags.panel import PanelFlags, Seed, WriterFlags
from spanjury.orchestration.cli.flags.run import Html, LimitFlags, LogFlags
from spanjury.orchestration.cli.study import Output, PrintJson, Recipe, Require, run_planned

with lazily():
    import anyio

    from spanjury.orchestration.cli import console, logging
    from spanjury.orchestration.report import files
    from spanjury.orchestration.services.exams import perturb as perturbing
    from spanjury.orchestration.services.exams import span_bench, study_report
    from spanjury.orchestration.studies import card
    from spanjury.orchestration.studies.span_bench import findings
    from spanjury.orchestration.wiring import runs


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
    limit: FileLimit = None
    by: span_bench.By = "kind"


class BenchFlags(Flags, title="Bench"):
    """The flags of the bench itself."""

    output: Output = Path("span-bench")
    html: Html = None
    require: Require = ()
    markdown: Annotated[bool, Flag("Print Markdown instead of tables.")] = False
    json: PrintJson = False
    draws: span_bench.Draws = 1000


def spans(
    *,
    texts: MarkedTextFlags,
    bench: BenchFlags,
    judges: PanelFlags,
    limits: LimitFlags,
    show: LogFlags,
) -> None:
    """Compare judges' error spans and decisions with people's marks.

    Each judge is compared with baselines. A row holds its marks under `spans`; `supported`, true
    or false, says whether the text is free of errors. Without --judge and --model the offline
    judges are examined, together and one by one.
    """
    if bench.markdown and bench.json:
        raise ConfigError("--markdown and --json exclude each other: choose one")
    logging.log_to(show.log_file)
    target = files.Destination(folder=bench.output, page=bench.html)
    exam = span_bench.SpanBench(
        texts.files,
        panel=judges.config(),
        task=texts.task,
        aspects=texts.aspect,
        aspects_files=texts.aspects_file,
        columns=texts.column,
        limit=texts.limit,
        by=texts.by,
        draws=bench.draws,
        memory=bench.output / runs.MEMORY_NAME,
        limits=limits.limits(),
        failures=limits.failures(),
    )
    plan = exam.plan()
    parsed = map(card.parse_gate, bench.require)
    run_planned(
        exam,
        plan,
        gates=[gate for each in parsed for gate in findings.gates_on(each, plan.sets)],
        target=target,
        quiet=show.no_progress,
        show=partial(_print, bench=bench),
    )


def _print(report: "study_report.StudyReport[object]", *, bench: BenchFlags) -> None:
    if bench.json:
        console.print_json(report.values)
    elif bench.markdown:
        typer.echo(report.to_markdown(), file=standard_output(), nl=False)
    else:
        console.print_report(report.document)


def perturb(
    *,
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="Good texts: a JSONL, CSV or TSV file.")
    ],
    recipe: Recipe,
    output: Annotated[Path, Flag("JSONL file for the damaged texts.", also="-o")],
    column: Columns = (),
    limit: RowLimit = None,
    seed: Seed = None,
    writer: WriterFlags,
) -> None:
    """Damage good texts by a recipe, and mark the damage as gold error spans."""
    logging.log_to(None)
    model = writer.config()
    job = perturbing.Perturb(
        data,
        recipe=recipe,
        writer=model,
        columns=column,
        limit=limit,
        seed=1 if seed is None else seed,
        memory=output.with_name(f"{output.name}.memory.sqlite3") if model else None,
    )
    damaged, skipped = anyio.run(job.write, output)
    for (condition, reason), count in skipped.items():
        say(f"skipped: {count} x {condition}: {reason}")
    say(f"{counted(damaged, 'damaged text is', 'damaged texts are')} in {output}")
