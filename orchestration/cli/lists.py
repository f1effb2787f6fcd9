"""`spanjury judges`, `aspects`, `tasks` and `plugins`: lists of what flags can name."""

from collections.abc import Sequence

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.flags.data import AspectsFiles, Task

with lazily():
    from spanjury.judges import tasks as catalogues
    from spanjury.orchestration.cli import console
    from spanjury.orchestration.wiring import plugins as registries


def judges() -> None:
    """List the judges and what they do."""
    broken = registries.JUDGES.broken()
    broken_names = {problem.plugin.name for problem in broken if not problem.shadowed}
    usable = [
        (name, _summary(name)) for name in registries.JUDGES.names() if name not in broken_names
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


def _summary(name: str) -> str:
    documented = (registries.JUDGES.get(name).__doc__ or "").strip()
    return documented.partition("\n")[0]


def _visible(inputs: Sequence[str] | None) -> str:
    if inputs is None:
        return "all inputs"
    return ", ".join(inputs) or "no input"
