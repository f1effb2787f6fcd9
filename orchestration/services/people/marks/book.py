"""The marks of a run for the view: validated, and safe for several annotators at once."""

from collections.abc import Mapping
from typing import NamedTuple

from spanjury.judges.core import DataError, shown_json
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.people.marks.mark import (
    Mark,
    annotator_name,
    check_mark,
    mark_json,
    mark_of_json,
)
from spanjury.orchestration.services.viewing.marking import Marked, RowKey
from spanjury.orchestration.wiring.marks import MarkConflictError, MarkKey, MarksStore, StoredMark

with lazily():
    import json


class Text(NamedTuple):
    """The output of a row, and the scale of its aspect; None if unknown."""

    output: str
    low: float | None
    high: float | None


class ChangedMarkError(DataError):
    """Someone else changed a mark since it was read.

    `current` is the current mark, ready for JSON.
    """

    def __init__(self, current: Mapping[str, object]) -> None:
        super().__init__("the mark was changed meanwhile, in another window or by someone else")
        self.current = current


class UnknownKeyError(DataError):
    """A mark has an unknown key."""


class MarkBook:
    """The marks in an open file; implements `Marking`."""

    def __init__(self, store: MarksStore) -> None:
        self._store = store

    def annotators(self) -> list[str]:
        """Return the names of all annotators, sorted."""
        return sorted({mark.key.annotator for mark in self._store.all().marks})

    def marked(self, annotator: str) -> Mapping[RowKey, Marked]:
        """Return the rows that a person has marked; raise `ConfigError` for an invalid name."""
        who = annotator_name(annotator)
        marked: dict[RowKey, Marked] = {}
        for stored in self._store.all().marks:
            if stored.key.annotator == who and (mark := _read(stored)) is not None:
                key = stored.key
                row = RowKey(key.segment, key.system, key.task, key.aspect, key.version)
                marked[row] = Marked(is_done=mark.is_done, spans=len(mark.spans), score=mark.score)
        return marked

    def mark(self, annotator: str, row: RowKey) -> Mapping[str, object] | None:
        """Return a person's mark of a row, ready for JSON; None if there is none."""
        stored = self._store.get(_key(annotator_name(annotator), row))
        return None if stored is None or _read(stored) is None else _shown(stored)

    def put(
        self,
        annotator: str,
        row: RowKey,
        mark: Mapping[str, object],
        *,
        revision: int,
        text: Text | None = None,
    ) -> int:
        """Store on disk a mark of `text` that is based on `revision`; return its new revision.

        Raise `ConfigError` if the name is no valid annotator name, `UnknownKeyError` if the mark
        has an unknown key, `DataError` if it does not fit the text or there is no text, and
        `ChangedMarkError` if it has another revision by now.
        """
        key = _key(annotator_name(annotator), row)
        given = {name: value for name, value in mark.items() if name != "revision"}
        checked = mark_of_json(json.dumps(given))
        _require_known(given, json.loads(mark_json(checked)))
        if text is None:
            raise DataError("the text of this row is not there, so it cannot be marked")
        check_mark(checked, output=text.output, low=text.low, high=text.high)
        try:
            return self._store.put(key, mark_json(checked), based_on=revision)
        except MarkConflictError as error:
            current = _shown(error.current) if error.current else nothing_marked()
            raise ChangedMarkError(current) from error


def _require_known(given: object, kept: object, *, where: str = "the mark") -> None:
    """Raise `UnknownKeyError` if a part of `given` has a key that `kept` lacks there."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for name, value in given.items():
            if name not in kept:
                keys = ", ".join(kept)
                raise UnknownKeyError(f"{where} has the key {shown_json(name)}; known: {keys}")
            _require_known(value, kept[name], where=name)
    elif isinstance(given, list) and isinstance(kept, list):
        for number, (item, other) in enumerate(zip(given, kept, strict=True)):
            _require_known(item, other, where=f"{where}[{number}]")


def _key(annotator: str, row: RowKey) -> MarkKey:
    return MarkKey(
        annotator=annotator,
        segment=row.id,
        system=row.system,
        task=row.task,
        aspect=row.aspect,
        version=row.output,
    )


def _read(stored: StoredMark) -> Mark | None:
    try:
        return mark_of_json(stored.content)
    except DataError:
        return None


def _shown(stored: StoredMark) -> dict[str, object]:
    return {"revision": stored.revision, **json.loads(stored.content)}


def nothing_marked() -> dict[str, object]:
    """Return an empty mark, ready for JSON."""
    return {"revision": 0, **json.loads(mark_json(Mark()))}
