"""Places: the marked stretches of a text that a repair may change, and what stands there after.

It promises that a repaired text differs from the one before inside its places only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanjury.judges.core import ErrorSpan, Result


class Marked(NamedTuple):
    """An error span, and the aspect on which it is one."""

    aspect: str
    span: ErrorSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A stretch of a text that error spans mark; spans that overlap make one place.

    Parameters
    ----------
    number
        From 1, in the order of the text.
    start, end
        Half-open offsets in code points.
    text
        What stands there.
    errors
        What is wrong with it.
    """

    number: int
    start: int
    end: int
    text: str
    errors: tuple[Marked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEdit:
    """One place before and after its replacement.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the text before.
    before, after
        What stood there, and what stands there now; `after` is empty for a deletion.
    errors
        What was wrong with it.
    """

    start: int
    end: int
    before: str
    after: str
    errors: tuple[Marked, ...] = ()


def marked_in(results: Iterable[Result]) -> tuple[Marked, ...]:
    """Return the errors of all reports, aspect by aspect."""
    return tuple(
        Marked(result.aspect.name, span) for result in results for span in result.report.spans
    )


def places_in(text: str, errors: Iterable[Marked]) -> tuple[Place, ...]:
    """Return the places that `errors` mark in `text`; an error without a place makes none."""
    located = sorted(
        (error for error in errors if error.span.interval),
        key=lambda error: error.span.interval or (0, 0),
    )
    groups: list[list[Marked]] = []
    reached = 0
    for error in located:
        start, end = error.span.interval or (0, 0)
        if groups and start < reached:
            groups[-1].append(error)
        else:
            groups.append([error])
        reached = max(reached, end)
    return tuple(_place(text, number, group) for number, group in enumerate(groups, start=1))


def edits_of(places: Sequence[Place], texts: Mapping[int, str]) -> tuple[SpanEdit, ...]:
    """Return the edits that put `texts`, by number, into their places; the same text is no edit."""
    return tuple(
        SpanEdit(
            start=place.start,
            end=place.end,
            before=place.text,
            after=texts[place.number],
            errors=place.errors,
        )
        for place in places
        if texts.get(place.number, place.text) != place.text
    )


def edited(text: str, edits: Sequence[SpanEdit]) -> str:
    """Return `text` with its edits, which come in order.

    Raise `ValueError` if they overlap, or are not edits of this text.
    """
    kept, put, reached = [], [], 0
    for edit in edits:
        if edit.start < reached or text[edit.start : edit.end] != edit.before:
            raise ValueError(f"{edit!r} is no edit of this text behind {reached}")
        kept.append(text[reached : edit.start])
        put.append(edit.after)
        reached = edit.end
    kept.append(text[reached:])
    return "".join(part for pair in zip(kept, [*put, ""], strict=True) for part in pair)


def _place(text: str, number: int, errors: Sequence[Marked]) -> Place:
    intervals = [error.span.interval or (0, 0) for error in errors]
    start, end = min(first for first, _ in intervals), max(last for _, last in intervals)
    return Place(number=number, start=start, end=end, text=text[start:end], errors=tuple(errors))
