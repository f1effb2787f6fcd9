"""The commands, in the order of the help.

A command is imported when it is called, and its libraries when it does its work, so that ``--help``
and errors in flags are shown at once.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, ClassVar

import typer

from spanjury.judges.core import VERSION
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import CommandGroup, DeferredCommand, Flag, command

with lazily():
    from spanjury.orchestration.cli import (
        check,
        distil_build,
        distil_gate,
        distil_train,
        doctor,
        evaluate,
        lists,
        marked_texts,
        marks,
        metrics,
        runs,
        serve,
        study,
        view,
        watch,
    )
    from spanjury.orchestration.services.exams import (
        agreement,
        calibration,
        comparisons,
        pairs,
        panels,
        ranking,
    )
    from spanjury.orchestration.services.exams import study as studies
    from spanjury.orchestration.wiring import plugins, sources


_LIST = "list"


class _Commands(CommandGroup):
    functions: ClassVar = {
        "check": lambda: check.check,
        "demo": lambda: check.demo,
        "evaluate": lambda: evaluate.evaluate,
        "resume": lambda: evaluate.resume,
        "rescore": lambda: evaluate.rescore,
        "view": lambda: view.view,
        "export": lambda: runs.export,
        "merge": lambda: runs.merge,
        "perturb": lambda: marked_texts.perturb,
        "meta": lambda: study.file_command(agreement.Meta, name="meta"),
        "compare": lambda: study.file_command(comparisons.Compare, name="compare"),
        "calibrate": lambda: study.file_command(calibration.Calibrate, name="calibrate"),
        "align": lambda: marks.align,
        "pairs": lambda: study.study_command(pairs.Pairs, name="pairs"),
        "rank": lambda: study.file_command(ranking.Rank, name="rank"),
        "sample": lambda: marks.sample,
        "mcp": lambda: serve.mcp,
        "serve": lambda: serve.serve,
        "watch": lambda: watch.watch,
        "judges": lambda: lists.judges,
        "aspects": lambda: lists.aspects,
        "tasks": lambda: lists.tasks,
        "plugins": lambda: lists.plugins,
        "doctor": lambda: doctor.doctor,
    }


class _Bench(CommandGroup):
    functions: ClassVar = {"spans": lambda: marked_texts.spans}


class _Distil(CommandGroup):
    functions: ClassVar = {
        "build": lambda: distil_build.build,
        "train": lambda: distil_train.train,
        "gate": lambda: distil_gate.gate,
        "export": lambda: distil_train.export,
    }


class _Exam(CommandGroup):
    """The exams, each a plugin, and the commands for their folders."""

    functions: ClassVar = {
        "compare": lambda: study.file_command(comparisons.CompareExams, name="compare"),
        "card": lambda: study.exam_card,
    }

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401  typer's
        return [*dict.fromkeys((*plugins.EXAMS.names(), *super().list_commands(ctx)))]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401  typer's
        if cmd_name not in self.commands:  # exams are listed only now: one of them may be meant
            exams = {
                name: DeferredCommand(name, partial(_exam, name)) for name in plugins.EXAMS.names()
            }
            self.commands = {**exams, **self.commands}
        return super().get_command(ctx, cmd_name)


def _exam(name: str) -> Callable[..., None]:
    return study.study_command(studies.find_study(name), name=name)


class _Metrics(CommandGroup):
    functions: ClassVar = {
        "list": lambda: metrics.list_metrics,
        "card": lambda: metrics.card,
        "score": lambda: metrics.score,
        "show": lambda: metrics.show,
    }


class _Marks(CommandGroup):
    functions: ClassVar = {
        "list": lambda: marks.list_marks,
        "export": lambda: marks.export,
        "import": lambda: marks.import_marks,
        "agreement": lambda: marks.agreement,
        "guideline": lambda: marks.write_guideline,
    }


class _Panel(CommandGroup):
    functions: ClassVar = {
        "study": lambda: study.file_command(panels.PanelSeatStudy, name="study"),
        "cascade": lambda: study.file_command(panels.PanelCascade, name="cascade"),
    }


class _Runs(CommandGroup):
    """The commands about runs; `list` is the default."""

    functions: ClassVar = {
        _LIST: lambda: runs.list_runs,
        "prune": lambda: runs.prune,
        "repair": lambda: runs.repair,
    }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401  typer's
        """Prepend `list` unless the arguments begin with a command."""
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
    rich_markup_mode=None,  # plain text, which starts three times as fast
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for name, commands, summary in (
    ("bench", _Bench, "Measure judges on texts whose errors people marked."),
    ("distil", _Distil, "Distil a small judge from large ones."),
    ("exam", _Exam, "Examine judges."),
    (
        "marks",
        _Marks,
        "List, export, import and compare people's marks of a run; print their guideline.",
    ),
    ("metrics", _Metrics, "Score texts with classic metrics, from BLEU to BERTScore."),
    ("panel", _Panel, "Study which seats a panel needs, and what they cost."),
    ("runs", _Runs, "List runs (the default), delete old ones, or repair one."),
):
    app.add_typer(
        typer.Typer(cls=commands, rich_markup_mode=None),
        name=name,
        help=summary,
        no_args_is_help=commands is not _Runs,
    )


def _show_version(wanted: bool) -> None:  # noqa: FBT001  typer passes it by position
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
            "Change a limit on data files, for example row=200MB; before the command; repeatable."
            " Names: row, cell, columns, document, depth, unpacked, ratio.",
            "NAME=NUMBER",
            env=True,
        ),
    ] = (),
) -> None:
    del version  # its callback has done the work
    if data_limit:
        sources.set_data_limits(data_limit)


app.callback()(command(_every_command))
