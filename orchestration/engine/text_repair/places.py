"""Passages: the marked parts of a text that a repair may change, and their replacements.

A repaired text differs from the previous one only inside its passages, except for blanks and full
stops that a deletion would leave behind.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from spanjury.judges.core import ErrorSpan, Result, Segment
from spanjury.judges.core.transcript import edited_trajectory, segment_of

_BEGINNING = re.compile(r"(?:\A|[.!?…\n][\"'”’)]*)\s*\Z")
"""Matches the text before a passage at the beginning of a sentence."""
_STOP = re.compile(r"[.!?…]+")
_CLOSING = " \n,.;:!?…)"
"""Characters before which a blank is superfluous."""


class Marked(NamedTuple):
    """An error span and the aspect on which it was marked."""

    aspect: str
    span: ErrorSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPassage:
    """A passage of a text that error spans mark; overlapping spans make one passage.

    Parameters
    ----------
    number
        From 1, in the order of the text.
    start, end
        Half-open offsets in code points.
    text
        The text of the passage.
    errors
        The errors in it.
    """

    number: int
    start: int
    end: int
    text: str
    errors: tuple[Marked, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanEdit:
    """One passage before and after its replacement.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the text before.
    before, after
        The old and the new text; `after` is empty for a deletion.
    errors
        The errors in the old text.
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


def passages_in(text: str, errors: Iterable[Marked]) -> tuple[MarkedPassage, ...]:
    """Return the passages of `text` that `errors` mark; errors without offsets are ignored."""
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
    return tuple(_passage(text, number, group) for number, group in enumerate(groups, start=1))


def edits_of(
    text: str, passages: Sequence[MarkedPassage], texts: Mapping[int, str]
) -> tuple[SpanEdit, ...]:
    """Return the edits that replace passages by `texts`, keyed by number, where a text differs.

    A deletion also removes blanks that it would leave doubled, and the full stop of a sentence that
    it deletes from its beginning; nothing else outside the passages is changed.
    """
    edits = []
    reached = 0
    ends = (*(passage.start for passage in passages[1:]), len(text))
    for passage, most in zip(passages, ends, strict=False):
        start, end = passage.start, passage.end
        after = texts.get(passage.number, passage.text)
        if not after:  # a deletion may extend to its surroundings, but not into its neighbours
            start, end = _deleted(text, start, end, least=reached, most=most)
        if after != passage.text:
            before = text[start:end]
            edits.append(
                SpanEdit(start=start, end=end, before=before, after=after, errors=passage.errors)
            )
        reached = end
    return tuple(edits)


def _deleted(text: str, start: int, end: int, *, least: int, most: int) -> tuple[int, int]:
    """Return the interval to delete instead of `start` to `end`, within `least` and `most`."""
    if _BEGINNING.search(text, 0, start) and (stop := _STOP.match(text, end, most)):
        end = stop.end()
    head, tail = text[least:start], text[end:most]
    if not text[:start].strip(" "):  # blanks after it would begin the text
        return start, end + len(tail) - len(tail.lstrip(" "))
    if end == len(text) or text[end] in _CLOSING:  # blanks before it would be superfluous
        return start - len(head) + len(head.rstrip(" ")), end
    return start, end


def edited(text: str, edits: Sequence[SpanEdit]) -> str:
    """Return `text` with its edits, which are in order.

    Raise `ValueError` if they overlap, or do not match this text.
    """
    parts: list[str] = []
    reached = 0
    for edit in edits:
        if edit.start < reached or text[edit.start : edit.end] != edit.before:
            raise ValueError(f"{edit!r} does not fit this text after offset {reached}")
        parts += (text[reached : edit.start], edit.after)
        reached = edit.end
    return "".join([*parts, text[reached:]])


def edited_segment(segment: Segment, edits: Sequence[SpanEdit]) -> Segment:
    """Return `segment` with its edits, in its text or in the turns of its trajectory."""
    if segment.trajectory is None:
        return replace(segment, output=edited(segment.output, edits))
    texts = [(edit.start, edit.end, edit.after) for edit in edits]
    return segment_of(edited_trajectory(segment.trajectory, texts), segment)


def _passage(text: str, number: int, errors: Sequence[Marked]) -> MarkedPassage:
    intervals = [error.span.interval or (0, 0) for error in errors]
    start, end = min(first for first, _ in intervals), max(last for _, last in intervals)
    return MarkedPassage(
        number=number, start=start, end=end, text=text[start:end], errors=tuple(errors)
    )
