"""Lists, and `spanjury judges`, `aspects`, `tasks` and `plugins`: names for flags.

On a terminal a list has a line for each entry, which is cut at its width, but names never are; or
it is a table. Elsewhere each line is complete: cells separated by tabs, without headings, for use
with `cut`, `grep` and `sort`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Annotated, TypeVar

import typer

from spanjury.judges.core import ConfigError, nearest_name, one_line
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.command import Flag, Flags
from spanjury.orchestration.cli.exits import standard_output
from spanjury.orchestration.cli.flags.data import AspectsFiles, Task

with lazily():
    from rich import cells
    from rich.text import Text

    from spanjury.judges import core
    from spanjury.judges import tasks as catalogues
    from spanjury.judges.core import measured_precision as measured
    from spanjury.judges.core import registry
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.wiring import checker_models, checking
    from spanjury.orchestration.wiring import plugins as registries


_GAP = 2
_LEAST = 12
"""Least useful width of the last column in characters."""

T = TypeVar("T")

Word = Annotated[
    str | None, typer.Argument(metavar="WORD", help="List only names that contain this word.")
]


class ListFlags(Flags):
    """The flags of every list."""

    long: Annotated[bool, Flag("Print every column, in a table.")] = False
    json: Annotated[bool, Flag("Print JSON instead of a list.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Entries as rows of cells, with all their data; headings are distinct.

    A terminal shows the columns `brief`, most important first: if it is narrow, the last ones are
    left out. There `briefly` has functions that shorten cells, by heading; `group` is the heading
    of a column whose cells head groups of entries; `right` has the headings of right-aligned
    columns. `records` are the entries as JSON; by default the rows, keyed by heading.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    brief: Sequence[str]
    briefly: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    group: str = ""
    right: frozenset[str] = frozenset()
    records: Sequence[Mapping[str, object]] | None = None


def print_listing(listing: Listing, flags: ListFlags) -> None:
    """Print a list in the format of the flags, or else of standard output."""
    if flags.json:
        rows = [dict(zip(listing.headings, row, strict=True)) for row in listing.rows]
        console.print_json(rows if listing.records is None else listing.records)
    elif flags.long:
        console.print_table(listing.headings, listing.rows)
    elif standard_output().isatty():
        screen = console.CleanConsole(soft_wrap=True)
        for line in brief_lines(listing, width=screen.width):
            screen.print(line)
    else:
        for row in listing.rows:
            typer.echo("\t".join(map(one_line, row)), file=standard_output())


def brief_lines(listing: Listing, *, width: int) -> "Iterator[Text]":
    """Yield the lines of a list on a terminal, no longer than `width` except for long names."""
    indent = _GAP if listing.group else 0
    columns = [
        (listing.headings.index(heading), listing.briefly.get(heading, str))
        for heading in listing.brief
    ]
    rows = [[one_line(briefly(row[at])) for at, briefly in columns] for row in listing.rows]
    widths = _widths([listing.brief, *rows], width - indent)
    right = [name in listing.right for name in listing.brief]

    def lines(row: Sequence[str], style: str = "") -> "Iterator[Text]":
        for text in _aligned(row, widths, right=right):
            yield Text(f"{' ' * indent}{text}", style)

    yield from lines(listing.brief, "dim")
    if not listing.group:
        for row in rows:
            yield from lines(row)
        return
    grouped = listing.headings.index(listing.group)
    names = [one_line(row[grouped]) for row in listing.rows]
    for name, group in groupby(zip(names, rows, strict=True), key=lambda pair: pair[0]):
        yield Text(name, "bold")
        for _, row in group:
            yield from lines(row)


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of the columns that fit into `width`; the last one gets the rest."""
    widths = [max(map(cells.cell_len, column)) for column in zip(*rows, strict=True)]
    # A name that is much too long gets a line of its own, without squeezing other columns.
    names = (cells.cell_len(row[0]) for row in rows)
    widths[0] = max((size for size in names if size <= width // 2), default=widths[0])
    while len(widths) > 1:
        left = width - sum(size + _GAP for size in widths[:-1])
        if left >= min(widths[-1], _LEAST):
            return [*widths[:-1], min(left, widths[-1])]
        widths.pop()
    return widths


def _aligned(row: Sequence[str], widths: Sequence[int], *, right: Sequence[bool]) -> Iterator[str]:
    name, *others = row[: len(widths)]
    if cells.cell_len(name) > widths[0]:
        yield name
        name = ""
    texts = [
        _sized(text, size, right=is_right)
        for text, size, is_right in zip([name, *others], widths, right, strict=False)
    ]
    if line := (" " * _GAP).join(texts).rstrip():
        yield line


def _sized(text: str, size: int, *, right: bool) -> str:
    """Return `text` padded to `size` terminal cells, or cut with an ellipsis."""
    if cells.cell_len(text) > size:
        cut = Text(text)
        cut.truncate(size, overflow="ellipsis")
        text = cut.plain
    blanks = " " * (size - cells.cell_len(text))
    return blanks + text if right else text + blanks


def matching(
    entries: Iterable[T], word: str | None, *, names: Callable[[T], Iterable[str]], what: str
) -> list[T]:
    """Return the entries with `word` in one of their names; all entries without a word.

    Raise `ConfigError` if there are none; `what` names their kind.
    """
    if word is None:
        return list(entries)
    named = [(entry, [*names(entry)]) for entry in entries]
    kept = [
        entry
        for entry, called in named
        if any(word.casefold() in name.casefold() for name in called)
    ]
    if not kept:
        near = nearest_name(word, (name for _, called in named for name in called))
        hint = f"did you mean {near!r}?" if near else "leave it out to list all"
        raise ConfigError(f"no {what} has {word!r} in its name; {hint}")
    return kept


def judges(*, word: Word = None, form: ListFlags) -> None:
    """List the judges: what they mark, what they cannot see, and how often they are right.

    Output to a file or a pipe has complete lines: NAME, a tab, description.
    """
    broken = registries.JUDGES.broken()
    broken_names = {problem.plugin.name for problem in broken if not problem.shadowed}
    usable = [
        (name, _about(name)) for name in registries.JUDGES.names() if name not in broken_names
    ]
    unusable = [(problem.plugin.name, str(problem)) for problem in broken]
    headings = ("judge", "what it does")
    rows = matching([*usable, *unusable], word, names=lambda row: row[:1], what="judge")
    print_listing(Listing(headings=headings, rows=rows, brief=headings), form)


def tasks(*, word: Word = None, aspects_file: AspectsFiles = (), form: ListFlags) -> None:
    """List the tasks and their default aspects.

    Output to a file or a pipe has complete lines, with tabs between cells: task, default aspects,
    other names.
    """
    all_tasks = catalogues.Catalogue.load(*aspects_file).tasks()
    chosen = matching(all_tasks, word, names=lambda task: (task.name, *task.aliases), what="task")
    headings = ("task", "judged by default", "also called")
    listing = Listing(
        headings=headings,
        rows=[
            (task.name, ", ".join(task.default_aspects), ", ".join(task.aliases)) for task in chosen
        ],
        brief=headings,
        records=[
            {
                "task": task.name,
                "default_aspects": list(task.default_aspects),
                "aliases": list(task.aliases),
            }
            for task in chosen
        ],
    )
    print_listing(listing, form)


def aspects(
    *,
    word: Word = None,
    task: Task = None,
    aspects_file: AspectsFiles = (),
    form: ListFlags,
) -> None:
    """List the aspects with their definitions.

    Output to a file or a pipe has complete lines, with tabs between cells: task, aspect, kind,
    visible inputs, definition.
    """
    catalogue = catalogues.Catalogue.load(*aspects_file)
    tasks = [task] if task else [each.name for each in catalogue.tasks()]
    definitions = (aspect for name in tasks for aspect in catalogue.aspects(name))
    chosen = matching(definitions, word, names=lambda candidate: (candidate.name,), what="aspect")
    listing = Listing(
        headings=("task", "aspect", "kind", "sees", "definition"),
        rows=[
            (aspect.task.name, aspect.name, aspect.kind, _visible(aspect.inputs), aspect.definition)
            for aspect in chosen
        ],
        brief=("aspect", "definition"),
        group="task",
        records=[
            {
                "task": aspect.task.name,
                "aspect": aspect.name,
                "kind": aspect.kind,
                "sees": None if aspect.inputs is None else list(aspect.inputs),
                "definition": aspect.definition,
            }
            for aspect in chosen
        ],
    )
    print_listing(listing, form)


def plugins(*, word: Word = None, form: ListFlags) -> None:
    """List the plugins and where they come from.

    WORD may also be part of a group, such as 'judges', or of a package. Output to a file or a
    pipe has complete lines, with tabs between cells: group, name, package, version.
    """
    installed = (plugin for group in registries.GROUPS for plugin in group.plugins())

    def named(plugin: registry.Plugin) -> tuple[str, str, str]:
        return plugin.name, plugin.group.removeprefix("spanjury."), plugin.origin

    listing = Listing(
        headings=("group", "name", "origin", "version"),
        rows=[
            (plugin.group, plugin.name, plugin.origin, plugin.version)
            for plugin in matching(installed, word, names=named, what="plugin")
        ],
        brief=("name", "origin", "version"),
        group="group",
    )
    print_listing(listing, form)


def _about(name: str) -> str:
    """Return the first line of a judge's docstring, its models, limits, licence and precision."""
    judge = checking.described(name)
    lines = [(judge.__doc__ or "").strip().partition("\n")[0]]
    lines += checker_models.describe_models(name)
    if isinstance(judge, core.ForthrightJudge):
        lines.append(f"Cannot see: {judge.blind_spots.rstrip('.')}.")
    if isinstance(judge, core.LicensedPlugin):
        lines.append(f"Licence: {judge.licence}.")
    try:
        lines += _precision(measured.measured_precision(name, registries.JUDGES.get(name)))
    except core.ConfigError as error:
        lines.append(str(error))
    return "\n".join(lines)


def _precision(figures: Iterable[measured.MeasuredPrecision]) -> Iterator[str]:
    """Yield a line for each data set: the share of the judge's errors that people also marked."""
    by_data: dict[str, list[str]] = {}
    for figure in figures:
        words = f"{figure.category} {figure.precision:.2f} (of {figure.spans})"
        by_data.setdefault(figure.data, []).append(words)
    for data, shares in by_data.items():
        yield f"Precision on {data}: {', '.join(shares)}."


def _visible(inputs: Sequence[str] | None) -> str:
    if inputs is None:
        return "all inputs"
    return ", ".join(inputs) or "no input"
