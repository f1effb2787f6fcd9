"""Phrases of an output that stand elsewhere in a reference, and their move to that place."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

__all__ = ["Shift", "alike_places", "find_shifts", "misplaced_phrases", "shifted"]

_FAR = 50  # words that a phrase is moved at most, as in TER
_TRIED = 50  # phrases that are tried at a time, the longest first


class Shift(NamedTuple):
    """Move words ``[start, end)`` before the word that stands at `to`."""

    start: int
    end: int
    to: int


def shifted(words: Sequence[str], shift: Shift) -> list[str]:
    """Return `words` in their new order.

    Examples
    --------
    >>> shifted(["c", "a", "b"], Shift(0, 1, 3))
    ['a', 'b', 'c']
    """
    start, end, to = shift
    moved = words[start:end]
    if to <= start:
        return [*words[:to], *moved, *words[to:start], *words[end:]]
    return [*words[:start], *words[end:to], *moved, *words[to:]]


def find_shifts(output: Sequence[str], reference: Sequence[str], *, likeness: float) -> list[Shift]:
    """Find the longest phrases that are alike and not in their place, the longest first.

    Their place is where the word of the reference that they begin with is aligned to.
    """
    alike = alike_places(output, reference, likeness=likeness)
    return misplaced_phrases(output, reference, alike=alike)


def alike_places(
    output: Sequence[str], reference: Sequence[str], *, likeness: float
) -> dict[str, list[int]]:
    """Return for each word of the output where the reference has a word like it, in order.

    `likeness` is the share of the longer word's characters that may differ, in 0-1.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(reference):
        places.setdefault(word, []).append(place)
    alike = {word: places.get(word, []) for word in output}
    ours, theirs = _long_words(alike, likeness=likeness), _long_words(places, likeness=likeness)
    if ours and theirs:
        apart = cdist(ours, theirs, scorer=Levenshtein.normalized_distance, score_cutoff=likeness)
        for word, near in zip(ours, apart <= likeness, strict=True):
            others = [theirs[column] for column in np.flatnonzero(near).tolist()]
            if others and others != [word]:
                alike[word] = sorted(place for other in others for place in places[other])
    return alike


def _long_words(words: Iterable[str], *, likeness: float) -> list[str]:
    """Return those that another word may be like, which of short ones only they themselves are.

    Where one character differs, the longer word has to have 1 / `likeness`; the other one may
    be shorter by that share.
    """
    if not likeness:
        return []
    shortest = math.floor((1.0 - likeness) / likeness)
    return [word for word in words if len(word) >= shortest]


def misplaced_phrases(
    output: Sequence[str], reference: Sequence[str], *, alike: Mapping[str, Sequence[int]]
) -> list[Shift]:
    """Do what `find_shifts` does, with what `alike_places` found for the words of `output`."""
    places = _places(output, reference)
    known = {word: frozenset(alike_to) for word, alike_to in alike.items()}
    found: list[tuple[int, int, int]] = []
    before: frozenset[int] = frozenset()
    for at, word in enumerate(output):
        for of in alike[word]:
            # A run that goes on from the words before is part of a longer one.
            if of - 1 in before or places[of] == at or abs(places[of] - at) > _FAR:
                continue
            end, then = at + 1, of + 1
            while end < len(output) and then in known[output[end]]:
                end, then = end + 1, then + 1
            if not at <= places[of] <= end:
                found.append((at - end, at, of))
        before = known[word]
    return [Shift(at, at - less, places[of]) for less, at, of in sorted(found)[:_TRIED]]


def _places(output: Sequence[str], reference: Sequence[str]) -> list[int]:
    """Return for each word of the reference where it stands, or would stand, in the output."""
    places = [0] * len(reference)
    for block in Levenshtein.opcodes(output, reference):
        for at in range(block.dest_start, block.dest_end):
            places[at] = min(block.src_start + at - block.dest_start, block.src_end)
    return places
