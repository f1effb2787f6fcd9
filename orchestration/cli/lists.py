"""`spanjury judges`, `aspects`, `tasks` and `plugins`: lists of names for flags."""

from collections.abc import Iterable, Iterator, Sequence

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.flags.data import AspectsFiles, Task
from spanjury.orchestration.cli.listing import ListFlags, Listing, Word, matching, print_listing

with lazily():
    from spanjury.judges import core
    from spanjury.judges import tasks as catalogues
    from spanjury.judges.core import measured_precision as measured
    from spanjury.judges.core import registry
    from spanjury.orchestration.wiring import checker_models, checking
    from spanjury.orchestration.wiring import plugins as registries


def judges(*, word: Word = None, form: ListFlags) -> None:
    """List the judges: what they mark, what they cannot see, and how often they are right.

    Lines are complete if standard output is not a terminal: NAME, a tab, description.
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

    Lines are complete if standard output is not a terminal, with tabs between cells: task,
    default aspects, other names.
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

    Lines are complete if standard output is not a terminal, with tabs between cells: task,
    aspect, kind, visible inputs, definition.
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

    WORD may also be part of a group, such as 'judges', or of a package. Lines are complete if
    standard output is not a terminal, with tabs between cells: group, name, package, version.
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
        lines.append(f"Cannot see: {judge.blind_spots}.")
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
