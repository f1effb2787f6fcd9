"""`spanjury judges`, `aspects`, `tasks` and `plugins`: lists of what flags can name."""

from collections.abc import Iterable, Iterator, Sequence

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.flags.data import AspectsFiles, Task

with lazily():
    from spanjury.judges import core
    from spanjury.judges import tasks as catalogues
    from spanjury.judges.core import measured_precision as measured
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.wiring import plugins as registries


def judges() -> None:
    """List the judges: what they mark, what they cannot see, and how often they are right."""
    broken = registries.JUDGES.broken()
    broken_names = {problem.plugin.name for problem in broken if not problem.shadowed}
    usable = [
        (name, _about(name)) for name in registries.JUDGES.names() if name not in broken_names
    ]
    unusable = [(problem.plugin.name, str(problem)) for problem in broken]
    console.print_table(("judge", "what it does"), [*usable, *unusable])


def tasks(*, aspects_file: AspectsFiles = ()) -> None:
    """List the tasks and their default aspects."""
    catalogue = catalogues.Catalogue.load(*aspects_file)
    console.print_table(
        ("task", "also called", "judged by default"),
        (
            (task.name, ", ".join(task.aliases), ", ".join(task.default_aspects))
            for task in catalogue.tasks()
        ),
    )


def aspects(*, task: Task = None, aspects_file: AspectsFiles = ()) -> None:
    """List the aspects with their definitions."""
    catalogue = catalogues.Catalogue.load(*aspects_file)
    names = [task] if task else [known.name for known in catalogue.tasks()]
    console.print_table(
        ("task", "aspect", "kind", "sees", "definition"),
        (
            (one.task.name, one.name, one.kind, _visible(one.inputs), one.definition)
            for name in names
            for one in catalogue.aspects(name)
        ),
    )


def plugins() -> None:
    """List the plugins and where they come from."""
    console.print_table(
        ("group", "name", "origin", "version"),
        (
            (plugin.group, plugin.name, plugin.origin, plugin.version)
            for group in registries.GROUPS
            for plugin in group.plugins()
        ),
    )


def _about(name: str) -> str:
    """Return the first line of a judge's docstring, and below it what it says of its limits."""
    judge = registries.JUDGES.get(name)
    lines = [(judge.__doc__ or "").strip().partition("\n")[0]]
    if isinstance(judge, core.ForthrightJudge):
        lines.append(f"Cannot see: {judge.blind_spots}.")
    try:
        lines += _precision(measured.measured_precision(name, judge))
    except core.ConfigError as error:
        lines.append(str(error))
    return "\n".join(lines)


def _precision(figures: Iterable[measured.MeasuredPrecision]) -> Iterator[str]:
    """Yield a line for each data set: which share of its errors people marked, too."""
    by_data: dict[str, list[str]] = {}
    for one in figures:
        words = f"{one.category} {one.precision:.2f} (of {one.spans})"
        by_data.setdefault(one.data, []).append(words)
    for data, shares in by_data.items():
        yield f"Precision on {data}: {', '.join(shares)}."


def _visible(inputs: Sequence[str] | None) -> str:
    if inputs is None:
        return "all inputs"
    return ", ".join(inputs) or "no input"
