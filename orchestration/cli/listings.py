"""What can be named: judges, tasks, aspects, plugins."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.table import Table

from spanjury.judges.core import ConfigError, StoreError
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.services.runs import job_of
from spanjury.orchestration.wiring import GROUPS, JUDGES, RunFolder, runs_home

__all__ = ["print_aspects", "print_judges", "print_plugins", "print_runs", "print_tasks"]


def print_judges() -> None:
    """Print name and summary of every judge, then those that cannot be used, and why."""
    broken = JUDGES.broken()
    lost = {problem.plugin.name for problem in broken if not problem.shadowed}
    usable = [(name, _summary(name)) for name in JUDGES.names() if name not in lost]
    unusable = [(problem.plugin.name, str(problem)) for problem in broken]
    _print(("judge", "what it does"), [*usable, *unusable])


def print_tasks(*, aspects_file: list[Path] | None) -> None:
    """Print name, aliases and default aspects of every task."""
    catalogue = Catalogue.load(*(aspects_file or ()))
    _print(
        ("task", "also called", "judged by default"),
        (
            (task.name, ", ".join(task.aliases), ", ".join(task.default_aspects))
            for task in catalogue.tasks()
        ),
    )


def print_aspects(*, task: str | None, aspects_file: list[Path] | None) -> None:
    """Print the aspects of `task`, or of every task, with their definitions."""
    catalogue = Catalogue.load(*(aspects_file or ()))
    names = [task] if task else [known.name for known in catalogue.tasks()]
    _print(
        ("task", "aspect", "kind", "sees", "definition"),
        (
            (told.task.name, told.name, told.kind, _seen(told.inputs), told.definition)
            for name in names
            for told in catalogue.aspects(name)
        ),
    )


def print_plugins() -> None:
    """Print group, name, origin and version of every plugin."""
    _print(
        ("group", "name", "origin", "version"),
        (
            (plugin.group, plugin.name, plugin.origin, plugin.version)
            for group in GROUPS
            for plugin in group.plugins()
        ),
    )


def print_runs(*, folder: Path | None) -> None:
    """Print name, begin, data and state of the runs in `folder`, or among the user's data."""
    home = folder or runs_home()
    rows = []
    damaged: list[str] = []
    for run in RunFolder.among(home):
        try:
            begun, data = str(run.manifest().get("begun")), _data_of(run)
        except StoreError as error:  # must not hide the others
            damaged.append(str(error))
            rows.append((run.path.name, "", "", "damaged"))
        else:
            rows.append((run.path.name, begun, data, "done" if run.is_done else "open"))
    _print(("run", "begun", "data", "state"), rows)
    say(f"{len(rows)} runs in {home}")
    for problem in damaged:
        say(f"spanjury: {problem}")


def _data_of(run: RunFolder) -> str:
    """Return what a run judges; a run that cannot be taken up must not hide the others."""
    try:
        return str(job_of(run).data)
    except ConfigError as error:
        return f"cannot be resumed: {error}"


def _summary(name: str) -> str:
    documented = (JUDGES.get(name).__doc__ or "").strip()
    return documented.partition("\n")[0]


def _seen(inputs: Sequence[str] | None) -> str:
    if inputs is None:
        return "all inputs"
    return ", ".join(inputs) or "no input"


def _print(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")  # a name that is cut short is of no use
    for row in rows:
        table.add_row(*row)
    CleanConsole().print(table)
