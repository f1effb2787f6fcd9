"""The commands, in the order of the help.

A command is loaded when it is called, and the libraries that it needs when it does its work, so
that ``--help`` and a mistyped flag answer at once.
"""

import gc
from typing import Annotated, ClassVar

import typer

from spanjury.judges.core import VERSION
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import CommandGroup, Flag, command

with lazily():
    from spanjury.orchestration.cli import (
        bench_spans,
        calibrate,
        compare,
        distil_build,
        distil_gate,
        distil_train,
        doctor,
        evaluate,
        exam_compare,
        exam_discernment,
        exam_faithfulness,
        exam_repair,
        exam_robustness,
        export,
        lists,
        marks,
        merge,
        meta,
        metrics,
        metrics_score,
        panel_cascade,
        panel_study,
        perturb,
        rank,
        resume,
        runs,
        runs_prune,
        sample,
        serve,
        serve_mcp,
        view,
    )
    from spanjury.orchestration.wiring import sources


_LIST = "list"

_ALLOCATIONS = 100_000
"""Objects made between two searches for cycles: modules make many, none of which is ever free."""


class _Commands(CommandGroup):
    functions: ClassVar = {
        "evaluate": lambda: evaluate.evaluate,
        "resume": lambda: resume.resume,
        "rescore": lambda: resume.rescore,
        "view": lambda: view.view,
        "export": lambda: export.export,
        "merge": lambda: merge.merge,
        "perturb": lambda: perturb.perturb,
        "meta": lambda: meta.meta,
        "compare": lambda: compare.compare,
        "calibrate": lambda: calibrate.calibrate,
        "rank": lambda: rank.rank,
        "sample": lambda: sample.sample,
        "mcp": lambda: serve_mcp.mcp,
        "serve": lambda: serve.serve,
        "judges": lambda: lists.judges,
        "aspects": lambda: lists.aspects,
        "tasks": lambda: lists.tasks,
        "plugins": lambda: lists.plugins,
        "doctor": lambda: doctor.doctor,
    }


class _Bench(CommandGroup):
    functions: ClassVar = {"spans": lambda: bench_spans.spans}


class _Distil(CommandGroup):
    functions: ClassVar = {
        "build": lambda: distil_build.build,
        "train": lambda: distil_train.train,
        "gate": lambda: distil_gate.gate,
    }


class _Exam(CommandGroup):
    functions: ClassVar = {
        "discernment": lambda: exam_discernment.discernment,
        "faithfulness": lambda: exam_faithfulness.faithfulness,
        "robustness": lambda: exam_robustness.robustness,
        "repair": lambda: exam_repair.repair,
        "compare": lambda: exam_compare.compare,
        "card": lambda: exam_compare.card,
    }


class _Metrics(CommandGroup):
    functions: ClassVar = {
        "list": lambda: metrics.list_metrics,
        "card": lambda: metrics.card,
        "score": lambda: metrics_score.score,
        "show": lambda: metrics.show,
    }


class _Marks(CommandGroup):
    functions: ClassVar = {
        "list": lambda: marks.list_marks,
        "export": lambda: marks.export,
        "import": lambda: marks.import_marks,
        "agreement": lambda: marks.agreement,
    }


class _Panel(CommandGroup):
    functions: ClassVar = {
        "study": lambda: panel_study.study,
        "cascade": lambda: panel_cascade.cascade,
    }


class _Runs(CommandGroup):
    """The commands about runs; `list` where none is named."""

    functions: ClassVar = {
        _LIST: lambda: runs.list_runs,
        "prune": lambda: runs_prune.prune,
        "repair": lambda: runs.repair,
    }

    def parse_args(  # type: ignore[override]  # typer names no wider type of a context
        self, ctx: typer.Context, args: list[str]
    ) -> list[str]:
        """Put `list` before arguments that begin with no command."""
        asks_help = args[:1] in ([name] for name in self.get_help_option_names(ctx))
        if not asks_help and args[:1] not in ([name] for name in self.functions):
            args = [_LIST, *args]
        return super().parse_args(ctx, args)


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
    ("marks", _Marks, "People's marks of a run: who made them, out and in, agreement."),
    ("metrics", _Metrics, "Classic metrics, from BLEU to BERTScore."),
    ("panel", _Panel, "Panels and their seats: which ones are needed, and what they cost."),
    ("runs", _Runs, "List runs, delete old ones or repair one; the list is the default."),
):
    app.add_typer(
        typer.Typer(cls=commands, rich_markup_mode=None),
        name=name,
        help=summary,
        no_args_is_help=commands is not _Runs,
    )


def main() -> None:
    """Run the command line; `exits` has its exit codes."""
    gc.set_threshold(_ALLOCATIONS)
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
