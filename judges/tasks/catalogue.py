"""The catalogue: all tasks and aspects by name, read from TOML tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import cast, get_args

from spanjury.judges.core import Aspect, ConfigError, Criterion, Kind, Scale, Task, choices_for
from spanjury.judges.core.passages import unnumbered
from spanjury.judges.tasks.rubric import Rubric, StatedCriterion, criterion, is_criterion
from spanjury.judges.tasks.table import Names, Table
from spanjury.judges.text.languages import are_in_one_language

USUAL_TASK = "summarization"
"""Task of a text that is made from a source, if nothing else determines the task."""

_TRANSLATION = "translation"

ALL_ASPECTS = "all"
"""Name that denotes every aspect of a task."""

_MET = Scale(labels=("Not met", "Partly met", "Met"))
_MET_OR_NOT = Scale(labels=("Not met", "Met"))

_TASK_KEYS = (
    "description",
    "output_header",
    "aliases",
    "default_aspects",
    "input_headers",
    "whole",
    "questions",
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
    "of_answers",
    "aliases",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shelf:
    """A task, its aspects by name, and their aliases."""

    task: Task
    aspects: Mapping[str, Aspect]
    names: Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Tasks and aspects by name; built by `load`.

    Case, spaces, hyphens and underscores of a name or alias do not matter. A method that takes a
    name raises `ConfigError`, listing the choices, if the name is unknown.

    Examples
    --------
    >>> catalogue = Catalogue.load()
    >>> catalogue.task("QA").name
    'question-answering'
    >>> catalogue.aspect("Summarization", "factual_consistency").name
    'consistency'
    >>> catalogue.aspect("Summarization", "criterion: Every price is in euros").scale.labels
    ('Not met', 'Partly met', 'Met')
    """

    _shelves: Mapping[str, _Shelf]
    _names: Names
    _rubric: Rubric | None = None

    @classmethod
    def load(cls, *extra: Path) -> "Catalogue":
        """Read the built-in tasks, then the TOML files `extra`, in order.

        A table ``[tasks.NAME]`` declares a task, or extends the one with this name or alias. A
        table ``[tasks.NAME.aspects.NAME]`` declares an aspect, or replaces the one with this name,
        which keeps its aliases. A task without explicit default aspects has those with which it
        is declared.

        Raises `ConfigError` if a file cannot be read, or declares something unknown, incomplete or
        contradictory; the message names the file, the table and the key.
        """
        return _built_in().extended(map(Table.read, extra))

    def extended(self, roots: Iterable[Table]) -> "Catalogue":
        """Return the catalogue with the declarations of some files added."""
        shelves, names = dict(self._shelves), self._names
        for table in chain.from_iterable(map(_task_tables, roots)):
            claimed = names.get(table.name)
            shelf = _shelf(table, base=shelves[claimed] if claimed else None)
            shelves[shelf.task.name] = shelf
            names = names.claimed({shelf.task.name: table})
        return replace(self, _shelves=MappingProxyType(shelves), _names=names)

    def with_rubric(self, rubric: Rubric | None) -> "Catalogue":
        """Return the catalogue with `rubric` and its criteria as aspects of every task."""
        return replace(self, _rubric=rubric)

    def tasks(self) -> tuple[Task, ...]:
        """Return all tasks, sorted by name."""
        return tuple(self._shelves[name].task for name in sorted(self._shelves))

    def task(self, name: str) -> Task:
        """Return the task called `name`."""
        return self._shelf(name).task

    def aspects(self, task: str) -> tuple[Aspect, ...]:
        """Return the aspects of `task` in the order of declaration."""
        return tuple(self._shelf(task).aspects.values())

    def aspect(self, task: str, name: str) -> Aspect:
        """Return the aspect of `task` called `name`, or the criterion that `name` states."""
        shelf, rubric = self._shelf(task), self._rubric
        if rubric is not None and name == rubric.aspect:
            return _of_rubric(rubric, task=shelf.task)
        if is_criterion(name):
            aspect = _criterion(name, task=shelf.task)
            stated = rubric.criterion(aspect.name) if rubric else None
            return _of_criterion(stated, aspect, rubric=rubric) if stated and rubric else aspect
        return shelf.aspects[shelf.names.find(name, what=f"aspect of {shelf.task.name}")]

    def has(self, task: str, *aspects: str) -> bool:
        """Return whether `task` has all `aspects`; every task has ``"all"`` and any criterion."""
        names = self._shelf(task).names
        rubric = self._rubric.aspect if self._rubric else ALL_ASPECTS
        return all(
            name in {ALL_ASPECTS, rubric} or is_criterion(name) or names.get(name) is not None
            for name in aspects
        )

    def likely_task(
        self,
        aspects: Sequence[str] = (),
        *,
        inputs: Mapping[str, str] = MappingProxyType({}),
        output: str = "",
    ) -> str:
        """Return the name of the likely task of a text that names none.

        It is the task that has all of `aspects` and the largest number of the headers of `inputs`;
        in case of a tie, it is `USUAL_TASK`. A header counts only if it is the task's own name for
        an input, because other names mean different inputs in different tasks. An output in the
        language of its inputs is no translation.

        Raises `ConfigError` if no task has all of these aspects, or if several tied tasks do not
        include `USUAL_TASK`.
        """
        having = [task for task in self.tasks() if self.has(task.name, *aspects)]
        if not having:
            raise ConfigError(self._no_such_aspects(aspects))
        spelt = {unnumbered(header.strip()).casefold() for header in inputs}
        shared = {
            task.name: sum(header.casefold() in spelt for header in task.input_headers)
            for task in having
        }
        if shared.get(_TRANSLATION) and are_in_one_language(" ".join(inputs.values()), output):
            shared[_TRANSLATION] = 0
        names = [name for name, count in shared.items() if count == max(shared.values())]
        if len(names) == 1:
            return names[0]
        if USUAL_TASK in names:
            return USUAL_TASK
        raise ConfigError(f"name the task: it may be one of {', '.join(names)}")

    def _no_such_aspects(self, names: Sequence[str]) -> str:
        """Return a message about the aspect that no task has, or that no task has all of them."""
        tasks = self.tasks()
        for name in names:
            if not any(self.has(task.name, name) for task in tasks):
                every = sorted({each.name for task in tasks for each in self.aspects(task.name)})
                return f"no task has the aspect {name!r}; {choices_for(name, every)}"
        return f"no task has all of the aspects {', '.join(map(repr, names))}"

    def _shelf(self, task: str) -> _Shelf:
        return self._shelves[self._names.find(task, what="task")]


def _task_tables(root: Table) -> tuple[Table, ...]:
    root.only("tasks")
    tables = root.tables("tasks")
    if not tables:
        raise root.error("tasks", problem="is missing or empty; expected [tasks.NAME] tables")
    return tables


@cache
def _built_in() -> Catalogue:
    """Read the tasks of the package once; the result cannot be changed by a caller."""
    folder = files("spanjury.judges.tasks")
    children = sorted(folder.iterdir(), key=lambda file: file.name)
    tables = (
        Table.parse(file.read_bytes(), file=file.name)
        for file in children
        if file.name.endswith(".toml")
    )
    return Catalogue(_shelves=MappingProxyType({}), _names=Names()).extended(tables)


def _shelf(table: Table, *, base: _Shelf | None) -> _Shelf:
    """Return the shelf of a ``[tasks.NAME]`` table, which extends `base` if the task exists."""
    names = base.names if base else Names()
    declared = {names.spelling(inner.name): inner for inner in table.tables("aspects")}
    names = names.claimed(declared)
    task = _read_task(table, former=base.task if base else None)
    task = _with_defaults(task, table=table, names=names)
    aspects = dict(base.aspects) if base else {}
    for name, inner in declared.items():
        aspects[name] = _read_aspect(inner, name=name, task=task)
    whole = {name: replace(aspect, task=task) for name, aspect in aspects.items()}
    return _Shelf(task=task, aspects=MappingProxyType(whole), names=names)


def _with_defaults(task: Task, *, table: Table, names: Names) -> Task:
    """Return `task` with its default aspects by name: all of its aspects if it lists none."""
    asked = task.default_aspects or names.all()
    if not asked:
        raise table.error("aspects", problem="is missing; a new task needs at least one aspect")
    for name in asked:
        if names.get(name) is None:
            choices = choices_for(name, names.all())
            problem = f"has {name!r}, which is not an aspect of {task.name}; {choices}"
            raise table.error("default_aspects", problem=problem)
    aspects = tuple(names.find(name, what="aspect") for name in asked)
    return replace(task, default_aspects=aspects)


def _criterion(name: str, *, task: Task) -> Aspect:
    """Return the aspect of a criterion; its name contains the criterion on one line."""
    return Aspect(
        name=criterion(name.partition(":")[2]),
        task=task,
        definition=f"The {task.output_header.lower()} meets this demand wherever it applies.",
        kind="content",
        worst="A part that matters does not meet it.",
        best="Every part to which it applies meets it, or it applies to none.",
        scale=_MET,
    )


def _of_criterion(stated: StatedCriterion, aspect: Aspect, *, rubric: Rubric) -> Aspect:
    """Return the aspect of a criterion with the scale and the question of its rubric."""
    if not stated.labels:
        return replace(aspect, scale=_MET_OR_NOT, rubric=rubric.aspect)
    return replace(
        aspect,
        definition=f"How well the {aspect.task.output_header.lower()} meets this demand wherever it"
        " applies.",
        worst="It does not meet it at all.",
        scale=Scale(labels=stated.labels),
        rubric=rubric.aspect,
    )


def _of_rubric(rubric: Rubric, *, task: Task) -> Aspect:
    """Return the aspect whose score is the weighted mean of the criteria."""
    criteria = tuple(
        Criterion(
            aspect=_of_criterion(stated, _criterion(stated.aspect, task=task), rubric=rubric),
            weight=stated.weight,
            must=stated.must,
        )
        for stated in rubric.criteria
    )
    return Aspect(
        name=rubric.aspect,
        task=task,
        definition=f"The {task.output_header.lower()} meets the criteria of the rubric, each by its"
        " weight.",
        kind="content",
        criteria=criteria,
    )


def describe(aspect: Aspect) -> str:
    """Return name, definition, extremes and confusable aspects of `aspect`, line by line."""
    name = aspect.spoken if is_criterion(aspect.name) else aspect.spoken.capitalize()
    lines = [f"{name}: {aspect.definition}"]
    lines += [f"At worst: {aspect.worst}"] if aspect.worst else []
    lines += [f"At best: {aspect.best}"] if aspect.best else []
    if aspect.confusable:
        lines.append("Not to be judged here, though easily mixed up with it:")
        lines += [f"- {other}" for other in aspect.confusable]
    return "\n".join(lines)


def _read_task(table: Table, *, former: Task | None) -> Task:
    """Return the task that a ``[tasks.NAME]`` table declares, on top of the `former` task, if any.

    The table's aliases, headers, `whole` and `questions` are added to the former task's; other keys
    replace them. Raises `ConfigError` if a key is unknown, missing or of the wrong form.
    """
    table.only(*_TASK_KEYS)
    base = former or Task(name=table.name.strip(), description="")
    task = replace(
        base,
        description=table.text("description", default=base.description or None),
        output_header=table.text("output_header", default=base.output_header),
        input_headers=_input_headers(table, base=former) or base.input_headers,
        aliases=tuple(dict.fromkeys((*base.aliases, *table.texts("aliases")))),
        default_aspects=table.texts("default_aspects", default=base.default_aspects),
    )
    _check_headers(task, table)
    whole = (*base.whole, *_headers(table, "whole", task=task))
    questions = (*base.questions, *_headers(table, "questions", task=task))
    return replace(
        task, whole=tuple(dict.fromkeys(whole)), questions=tuple(dict.fromkeys(questions))
    )


def _read_aspect(table: Table, *, name: str, task: Task) -> Aspect:
    """Return the aspect that a ``[tasks.NAME.aspects.NAME]`` table declares.

    Raises `ConfigError` if a key is unknown, missing or of the wrong form, or if an input is not
    one of the task's.
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
        of_answers=table.flag("of_answers"),
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
    names = []
    for header in table.texts(key):
        canonical = task.canonical_header(header)
        if canonical is None:
            choices = choices_for(header, task.input_headers)
            problem = f"has {header!r}, which is not an input of {task.name}; {choices}"
            raise table.error(key, problem=problem)
        names.append(canonical)
    return tuple(names)


def _scale(table: Table) -> Scale:
    if "scale" not in table.values:
        return Scale()
    try:
        return Scale(labels=table.texts("scale"))
    except ValueError as error:
        raise table.error("scale", problem=f"cannot be one: {error}") from error


def _input_headers(table: Table, *, base: Task | None) -> Mapping[str, tuple[str, ...]]:
    """Return the headers of `base` and the table, spelt as `Task.canonical_header` compares."""
    headers = dict(base.input_headers) if base else {}
    given = table.table("input_headers")
    for header in given.values:
        names = (_spaced(name) for name in given.texts(header))
        canonical = _spaced(header)
        headers[canonical] = (*headers.get(canonical, ()), *names)
    return MappingProxyType(headers)


def _spaced(header: str) -> str:
    return " ".join(header.replace("_", " ").split())


def _check_headers(task: Task, table: Table) -> None:
    """Refuse headers that are empty or ambiguous."""
    owners = {task.output_header.casefold(): "the output"}
    for canonical, names in task.input_headers.items():
        for name in (canonical, *names):
            owner = owners.setdefault(name.casefold(), canonical)
            if owner != canonical:
                problem = f"gives the name {name!r} to {canonical!r} and to {owner!r}"
                raise table.error("input_headers", problem=problem)
            if not name:
                raise table.error("input_headers", problem="has an empty name")
