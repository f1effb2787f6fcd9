"""The commands, in the order of the help.

Only what reads flags is imported here; what a command does is loaded when it is called, so
that ``--help`` and a mistyped flag answer at once.
"""

from collections.abc import Callable, Mapping
from typing import Annotated

import typer

from spanjury.judges.core import VERSION
from spanjury.orchestration.cli import (
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
from spanjury.orchestration.cli.command import SectionedCommand, command
from spanjury.orchestration.cli.lazy import lazily

with lazily():
    from spanjury.orchestration.wiring import sources

__all__ = ["app", "main"]

app = typer.Typer(
    name="spanjury",
    help="A jury of judges marks the error spans of generated texts, says why, and scores them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help in plain text, at a third of the start-up time
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def main() -> None:
    """Run the command line; `exits` has its exit codes."""
    app()


def _add(group: typer.Typer, commands: Mapping[str, Callable[..., None]]) -> None:
    for name, function in commands.items():
        group.command(name, cls=SectionedCommand)(command(function))


def _group(help_text: str) -> typer.Typer:
    return typer.Typer(help=help_text, no_args_is_help=True, rich_markup_mode=None)


distil = _group("Make a small judge of large ones.")
_add(
    distil,
    {"build": distil_build.build, "train": distil_train.train, "gate": distil_gate.gate},
)
exam = _group("Examine judges.")
_add(
    exam,
    {
        "discernment": exam_discernment.discernment,
        "faithfulness": exam_faithfulness.faithfulness,
        "robustness": exam_robustness.robustness,
        "compare": exam_compare.compare,
        "card": exam_compare.card,
    },
)
metric_group = _group("Classic metrics, from BLEU to BERTScore.")
_add(
    metric_group,
    {
        "list": metrics.list_metrics,
        "card": metrics.card,
        "score": metrics_score.score,
        "show": metrics.show,
    },
)
run_group = typer.Typer(
    cls=runs.ListByDefault,
    help="List runs, or repair the memory of one; without a command they are listed.",
    rich_markup_mode=None,
)
_add(run_group, {runs.LIST: runs.list_runs, "repair": runs.repair})
_add(
    app,
    {
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
    },
)
app.add_typer(distil, name="distil")
app.add_typer(exam, name="exam")
app.add_typer(metric_group, name="metrics")
app.add_typer(run_group, name="runs")


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
        typer.Option(
            "--data-limit",
            envvar="SPANJURY_DATA_LIMIT",
            metavar="NAME=NUMBER",
            help="Raise or lower a limit of data files, as row=200MB; repeatable, before the"
            " command. Names: row, cell, columns, depth, unpacked, ratio.",
        ),
    ] = (),
) -> None:
    del version  # its callback has done the work
    if data_limit:
        sources.set_data_limits(data_limit)


app.callback()(command(_every_command))
