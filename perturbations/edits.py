"""Edits: where a text was damaged and by what, so that it can be done again and looked for."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from spanjury.judges.text.words import words

__all__ = ["Damage", "Edit", "edits_between"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """One replacement in a clean text.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the clean text; equal for an insertion.
    text
        What stands there afterwards; empty for a deletion.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A damaged text, and how it came about.

    Parameters
    ----------
    clean
        The text before.
    edits
        What was done to it, in order, without overlap.

    Raises
    ------
    ValueError
        If an edit lies outside the text, before or over the one that precedes it.
    """

    clean: str
    edits: tuple[Edit, ...]

    def __post_init__(self) -> None:
        reached = 0
        for edit in self.edits:
            if not reached <= edit.start <= edit.end <= len(self.clean):
                raise ValueError(f"{edit!r} does not lie in {reached} to {len(self.clean)}")
            reached = edit.end

    @classmethod
    def of(cls, clean: str, edits: Iterable[Edit]) -> "Damage":
        """Return what `edits`, in any order, do to `clean`; those without effect are left out."""
        effective = (_of_ints(edit) for edit in edits if clean[edit.start : edit.end] != edit.text)
        return cls(clean=clean, edits=tuple(sorted(effective, key=lambda e: (e.start, e.end))))

    @property
    def text(self) -> str:
        """The damaged text."""
        return "".join(self._pieces())

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Where the damage is, as half-open offsets in code points of the damaged text.

        What was deleted has left no text: its place is empty, between its old neighbours.
        """
        found = []
        shift = 0
        for edit in self.edits:
            start = edit.start + shift
            found.append((start, start + len(edit.text)))
            shift += len(edit.text) - (edit.end - edit.start)
        return tuple(found)

    def carried(self, start: int, end: int) -> tuple[int, int]:
        """Return where ``[start, end)`` of the clean text has come to in the damaged one.

        What was replaced within it is taken along; what is left of a place that was
        deleted is empty.
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

    def _pieces(self) -> Iterator[str]:
        reached = 0
        for edit in self.edits:
            yield self.clean[reached : edit.start]
            yield edit.text
            reached = edit.end
        yield self.clean[reached:]


def _of_ints(edit: Edit) -> Edit:
    """Take numpy's integers, which random numbers come as, for what they are."""
    if type(edit.start) is int and type(edit.end) is int:
        return edit
    return Edit(start=int(edit.start), end=int(edit.end), text=edit.text)


def edits_between(clean: str, damaged: str) -> tuple[Edit, ...]:
    """Find edits, word by word, that make `damaged` of `clean`.

    For texts that a model or a plugin has rewritten without telling where.
    """
    before, after = _tokens(clean), _tokens(damaged)
    matcher = SequenceMatcher(
        a=[clean[start:end] for start, end in before],
        b=[damaged[start:end] for start, end in after],
        autojunk=False,
    )
    edits = []
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag != "equal":
            start = before[first][0] if first < len(before) else len(clean)
            end = before[last - 1][1] if last > first else start
            new = after[new_first:new_last]
            text = damaged[new[0][0] : new[-1][1]] if new else ""
            edits.append(Edit(start=start, end=end, text=text))
    return tuple(edits)


def _tokens(text: str) -> list[tuple[int, int]]:
    """Return the intervals of words and of what lies between them, without a gap."""
    bounds = [0]
    for word in words(text):
        bounds += [word.start, word.end]
    bounds.append(len(text))
    return [(start, end) for start, end in pairwise(bounds) if start < end]
