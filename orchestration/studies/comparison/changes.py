"""Decisions that differ between two runs on the same texts, worst first."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanjury.judges.core import Decision, counted
from spanjury.orchestration.report import Block, Cell, Entry, Section, left, table_of
from spanjury.orchestration.report.json import fields_of

_SHOWN = 10
"""Changes that a terminal shows."""
_RANKS = {Decision.OK: 0.0, None: 0.5, Decision.UNSURE: 1.0, Decision.FAULTY: 2.0}


class Judged(NamedTuple):
    """The text and the aspect of a result."""

    text: str
    task: str
    aspect: str


Decisions = Mapping[Judged, Decision | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two decisions on one text and aspect that differ; None for no decision."""

    text: str
    task: str
    aspect: str
    first: Decision | None
    second: Decision | None

    @property
    def is_worse(self) -> bool:
        """True if both runs decide, and the second decision is worse."""
        return None not in {self.first, self.second} and self.rise > 0

    @property
    def rise(self) -> float:
        """Second minus first rank, -2 to 2: positive if the second decision is worse."""
        return _RANKS[self.second] - _RANKS[self.first]


def changes(first: Decisions, second: Decisions) -> tuple[Change, ...]:
    """Return the decisions that differ, worst first; what only one run judged is skipped."""
    changed = [
        Change(**judged._asdict(), first=decision, second=second[judged])
        for judged, decision in first.items()
        if judged in second and second[judged] is not decision
    ]
    return tuple(sorted(changed, key=lambda change: -change.rise))


def undecided(first: Decisions, second: Decisions) -> tuple[Judged, ...]:
    """Return the results that only the first run decides, on aspects that both runs judged."""
    aspects = {(judged.task, judged.aspect) for judged in second}
    return tuple(
        judged
        for judged, decision in first.items()
        if decision and (judged.task, judged.aspect) in aspects and not second.get(judged)
    )


def changes_json(changed: Sequence[Change]) -> list[dict[str, object]]:
    """Return changes as objects, lists, strings, booleans and nulls."""
    return [{**fields_of(change), "worse": change.is_worse} for change in changed]


def changes_sections(changed: Sequence[Change]) -> Iterator[Block]:
    """Yield the tables of changed decisions: all for a page, the worst ones for a terminal."""
    title = "Changed decisions"
    shown = changed[:_SHOWN]
    rest = len(changed) - len(shown)
    note = f"and {rest} more; --json or -o lists all of them" if rest else ""
    yield Section(title, [table_of(map(_entries, changed))], only="page")
    yield Section(title, [table_of(map(_entries, shown), note=note)], only="terminal")


def changes_answer(changed: Sequence[Change]) -> str:
    """Return a sentence that counts the changed decisions; empty if there are none."""
    if not changed:
        return ""
    worse = sum(change.is_worse for change in changed)
    return f"{counted(len(changed), 'decision')} changed, {worse} for the worse."


def worsened(changed: Sequence[Change]) -> Iterator[str]:
    """Yield what is not met if no decision may be worse in the second run."""
    worse = [change for change in changed if change.is_worse]
    if worse:
        first = worse[0]
        yield (
            f"no decision is worse in the second run ({len(worse)} worse; worst: {first.text},"
            f" {first.aspect}: {_word(first.first)} -> {_word(first.second)})"
        )


def unanswered(lost: Sequence[Judged]) -> Iterator[str]:
    """Yield what is not met if the second run must decide whatever the first one decides."""
    if lost:
        first = lost[0]
        yield (
            "every result with a decision in the first run has one in the second"
            f" ({len(lost)} {'has' if len(lost) == 1 else 'have'} none; first: {first.text},"
            f" {first.aspect})"
        )


def _entries(change: Change) -> Iterator[Entry]:
    yield left("text", change.text)
    yield left("aspect", change.aspect)
    yield left("first", _word(change.first))
    yield left("second", Cell(_word(change.second), mark="bad" if change.is_worse else None))


def _word(decision: Decision | None) -> str:
    return decision.value if decision else "no decision"
