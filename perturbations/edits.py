"""Edits: what was changed in a text and at which offsets, to repeat it and to look for it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

from spanjury.judges.core import Trajectory
from spanjury.judges.text.words import words

_BLANKS_OR_SIGNS = re.compile(r"\s+|\S+")
_interval = attrgetter("start", "end")  # other tuples lack these attributes and are rejected


class Edit(NamedTuple):  # created in a third of the time of a frozen dataclass
    """One replacement in a clean text, at half-open offsets in code points.

    The offsets of an insertion are equal; the text of a deletion is empty.
    """

    start: int
    end: int
    text: str


class Mark(NamedTuple):
    """An error in a damaged text: its half-open offsets in code points, and the reason."""

    start: int
    end: int
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A damaged text, and the edits that produced it.

    Raises `ValueError` if an edit lies outside the text, or before or over the preceding one.

    `clean` is the text before, and `text` the damaged one. The edits are in order and do not
    overlap. A damaged `trajectory`, whose transcript is `text`, has its errors in `marks`. They
    need not be at the edits: a statement is wrong once the result that it rests on is removed.
    """

    clean: str
    edits: tuple[Edit, ...]
    trajectory: Trajectory | None = None
    marks: tuple[Mark, ...] = ()
    text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        clean, length, reached = self.clean, len(self.clean), 0
        pieces: list[str] = []
        for edit in self.edits:
            start, end, text = edit
            if not reached <= start <= end <= length:
                raise ValueError(f"{edit!r} does not lie in {reached} to {length}")
            pieces += (clean[reached:start], text)
            reached = end
        pieces.append(clean[reached:])
        object.__setattr__(self, "text", "".join(pieces))

    @classmethod
    def of(cls, clean: str, edits: Iterable[Edit]) -> "Damage":
        """Return the damage that `edits`, in any order, do to `clean`, without ineffective ones."""
        effective = []
        for edit in edits:
            start, end, text = edit
            if clean[start:end] != text:
                plain = type(start) is type(end) is int
                effective.append(edit if plain else Edit(int(start), int(end), text))
        return cls(clean=clean, edits=tuple(sorted(effective, key=_interval)))

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Intervals of the damage, as half-open offsets in code points of the damaged text.

        A deletion has left no text: its interval is empty, between the former neighbours. The
        intervals of a damaged trajectory are those of its marks.
        """
        if self.marks:
            return tuple((mark.start, mark.end) for mark in self.marks)
        intervals = []
        shift = 0
        for edit in self.edits:
            start = edit.start + shift
            intervals.append((start, start + len(edit.text)))
            shift += len(edit.text) - (edit.end - edit.start)
        return tuple(intervals)

    def carried(self, start: int, end: int) -> tuple[int, int]:
        """Return the position of ``[start, end)`` of the clean text in the damaged one.

        A replacement inside the interval becomes part of it. The interval of deleted text is empty.
        """
        return self._carried(start, before=True), self._carried(end, before=False)

    def _carried(self, offset: int, *, before: bool) -> int:
        shift = 0
        for edit in self.edits:
            if edit.end <= offset and not (before and edit.start == edit.end == offset):
                shift += len(edit.text) - (edit.end - edit.start)
            elif edit.start < offset:  # it lies within what was replaced
                return edit.start + shift + (0 if before else len(edit.text))
        return offset + shift


def edits_between(clean: str, damaged: str) -> tuple[Edit, ...]:
    """Find edits, word by word, that turn `clean` into `damaged`.

    For texts that a model or a plugin has rewritten without saying where. An insertion or a
    deletion begins as late as possible: after the full stop before it, and does not include it.
    """
    before, after = _bounds(clean), _bounds(damaged)
    old, new = _between(before, clean), _between(after, damaged)
    steps = SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes()
    edits = []
    for (tag, i, j, m, n), (_, same, until, *_) in pairwise([*steps, ("", 0, 0, 0, 0)]):
        if tag == "equal":
            continue
        room = until - same
        late = _spare(new, m, n, room=room) if i == j else 0
        late += _spare(old, i, j, room=room) if m == n else 0
        text = damaged[after[m + late] : after[n + late]]
        edits.append(Edit(before[i + late], before[j + late], text))
    return tuple(edits)


def _spare(tokens: Sequence[str], first: int, last: int, *, room: int) -> int:
    """Return how many signs and spaces at the start of ``tokens[first:last]`` also follow it."""
    spare = 0
    while (
        spare < room
        and tokens[first + spare] == tokens[last + spare]
        and not tokens[first + spare][0].isalnum()
    ):
        spare += 1
    return spare


def _bounds(text: str) -> list[int]:
    """Return the starts of words, signs and white space, without gaps, and the last end."""
    bounds = [0]
    for start, end in (*((word.start, word.end) for word in words(text)), (len(text), len(text))):
        bounds += (gap.end() for gap in _BLANKS_OR_SIGNS.finditer(text, bounds[-1], start))
        if start < end:
            bounds.append(end)
    return bounds


def _between(bounds: Sequence[int], text: str) -> list[str]:
    return [text[start:end] for start, end in pairwise(bounds)]
