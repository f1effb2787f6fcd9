"""Declarations: what a TOML table says about a task or an aspect, key by key."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import cast, get_args

from spanjury.judges.core import Aspect, Kind, Scale, Task
from spanjury.judges.tasks.table import Table

_TASK_KEYS = (
    "description",
    "output_header",
    "aliases",
    "default_aspects",
    "input_headers",
    "whole",
    "aspects",
)
_ASPECT_KEYS = (
    "definition",
    "kind",
    "inputs",
    "needs",
    "confusable",
    "worst",
    "best",
    "scale",
    "aliases",
)


def read_task(table: Table, *, known: Task | None) -> Task:
    """Return the task that a ``[tasks.NAME]`` table declares, or what it makes of a known one.

    Raises `ConfigError` if a key is unknown, missing or of the wrong form.

    Parameters
    ----------
    known
        The task as earlier files declare it. The table's aliases, headers and `whole` are added to
        it, its other keys replace what was there.
    """
    table.only(*_TASK_KEYS)
    base = known or Task(name=table.name.strip(), description="")
    task = replace(
        base,
        description=table.text("description", default=base.description or None),
        output_header=table.text("output_header", default=base.output_header),
        input_headers=_input_headers(table, known=known) or base.input_headers,
        aliases=tuple(dict.fromkeys((*base.aliases, *table.texts("aliases")))),
        default_aspects=table.texts("default_aspects", default=base.default_aspects),
    )
    _check_headers(task, table)
    whole = (*base.whole, *_headers(table, "whole", task=task))
    return replace(task, whole=tuple(dict.fromkeys(whole)))


def read_aspect(table: Table, *, name: str, task: Task) -> Aspect:
    """Return the aspect that a ``[tasks.NAME.aspects.NAME]`` table declares.

    Raises `ConfigError` if a key is unknown, missing or of the wrong form, or an input is none of
    the task's.
    """
    table.only(*_ASPECT_KEYS)
    return Aspect(
        name=name,
        task=task,
        definition=table.text("definition", default=None),
        kind=_kind(table),
        confusable=table.texts("confusable"),
        worst=_optional_text(table, "worst"),
        best=_optional_text(table, "best"),
        inputs=_headers(table, "inputs", task=task) if "inputs" in table.values else None,
        needs=_headers(table, "needs", task=task),
        scale=_scale(table),
    )


def _optional_text(table: Table, key: str) -> str:
    return table.text(key, default=None) if key in table.values else ""


def _kind(table: Table) -> Kind:
    kind = table.text("kind", default=None)
    if kind not in get_args(Kind):
        choices = ", ".join(get_args(Kind))
        raise table.error("kind", problem=f"must be one of {choices}, got {kind!r}")
    return cast("Kind", kind)  # checked just above


def _headers(table: Table, key: str, *, task: Task) -> tuple[str, ...]:
    """Return the canonical forms of the headers listed at `key`."""
    found = []
    for header in table.texts(key):
        canonical = task.canonical_header(header)
        if canonical is None:
            choices = ", ".join(task.input_headers)
            problem = f"has {header!r}, which is not an input of {task.name}; choose from {choices}"
            raise table.error(key, problem=problem)
        found.append(canonical)
    return tuple(found)


def _scale(table: Table) -> Scale:
    if "scale" not in table.values:
        return Scale()
    try:
        return Scale(labels=table.texts("scale"))
    except ValueError as error:
        raise table.error("scale", problem=f"cannot be one: {error}") from error


def _input_headers(table: Table, *, known: Task | None) -> Mapping[str, tuple[str, ...]]:
    """Return the known headers and the table's, spelt as `Task.canonical_header` compares."""
    headers = dict(known.input_headers) if known else {}
    given = table.table("input_headers")
    for header in given.values:
        names = (_spaced(name) for name in given.texts(header))
        canonical = _spaced(header)
        headers[canonical] = (*headers.get(canonical, ()), *names)
    return MappingProxyType(headers)


def _spaced(header: str) -> str:
    return " ".join(header.replace("_", " ").split())


def _check_headers(task: Task, table: Table) -> None:
    """Refuse headers that are empty or could mean two things."""
    owners = {task.output_header.casefold(): "the output"}
    for canonical, names in task.input_headers.items():
        for name in (canonical, *names):
            owner = owners.setdefault(name.casefold(), canonical)
            if owner != canonical:
                problem = f"gives the name {name!r} to {canonical!r} and to {owner!r}"
                raise table.error("input_headers", problem=problem)
            if not name:
                raise table.error("input_headers", problem="has an empty name")
