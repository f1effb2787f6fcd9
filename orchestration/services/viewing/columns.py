"""Columns: what is filtered, sorted and counted of every row of a run, a few bytes each."""

import math
from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from spanjury.judges.core import Decision, Outcome
from spanjury.orchestration.services.viewing.texts import Row

H = TypeVar("H", bound=Hashable)

OUTCOMES = tuple(outcome.value for outcome in Outcome)
DECISIONS = tuple(decision.value for decision in Decision)
NOTHING = -1
"""The number of what is not there."""

_OUTCOMES = {name: number for number, name in enumerate(OUTCOMES)}
_DECISIONS: dict[str | None, int] = {name: number for number, name in enumerate(DECISIONS)}


class Numbered(Generic[H]):
    """Values that are numbered as they first come."""

    def __init__(self) -> None:
        self.values: list[H] = []
        self._numbers: dict[H, int] = {}

    def __len__(self) -> int:
        return len(self.values)

    def of(self, value: H) -> int:
        """Return the number of a value, a new one if it was never there."""
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = len(self.values)
            self.values.append(value)
        return number


@dataclass(slots=True)
class Names:
    """The names in the rows of all runs that are viewed together, by number."""

    systems: Numbered[str] = field(default_factory=Numbered)
    aspects: Numbered[tuple[str, str]] = field(default_factory=Numbered)
    """Task and aspect."""
    categories: Numbered[str] = field(default_factory=Numbered)
    judges: Numbered[str] = field(default_factory=Numbered)
    sets: Numbered[tuple[int, ...]] = field(default_factory=Numbered)
    """Sets of categories or judges, of which there are few."""


class RunColumns:
    """The columns of one run, row by row in the order of its file."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.ids: list[str] = []
        self.offsets = array("Q")
        self.systems = array("I")
        self.aspects = array("I")
        self.judges: list[str] = []
        """The seats, as they first come."""
        self.signature = ""
        self.has_calls = False
        """True if a model was asked in any row."""
        self._outcomes = array("b")
        self._scores = array("d")
        self._decisions = array("b")
        self._spans = array("I")
        self._severities = array("b")
        self._disagreements = array("d")
        self._categories = array("I")
        self._found_by = array("I")

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, row: Row, *, offset: int) -> None:
        """Take a row whose line begins at a place of the file."""
        names = self.names
        self.signature = self.signature or row.signature
        self.ids.append(self.ids[-1] if self.ids and self.ids[-1] == row.id else row.id)
        self.systems.append(names.systems.of(row.system))
        self.aspects.append(names.aspects.of((row.task, row.aspect)))
        self._outcomes.append(_OUTCOMES.get(row.outcome, NOTHING))
        self._scores.append(math.nan if row.score is None else row.score)
        self._decisions.append(_DECISIONS.get(row.decision, NOTHING))
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
        """Return the columns of some rows, ready for JSON; `NOTHING` is a row it has not got."""
        sets = self.names.sets.values
        return {
            "outcome": [_number_or_none(self._outcomes[row]) if row >= 0 else None for row in rows],
            "score": [_number(self._scores[row]) if row >= 0 else None for row in rows],
            "decision": [
                _number_or_none(self._decisions[row]) if row >= 0 else None for row in rows
            ],
            "spans": [self._spans[row] if row >= 0 else 0 for row in rows],
            "severity": [self._severities[row] if row >= 0 else 0 for row in rows],
            "disagreement": [
                _number(self._disagreements[row]) if row >= 0 else None for row in rows
            ],
            "categories": [sets[self._categories[row]] if row >= 0 else () for row in rows],
            "judges": [sets[self._found_by[row]] if row >= 0 else () for row in rows],
        }


NO_COLUMNS = {
    name: list[object]()
    for name in (
        *("outcome", "score", "decision", "spans", "severity"),
        *("disagreement", "categories", "judges"),
    )
}
"""The columns of a run that are not to be seen."""


def _number_or_none(number: int) -> int | None:
    return None if number == NOTHING else number


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
