"""The commands, in the order of the help.

Only what reads flags is imported here; what a command does is loaded when it is called, so
that ``--help`` and a mistyped flag answer at once.
"""

from typing import Annotated, ClassVar

import typer

from spanjury.judges.core import VERSION
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli import (
    bench_spans,
    compare,
    distil_build,
    distil_gate,
    distil_train,
    doctor,
    evaluate,
    exam_compare,
    exam_discernment,
    exam_faithfulness,
    exam_robustness,
    export,
    lists,
    merge,
    meta,
    metrics,
    metrics_score,
    perturb,
    resume,
    runs,
)
from spanjury.orchestration.cli.command import CommandGroup, Flag, command

with lazily():
    from spanjury.orchestration.wiring import sources


class _Commands(CommandGroup):
    functions: ClassVar = {
        "evaluate": evaluate.evaluate,
        "resume": resume.resume,
        "rescore": resume.rescore,
        "export": export.export,
        "merge": merge.merge,
        "perturb": perturb.perturb,
        "meta": meta.meta,
        "compare": compare.compare,
        "judges": lists.judges,
        "aspects": lists.aspects,
        "tasks": lists.tasks,
        "plugins": lists.plugins,
        "doctor": doctor.doctor,
    }


class _Bench(CommandGroup):
    functions: ClassVar = {"spans": bench_spans.spans}


class _Distil(CommandGroup):
    functions: ClassVar = {
        "build": distil_build.build,
        "train": distil_train.train,
        "gate": distil_gate.gate,
    }


class _Exam(CommandGroup):
    functions: ClassVar = {
        "discernment": exam_discernment.discernment,
        "faithfulness": exam_faithfulness.faithfulness,
        "robustness": exam_robustness.robustness,
        "compare": exam_compare.compare,
        "card": exam_compare.card,
    }


class _Metrics(CommandGroup):
    functions: ClassVar = {
        "list": metrics.list_metrics,
        "card": metrics.card,
        "score": metrics_score.score,
        "show": metrics.show,
    }


app = typer.Typer(
    name="spanjury",
    cls=_Commands,
    help="A jury of judges marks the error spans of generated texts, says why, and scores them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help in plain text, at a third of the start-up time
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for name, commands, summary in (
    ("bench", _Bench, "Measure judges on texts whose errors people marked."),
    ("distil", _Distil, "Make a small judge of large ones."),
    ("exam", _Exam, "Examine judges."),
    ("metrics", _Metrics, "Classic metrics, from BLEU to BERTScore."),
    ("runs", runs.Runs, "List runs, or repair the memory of one; the list is the default."),
):
    app.add_typer(
        typer.Typer(cls=commands, rich_markup_mode=None),
        name=name,
        help=summary,
        no_args_is_help=commands is not runs.Runs,
    )


def main() -> None:
    """Run the command line; `exits` has its exit codes."""
    app()


def _show_version(wanted: bool) -> None:  # noqa: FBT001  typer calls it so
    if wanted:
        typer.echo(f"spanjury {VERSION}")
        raise typer.Exit


def _every_command(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_show_version, is_eager=True),
    ] = False,
    data_limit: Annotated[
        tuple[str, ...],
        Flag(
            "Raise or lower a limit of data files, as row=200MB; repeatable, before the"
            " command. Names: row, cell, columns, depth, unpacked, ratio.",
            "NAME=NUMBER",
            env=True,
        ),
    ] = (),
) -> None:
    del version  # its callback has done the work
    if data_limit:
        sources.set_data_limits(data_limit)


app.callback()(command(_every_command))
