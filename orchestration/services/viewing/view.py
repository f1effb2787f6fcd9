"""A view of one run, or of two in comparison: rows, search, and all data for a page or its file."""

import gzip
import json
from array import array
from base64 import b64encode
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from itertools import combinations, compress
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Self

import msgspec

from spanjury.judges.core import ConfigError, DataError, EvaluationError, Scale, Segment
from spanjury.orchestration.services.viewing.details import Asked, Comparisons, Details
from spanjury.orchestration.services.viewing.marking import Marking, RowKey, row_key
from spanjury.orchestration.services.viewing.reading import (
    DECISIONS,
    NO_COLUMNS,
    NOTHING,
    OUTCOMES,
    Names,
    Pairing,
    open_readings,
)
from spanjury.orchestration.services.viewing.sources import KnownAspects, ViewedRun
from spanjury.orchestration.services.viewing.texts import TextStore

MOST_COLUMNS = 20_000
"""Most rows in one part of the columns."""
MOST_DETAILS = 200
"""Most rows whose details are returned at once."""
MOST_SEARCHED = 1_000
"""Most characters of a search text."""
_FORMAT = 1
_ROWS_A_PART = 100
"""Number of rows with details in one block."""
_MOST_SYSTEMS = 6
"""Most systems that are compared with each other, since pairs grow quadratically."""
_COLUMNS, _COMPARISONS = "columns", "comparisons"
_JSON = msgspec.json.Encoder()


def rows_holding(pairing: Pairing, text: str, *, count: int, is_blind: bool = False) -> list[int]:
    """Return the numbers of the rows that contain a text, ignoring case, in order.

    The first `count` rows are searched. A blind search covers ids and outputs, but not judges'
    reports.
    """
    needle = text.casefold().encode("utf-8", "replace")
    read = [(run, run.texts[:], run.changed.copy()) for run in pairing.runs]
    # The flags come after the rows, since the thread may read on.
    stores = {run.store for run in pairing.runs if run.store is not None}
    flags = {store: _texts(store, needle) for store in stores}
    held = []
    for run, texts, changed in read:
        of_texts = bytearray(1) if run.store is None else bytearray(flags[run.store])
        for number in changed:
            of_texts[number] = 0
        of_rows = bytearray(map(of_texts.__getitem__, texts))
        for row in () if is_blind else run.reasons.holding(needle):
            if row < len(of_rows):
                of_rows[row] = 1
        held.append(of_rows)
    if len(held) == 1:
        return list(compress(range(count), held[0]))
    of_both = list(zip(held, pairing.rows, strict=True))
    return [
        number
        for number in range(count)
        if any(rows[number] != NOTHING and of_run[rows[number]] for of_run, rows in of_both)
    ]


def _texts(store: TextStore, needle: bytes) -> bytearray:
    """Return flags for texts that contain `needle`; the last flag, at index -1, is for no text."""
    marks = bytearray(len(store) + 1)
    for text in store.holding(needle):
        if text < len(marks) - 1:
            marks[text] = 1
    return marks


def main_store(pairing: Pairing) -> TextStore | None:
    """Return the texts of the first run that has any; inputs of others are not numbered."""
    return next((run.store for run in pairing.runs if run.store is not None), None)


class View:
    """The rows of one run or two, as a context manager with a reader thread.

    Rows are available as they are read. All methods may be called from any thread. Without a
    `title`, the page has the names of the runs. Texts whose id and system are not in `only` are
    left out. Entering raises `ConfigError` if an aspects file cannot be read; `DataError` if
    results or a named file of texts cannot be read, there is no row to show, or two runs have none
    in common; and `StoreError` if there is no room for temporary files.
    """

    def __init__(
        self,
        runs: Sequence[ViewedRun],
        *,
        title: str = "",
        aspects_files: Sequence[Path] = (),
        only: Collection[tuple[str, str]] | None = None,
    ) -> None:
        self._only = only
        self.runs = tuple(runs)
        self.title = title or " and ".join(run.name for run in runs)
        self.marking: Marking | None = None
        """Stores people's marks; None if no marks are made."""
        self._aspects_files = tuple(aspects_files)
        self._stack = ExitStack()
        self._names = Names()
        self._numbers: dict[tuple[str, ...], int] | None = None
        self._sources = array("i")
        """Number of each row's inputs, for the rows read so far; `NOTHING` if unknown."""
        self._problem: EvaluationError | None = None
        """Why reading ended early; None if it did not."""
        self._is_read = False
        self._grown = Condition()
        self._leaving = Event()
        self._thread = Thread(target=self._read, name="rows of a view", daemon=True)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._aspects = KnownAspects(
                self._aspects_files,
                of_runs=[file for run in self.runs for file in run.aspects_files],
                rubrics=[run.rubric for run in self.runs],
            )
            self._pairing = Pairing(
                open_readings(self.runs, stack, names=self._names, only=self._only)
            )
            self._details = Details(self._pairing, self._aspects)
            self._asked = [Asked(run, self._aspects) for run in self.runs]
            self._comparisons = Comparisons(self._pairing, names=self._names, sources=self._sources)
            self._thread.start()
            stack.callback(self._thread.join)
            stack.callback(self._leaving.set)
            self._require_rows()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _read(self) -> None:
        try:
            for _ in self._pairing.read():
                self._add_sources()
                if self._leaving.is_set():
                    return
        except EvaluationError as error:
            self._problem = error
        finally:
            with self._grown:
                self._is_read = True
                self._grown.notify_all()

    def _add_sources(self) -> None:
        """Record the inputs of new rows, which makes the rows available to all threads."""
        main = main_store(self._pairing)
        for number in range(self.rows, len(self._pairing)):
            texts = (text for text in self._pairing.texts(number) if text and text[0] is main)
            self._sources.append(next((store.sources[text] for store, text in texts), NOTHING))
        with self._grown:
            self._grown.notify_all()

    def _require_rows(self) -> None:
        """Wait for the first rows; raise an error if a reader would see nothing useful."""
        pairing, is_alone = self._pairing, len(self.runs) == 1
        with self._grown:
            self._grown.wait_for(
                lambda: self._is_read or (self.rows and (pairing.shared or is_alone))
            )
        if self._problem is not None and not self.rows:
            raise self._problem
        names = " and ".join(run.name for run in self.runs)
        if self._only is not None and not self.rows:
            raise DataError(
                f"no text of {names} is among the rows to show (texts are matched by id and system)"
            )
        if not (is_alone or pairing.shared):
            raise DataError(f"{names} have no row in common: no id, system, task and aspect")
        for run in pairing.runs:
            is_named = run.run.texts is not None and run.run.texts.is_named
            if is_named and run.store is not None and run.store.problem and not len(run.store):
                raise DataError(run.store.problem)

    @property
    def rows(self) -> int:
        """The number of rows read so far."""
        return len(self._sources)

    @property
    def unit(self) -> str:
        """The unit of a row: a result, or an assessment by two runs."""
        return "results" if len(self.runs) == 1 else "assessments"

    @property
    def is_read(self) -> bool:
        """True if all rows are read."""
        return self._is_read

    def wait(self, *, beyond: int | None = None, seconds: float | None = None) -> None:
        """Wait for more than `beyond` rows, or for all; at most `seconds`."""
        with self._grown:
            self._grown.wait_for(
                lambda: self._is_read or (beyond is not None and self.rows > beyond), seconds
            )

    def head(self) -> dict[str, object]:
        """Return the data about the runs as a whole, for JSON."""
        described = [self._aspects.described(*names) for names in self._names.aspects.values]
        is_read = self.is_read
        return {
            "format": _FORMAT,
            "title": self.title,
            "runs": [
                {
                    "name": run.name,
                    "panel": read.columns.signature,
                    "begun": run.begun or None,
                    "is_done": run.is_done,
                    "judges": list(read.columns.judges),
                }
                for run, read in zip(self.runs, self._pairing.runs, strict=True)
            ],
            "aspects": described,
            "outcomes": OUTCOMES,
            "decisions": DECISIONS,
            "rows": self.rows if is_read else None,
            "has_texts": bool(main_store(self._pairing)),
            "has_replies": any(
                run.memory is not None and read.columns.has_calls
                for run, read in zip(self.runs, self._pairing.runs, strict=True)
            ),
            "marking": self.marking and {"annotators": self.marking.annotators()},
            "notes": self.notes(),
            "file": None,
        }

    def notes(self) -> list[str]:
        """Return notes for the reader; more may follow until all rows are read."""
        notes = [note for run in self._pairing.runs for note in run.notes()]
        if self._problem is not None:
            notes.append(str(self._problem))
        return list(dict.fromkeys([*notes, *self._aspects.problems]))

    def columns(
        self, start: int, *, most: int = MOST_COLUMNS, is_blind: bool = False
    ) -> dict[str, object]:
        """Return the columns of the available rows from `start` on, for JSON.

        A blind view leaves out judges' reports.
        """
        is_read = self.is_read  # read before rows are counted, since more may arrive
        rows = self.rows
        end = min(rows, start + most)
        columns = self.columns_of(range(start, end), is_blind=is_blind)
        return {"from": start, "done": is_read and end >= rows, **columns}

    def columns_of(self, numbers: Sequence[int], *, is_blind: bool = False) -> dict[str, object]:
        """Return the columns of some available rows, for JSON; see `columns`."""
        names, rows = self._names, [self._pairing.row_of(number) for number in numbers]
        origins: dict[str, object] = {}
        if not is_blind:
            clean_ids = [run.columns.clean_ids.get(row) for run, row in rows]
            origins = {
                "condition": [run.columns.conditions[row] for run, row in rows],
                "clean": {index: each for index, each in enumerate(clean_ids) if each},
            }
        return {
            "rows": len(numbers),
            "names": {
                "systems": list(names.systems.values),
                "aspects": [self._aspects.described(*aspect) for aspect in names.aspects.values],
                "conditions": list(names.conditions.values),
                "categories": list(names.categories.values),
                "judges": list(names.judges.values),
            },
            "id": [run.columns.ids[row] for run, row in rows],
            "system": [run.columns.systems[row] for run, row in rows],
            "aspect": [run.columns.aspects[row] for run, row in rows],
            "source": [self._sources[number] for number in numbers],
            **origins,
            "runs": [
                NO_COLUMNS if is_blind else run.columns.part([rows[number] for number in numbers])
                for run, rows in zip(self._pairing.runs, self._pairing.rows, strict=True)
            ],
        }

    def details(self, numbers: Sequence[int], *, blind: str = "") -> dict[str, object]:
        """Return the details of some rows, for JSON.

        A `blind` person sees judges' reports only where their own mark is done.

        Raise `ConfigError` if there is no such row, or they are too many, and `DataError` if
        results were rewritten since they were read.
        """
        if len(numbers) > MOST_DETAILS:
            raise ConfigError(f"got {len(numbers)} rows, expected {MOST_DETAILS} at most")
        for number in numbers:
            self._require(number)
        marked = self.marking.marked(blind) if blind and self.marking else {}

        def is_hidden(number: int) -> bool:
            if not blind:
                return False
            key = self.row_key(number)
            return key is None or key not in marked or not marked[key].is_done

        return self._details.of(numbers, is_hidden=is_hidden)

    def _require(self, number: int) -> None:
        if not 0 <= number < self.rows:
            raise ConfigError(f"there is no row {number}: there are {self.rows}, from 0")

    def search(self, text: str, *, is_blind: bool = False) -> list[int]:
        """Return the numbers of the rows that contain a text, ignoring case.

        A blind search covers ids and texts, but not judges' reports.

        Raise `ConfigError` if the search text is too long.
        """
        if len(text) > MOST_SEARCHED:
            raise ConfigError(f"got {len(text)} characters, expected {MOST_SEARCHED} at most")
        return rows_holding(self._pairing, text, is_blind=is_blind, count=self.rows)

    def asked(self, number: int, *, run: int = 0) -> dict[str, object]:
        """Return the prompts and replies about a row in a run, for JSON.

        Raise `ConfigError` if there is no such row or run.
        """
        self._require(number)
        if not 0 <= run < len(self.runs):
            raise ConfigError(f"there is no run {run}: there are {len(self.runs)}, from 0")
        task, aspect = self._details.aspect(number)
        unasked = self._details.unasked(number, run=run)
        segment = self.segment(number)
        return self._asked[run].of(segment, task=task, aspect=aspect, unasked=unasked)

    def comparison(self, first: str, second: str) -> dict[str, object]:
        """Compare two runs or two systems, for JSON; waits until all rows are read.

        Raise `ConfigError` if there is no such run or system.
        """
        self.wait()
        return self._comparisons.of(first, second)

    def systems(self) -> list[str]:
        """Return the names of the systems so far."""
        return list(self._names.systems.values)

    def worst(self, count: int) -> list[int]:
        """Return the rows with the lowest scores, worst first; rows without a score come last."""
        self.wait()

        def score(number: int) -> tuple[bool, float]:
            values = [
                run.columns.score(rows[number])
                for run, rows in zip(self._pairing.runs, self._pairing.rows, strict=True)
                if rows[number] != NOTHING
            ]
            scores = [value for value in values if value is not None]
            return not scores, min(scores, default=0.0)

        return sorted(range(self.rows), key=score)[:count]

    def segment(self, number: int) -> Segment | None:
        """Return the text of a row, with its inputs; None if it is unavailable."""
        self._require(number)
        return self._details.segment(number)

    def row_key(self, number: int) -> RowKey | None:
        """Return the key under which marks of a row are stored; None if its text is unavailable."""
        segment = self.segment(number)
        if segment is None:
            return None
        task, aspect = self._details.aspect(number)
        return row_key(segment, task=task, aspect=aspect)

    def scale(self, task: str, aspect: str) -> tuple[float, float]:
        """Return the lowest and the highest score on an aspect's scale."""
        definition = self._aspects.find(task, aspect)
        scale = definition.scale if definition else Scale()
        return scale.low, scale.high

    def number_of(self, key: RowKey) -> int | None:
        """Return the row of a mark's key; None if this view lacks it."""
        self.wait()
        if self._numbers is None:
            self._numbers = {self._name(number): number for number in range(self.rows)}
        number = self._numbers.get(key[:4])
        return number if number is not None and self.row_key(number) == key else None

    def _name(self, number: int) -> tuple[str, ...]:
        run, row = self._pairing.row_of(number)
        columns = run.columns
        system = self._names.systems.values[columns.systems[row]]
        return columns.ids[row], system, *self._names.aspects.values[columns.aspects[row]]


def page_blocks(view: View, *, numbers: Sequence[int]) -> dict[str, str]:
    """Return the blocks of a page by id: its head as JSON, all others compressed.

    Waits for all rows. The page contains the rows in `numbers`, in this order, renumbered from 0.
    """
    view.wait()
    columns = view.columns_of(numbers)
    starts = range(0, len(numbers), _ROWS_A_PART)
    parts = {f"details-{part}": start for part, start in enumerate(starts)}
    blocks = {_COLUMNS: _packed({**columns, "from": 0, "done": True})}
    for name, start in parts.items():
        details = view.details(numbers[start : start + _ROWS_A_PART])
        rows = details["rows"]
        assert isinstance(rows, list)
        renumbered = [{**row, "number": number} for number, row in enumerate(rows, start)]
        blocks[name] = _packed({**details, "rows": renumbered})
    blocks[_COMPARISONS] = _packed([view.comparison(*pair) for pair in _compared(view)])
    head, notes, shown = view.head(), view.notes(), len(numbers)
    if shown < view.rows:
        of = f"{shown} of {view.rows} {view.unit}"
        notes.append(f"this page holds {of}; comparisons are of all of them")
    head |= {
        "rows": shown,
        "has_replies": False,
        "marking": None,
        "notes": notes,
        "file": {
            "columns": _COLUMNS,
            "details": list(parts),
            "rows_a_part": _ROWS_A_PART,
            "comparisons": _COMPARISONS,
        },
    }
    return {"head": _JSON.encode(head).decode(), **blocks}


def _compared(view: View) -> Iterator[tuple[str, str]]:
    """Yield the pairs to compare: two runs, or the systems of one."""
    if len(view.runs) > 1:
        yield "run:0", "run:1"
        return
    names = [f"system:{name}" for name in view.systems()[:_MOST_SYSTEMS]]
    yield from combinations(names, 2)


def _packed(value: object) -> str:
    """Return `value` as a JSON string of base64 of gzip of JSON, deterministically."""
    return json.dumps(b64encode(gzip.compress(_JSON.encode(value), mtime=0)).decode())
