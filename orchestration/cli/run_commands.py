"""The commands about runs: `runs [FOLDER]` lists them, `runs repair RUN` saves a memory."""

import typer
from typer.core import TyperGroup

from spanjury.orchestration.cli.calling import call
from spanjury.orchestration.cli.flags import kept

__all__ = ["runs"]

_LIST = "list"


class _ListByDefault(TyperGroup):
    """Commands that are `list` where none is named."""

    def parse_args(  # type: ignore[override]  # typer names no wider type of a context
        self, ctx: typer.Context, args: list[str]
    ) -> list[str]:
        asks_help = args[:1] in ([name] for name in self.get_help_option_names(ctx))
        if not asks_help and args[:1] not in ([name] for name in self.commands):
            args = [_LIST, *args]
        return super().parse_args(ctx, args)


runs = typer.Typer(
    cls=_ListByDefault,
    help="List runs, or repair the memory of one; without a command they are listed.",
    rich_markup_mode=None,
)


@runs.command(_LIST)
def list_runs(*, folder: kept.Folder = None) -> None:
    """List runs: those among the user's data, or in a folder."""
    call("listings:print_runs", locals())


@runs.command()
def repair(*, run: kept.DamagedRun) -> None:
    """Save every value that can be read in a damaged memory, in a new file.

    The damaged file is kept beside it. What is lost is asked for again by a resume.
    """
    call("repairing:repair_run", locals())
