"""Runs read side by side: their rows are paired, matched to their texts, and put into columns."""

import math
from array import array
from collections import deque
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Generic, TypeVar

from spanjury.judges.core import DataError, Decision, Outcome
from spanjury.orchestration.services.viewing.sources import ViewedRun
from spanjury.orchestration.services.viewing.texts import (
    UNKNOWN_ORIGIN,
    Caught,
    Origin,
    ResultLines,
    Row,
    TextStore,
)
from spanjury.orchestration.studies.sources import name_of
from spanjury.orchestration.wiring.runs import PART, Spool, open_spool

H = TypeVar("H", bound=Hashable)

OUTCOMES = tuple(outcome.value for outcome in Outcome)
DECISIONS = tuple(decision.value for decision in Decision)
NOTHING = -1
"""The number of a missing item."""

_OUTCOMES = {name: number for number, name in enumerate(OUTCOMES)}
_DECISIONS: dict[str | None, int] = {name: number for number, name in enumerate(DECISIONS)}
_Key = tuple[str, int, int]
Text = tuple[TextStore, int]
"""A text by its store and its number there."""
NO_COLUMNS = {
    name: list[object]()
    for name in (
        *("outcome", "score", "decision", "error_probability", "spans", "severity"),
        *("disagreement", "categories", "judges", "caught"),
    )
}
"""The columns of a run whose results are hidden."""


class Numbered(Generic[H]):
    """Values that are numbered in order of first occurrence."""

    def __init__(self) -> None:
        self.values: list[H] = []
        self._numbers: dict[H, int] = {}

    def of(self, value: H) -> int:
        """Return the number of a value; a new value gets the next number."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


@dataclass(slots=True)
class Names:
    """The names in the rows of all runs of a view, by number."""

    systems: Numbered[str] = field(default_factory=Numbered)
    aspects: Numbered[tuple[str, str]] = field(default_factory=Numbered)
    """Task and aspect."""
    conditions: Numbered[str] = field(default_factory=Numbered)
    categories: Numbered[str] = field(default_factory=Numbered)
    judges: Numbered[str] = field(default_factory=Numbered)
    sets: Numbered[tuple[int, ...]] = field(default_factory=Numbered)
    """Sets of categories or judges, of which there are few."""


class RunColumns:
    """The columns of one run, in the row order of its file."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.ids: list[str] = []
        self.offsets = array("Q")
        self.systems = array("I")
        self.aspects = array("I")
        self.conditions = array("I")
        self.clean_ids: dict[int, str] = {}
        """Row -> id of the text that its text was made from, if known."""
        self.judges: list[str] = []
        """The seats, in order of first occurrence."""
        self.signature = ""
        self.has_calls = False
        """True if any row used a model."""
        self._outcomes = array("b")
        self._scores = array("d")
        self._decisions = array("b")
        self._probabilities = array("d")
        self._spans = array("I")
        self._severities = array("b")
        self._disagreements = array("d")
        self._categories = array("I")
        self._found_by = array("I")
        self._caught = array("b")

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, row: Row, *, offset: int, origin: Origin, caught: Caught | None) -> None:
        """Add a row whose line begins at `offset`, with what its text reveals."""
        names = self.names
        self.conditions.append(names.conditions.of(origin.condition))
        if origin.clean_id:
            self.clean_ids[len(self)] = origin.clean_id
        self._caught.append(NOTHING if caught is None else caught)
        self.signature = self.signature or row.signature
        self.ids.append(self.ids[-1] if self.ids and self.ids[-1] == row.id else row.id)
        self.systems.append(names.systems.of(row.system))
        self.aspects.append(names.aspects.of((row.task, row.aspect)))
        self._outcomes.append(_OUTCOMES.get(row.outcome, NOTHING))
        self._scores.append(math.nan if row.score is None else row.score)
        self._decisions.append(_DECISIONS.get(row.decision, NOTHING))
        probability = row.error_probability
        self._probabilities.append(math.nan if probability is None else probability)
        self._add_spans(row)
        self._add_seats(row)
        self.offsets.append(offset)

    def _add_spans(self, row: Row) -> None:
        names, spans = self.names, row.spans
        self._spans.append(len(spans))
        self._severities.append(max((span.severity or 0 for span in spans), default=0))
        categories = {names.categories.of(span.category) for span in spans if span.category}
        judges = {names.judges.of(judge) for span in spans for judge in span.found_by}
        self._categories.append(names.sets.of(tuple(sorted(categories))))
        self._found_by.append(names.sets.of(tuple(sorted(judges))))

    def _add_seats(self, row: Row) -> None:
        for seat in row.seats:
            self.has_calls = self.has_calls or seat.usage.calls > 0
            if seat.judge not in self.judges:
                self.judges.append(seat.judge)
                self.names.judges.of(seat.judge)
        scores = [seat.score for seat in row.seats if seat.score is not None]
        apart = max(scores) - min(scores) if len(scores) > 1 else math.nan
        self._disagreements.append(apart)

    def score(self, row: int) -> float | None:
        """Return the score of a row."""
        return _number(self._scores[row])

    def part(self, rows: Sequence[int]) -> dict[str, object]:
        """Return the columns of some rows, ready for JSON; `NOTHING` stands for a missing row."""
        sets = self.names.sets.values
        return {
            "outcome": [_number_or_none(self._outcomes[row]) if row >= 0 else None for row in rows],
            "score": [_number(self._scores[row]) if row >= 0 else None for row in rows],
            "decision": [
                _number_or_none(self._decisions[row]) if row >= 0 else None for row in rows
            ],
            "error_probability": [
                _number(self._probabilities[row]) if row >= 0 else None for row in rows
            ],
            "spans": [self._spans[row] if row >= 0 else 0 for row in rows],
            "severity": [self._severities[row] if row >= 0 else 0 for row in rows],
            "disagreement": [
                _number(self._disagreements[row]) if row >= 0 else None for row in rows
            ],
            "categories": [sets[self._categories[row]] if row >= 0 else () for row in rows],
            "judges": [sets[self._found_by[row]] if row >= 0 else () for row in rows],
            "caught": [_number_or_none(self._caught[row]) if row >= 0 else None for row in rows],
        }


def _number_or_none(number: int) -> int | None:
    return None if number == NOTHING else number


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value


class RunReading:
    """One run while it is read: its columns, the offsets of its rows, its texts.

    `store` is None if the file of the texts is unknown; `reasons` is a temporary file with the text
    to search. Rows of texts outside `only` are left out.
    """

    def __init__(
        self,
        run: ViewedRun,
        *,
        lines: ResultLines,
        names: Names,
        store: TextStore | None,
        reasons: Spool,
        only: Collection[tuple[str, str]] | None = None,
    ) -> None:
        self.run = run
        self._only = only
        self.lines = lines
        self.columns = RunColumns(names)
        self.store = store
        self.reasons = reasons
        self.texts = array("i")
        """Number of each row's text in the store; `NOTHING` if it has none."""
        self.changed: set[int] = set()
        """Texts that do not match the quotes of some row."""
        self.without_text = 0
        """Number of rows whose id is not in the data."""

    def pieces(self) -> Iterator[range]:
        """Read on, and yield the range of row numbers of each piece."""
        for piece in self.lines.pieces():
            first = len(self.columns)
            for offset, row in piece:
                if self._only is None or name_of(row.id, row.system) in self._only:
                    self._add(row, offset=offset)
            yield range(first, len(self.columns))

    def _add(self, row: Row, *, offset: int) -> None:
        store = self.store
        text = NOTHING if store is None else self._text(row, store)
        self.texts.append(text)
        origin, caught = UNKNOWN_ORIGIN, None
        if store is not None and text != NOTHING:
            origin = store.origin(text)
            if text not in self.changed:
                caught = store.caught(text, aspect=row.aspect, spans=row.spans)
        parts = [row.id, row.reason]
        parts += [part for span in row.spans for part in (span.text, span.explanation)]
        self.reasons.put("\n".join(parts).casefold().encode("utf-8", "replace"))
        self.columns.add(row, offset=offset, origin=origin, caught=caught)

    def _text(self, row: Row, store: TextStore) -> int:
        text = store.number(row.id)
        if text is None:
            self.without_text += 1
            return NOTHING
        if text not in self.changed and not store.fits(text, system=row.system, spans=row.spans):
            self.changed.add(text)
        return text

    def text(self, row: int) -> int | None:
        """Return the number of a row's text if it is available and is the one that was judged."""
        text = self.texts[row]
        return None if text == NOTHING or text in self.changed else text

    def line(self, row: int) -> bytes:
        """Return the line of a row; raise `DataError` if it is no longer there."""
        columns = self.columns
        _, aspect = columns.names.aspects.values[columns.aspects[row]]
        return self.lines.line(columns.offsets[row], of=(columns.ids[row], aspect))

    def notes(self) -> Iterator[str]:
        """Yield notes on missing rows and texts."""
        run = self.run
        if run.results.suffix == PART:
            yield f"{run.name} is not at its end: its rows are shown as far as they go"
        elif not run.is_done:
            yield f"{run.name} is not done: a resume may answer more"
        yield from self.lines.notes()
        if run.texts is None:
            yield (
                f"{run.name}: the file of its texts is unknown: name it with --data FILE to see "
                "them"
            )
            return
        data = run.texts.data
        if self.store is not None and self.store.problem:
            yield f"the texts of {run.name} cannot be read: {self.store.problem}"
        elif self.without_text:
            count = self.without_text
            yield f"{count} rows of {run.name} have no text: their ids are not in {data}"
        if self.changed:
            yield (
                f"{len(self.changed)} texts in {data} are others than {run.name} judged, as quotes"
                " of their spans are not at their places: they are not shown; texts without a"
                " quote cannot be checked"
            )


class Pairing:
    """The rows of a view: those of the first run, in order, then those that only the second has.

    Rows of two runs are paired if task, aspect and the name of their text (`name_of`) are the same.
    """

    def __init__(self, runs: Sequence[RunReading]) -> None:
        self.runs = runs
        self.shared = 0
        """Number of rows so far that both runs have."""
        self.rows = tuple(array("i") for _ in runs)
        """For each run, the number of its row; `NOTHING` if it has none."""

    def __len__(self) -> int:
        return len(self.rows[-1])

    def read(self) -> Iterator[None]:
        """Read all runs step by step; each step may add rows."""
        if len(self.runs) == 1:
            for piece in self.runs[0].pieces():
                self.rows[0].extend(piece)
                yield
            return
        yield from self._read_two()

    def _read_two(self) -> Iterator[None]:
        """Read two runs side by side; a row is added once its partner is found or cannot exist."""
        first, second = self.runs
        waiting: deque[int] = deque()
        left: dict[_Key, int] = {}
        again: list[int] = []  # duplicate rows of the second run
        for of_first, of_second in zip_longest(first.pieces(), second.pieces(), fillvalue=()):
            waiting.extend(of_first)
            keys = [(_key(second.columns, row), row) for row in of_second]
            again += [row for key, row in keys if left.setdefault(key, row) != row]
            while waiting and (key := _key(first.columns, waiting[0])) in left:
                self._add(waiting.popleft(), left.pop(key))
            yield
        for row in waiting:
            self._add(row, left.pop(_key(first.columns, row), NOTHING))
        for row in (*left.values(), *again):
            self._add(NOTHING, row)
        yield

    def _add(self, first: int, second: int) -> None:
        self.shared += NOTHING not in {first, second}
        self.rows[0].append(first)
        self.rows[1].append(second)

    def row_of(self, number: int) -> tuple[RunReading, int]:
        """Return the first run that has a row, and the row's number there."""
        return next(
            (run, rows[number])
            for run, rows in zip(self.runs, self.rows, strict=True)
            if rows[number] != NOTHING
        )

    def text(self, number: int) -> Text | None:
        """Return a row's text; None if it is missing, or two runs judged different texts."""
        texts = self.texts(number)
        return texts[0] if len(texts) == 1 else None

    def texts(self, number: int) -> list[Text | None]:
        """Return the text of a row, or both texts if two runs judged different ones.

        A text that is missing, or is not the one that was judged, is None.
        """
        texts: list[Text | None] = []
        for run, rows in zip(self.runs, self.rows, strict=True):
            row = rows[number]
            if row != NOTHING and run.store is not None and run.texts[row] != NOTHING:
                text = run.text(row)
                texts.append(None if text is None else (run.store, text))
        contents = {text and text[0].digests[text[1]] for text in texts}
        return texts if len(contents) > 1 else (texts[:1] or [None])


def open_readings(
    runs: Sequence[ViewedRun],
    stack: ExitStack,
    *,
    names: Names,
    only: Collection[tuple[str, str]] | None = None,
) -> tuple[RunReading, ...]:
    """Open the files of runs until the stack is closed; runs of the same texts share them.

    If `only` is given, texts outside it are left out.

    Raise `DataError` if results cannot be read, and `StoreError` without room for temporary files.
    """
    stores: dict[object, TextStore] = {}
    readings = []
    for run in runs:
        if run.texts is not None and run.texts not in stores:
            spools = [stack.enter_context(open_spool()) for _ in range(3)]
            segments, inputs, folded = spools
            stores[run.texts] = TextStore(
                run.texts, segments=segments, inputs=inputs, folded=folded
            )
        readings.append(
            RunReading(
                run,
                lines=_opened(run.results, stack),
                names=names,
                store=stores.get(run.texts),
                reasons=stack.enter_context(open_spool()),
                only=only,
            )
        )
    return tuple(readings)


def _opened(results: Path, stack: ExitStack) -> ResultLines:
    try:
        return ResultLines(results, stack.enter_context(results.open("rb")))
    except OSError as error:
        raise DataError(f"{results}: cannot be read: {error.strerror}") from error


def _key(columns: RunColumns, row: int) -> _Key:
    system = columns.systems[row]
    own_id, _ = name_of(columns.ids[row], columns.names.systems.values[system])
    return own_id, system, columns.aspects[row]
