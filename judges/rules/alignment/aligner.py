"""Word alignment of two sentences: which tokens stand beside one another, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spanjury.judges.rules.alignment.opposites import OPPOSITES
from spanjury.judges.rules.alignment.tokens import Phrase, Token

_SAME = 20  # worth of two equal tokens
_ALIKE = 9  # of two numbers, two weekdays, two opposites: half as much, and a little less
_MOVED = 5  # of two tokens each of which stands elsewhere in the other sentence
_DIAGONAL = 1  # of a pair that follows upon a pair
_KINDS_ALIKE = frozenset(("number", "weekday", "month", "ordinal", "name"))
_CELLS = 5000  # pairs of tokens above which two sentences are not nearly the same anyway
_REACH = 4  # tokens to each side that count for a difference


class Link(NamedTuple):
    """Two tokens side by side, by position in output and source, and whether they are equal."""

    left: int
    right: int
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A sentence of the output beside a sentence of the source.

    Parameters
    ----------
    output, source
        The sentences.
    links
        Pairs of tokens, ascending on both sides.
    """

    output: Phrase
    source: Phrase
    links: Sequence[Link]

    def token(self, at: int) -> tuple[Token, Token]:
        """Return the two tokens of the link `at`."""
        link = self.links[at]
        return self.output.tokens[link.left], self.source.tokens[link.right]

    def region(self, at: int) -> tuple[range, range]:
        """Return the positions behind the link before `at` up to its own, on both sides."""
        link = self.links[at]
        before = self.links[at - 1] if at else None
        return (
            range(before.left + 1 if before else 0, link.left + 1),
            range(before.right + 1 if before else max(0, link.right - link.left), link.right + 1),
        )

    def witnesses(self, at: int) -> int:
        """Count the equal tokens close to the link `at`, on both sides."""
        link = self.links[at]
        return sum(
            other.same
            and other is not link
            and abs(other.left - link.left) <= _REACH
            and abs(other.right - link.right) <= _REACH + 1
            for other in self.links[max(0, at - _REACH) : at + _REACH + 1]
        )

    def equal(self) -> int:
        """Count the equal tokens."""
        return sum(link.same for link in self.links)

    def cover(self) -> float:
        """Share of the output's tokens that stand beside one of the source."""
        return len(self.links) / len(self.output.tokens)

    def source_cover(self) -> float:
        """Share of the source's tokens that stand beside one of the output."""
        return len(self.links) / len(self.source.tokens)


def compare(output: Phrase, source: Phrase) -> Comparison:
    """Align two sentences so that the most is equal."""
    left, right = output.keys, source.keys
    shorter = min(len(left), len(right))
    head = 0
    while head < shorter and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < shorter - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    middle = _aligned(
        output.tokens[head : len(left) - tail], source.tokens[head : len(right) - tail]
    )
    links = [Link(at, at, same=True) for at in range(head)]
    links += [Link(one + head, other + head, same) for one, other, same in middle]
    links += [Link(len(left) - at, len(right) - at, same=True) for at in range(tail, 0, -1)]
    return Comparison(output=output, source=source, links=links)


def _aligned(left: Sequence[Token], right: Sequence[Token]) -> list[Link]:
    """Align by dynamic programming: the links of the greatest worth together."""
    if not 0 < len(left) * len(right) <= _CELLS:
        return []
    worths = _worths(left, right)
    best = [[0] * (len(right) + 1)]
    for row in worths:
        above, current, reached = best[-1], [0], 0
        for at, worth in enumerate(row):
            reached = max(reached, above[at + 1])
            if worth and above[at] + worth > reached:
                reached = above[at] + worth
            current.append(reached)
        best.append(current)
    return list(_traced(best, worths))[::-1]


def _traced(best: Sequence[Sequence[int]], worths: Sequence[Sequence[int]]) -> Iterator[Link]:
    """Yield the links from the last to the first."""
    at, other = len(worths), len(worths[0])
    while at and other:
        worth = worths[at - 1][other - 1]
        if worth and best[at][other] == best[at - 1][other - 1] + worth:
            at, other = at - 1, other - 1
            yield Link(at, other, worth >= _SAME)
        elif best[at][other] == best[at - 1][other]:
            at -= 1
        else:
            other -= 1


def _worths(left: Sequence[Token], right: Sequence[Token]) -> list[list[int]]:
    """Return the worth of each pair; 0 where two tokens cannot stand beside one another."""
    keys = [token.key for token in right]
    kinds = [token.kind for token in right]
    held = {token.key for token in left}
    known = set(keys)
    moved = [_MOVED if name in held else 0 for name in keys]
    plain = [0] * len(keys)
    rows = []
    for token in left:
        name, kind = token.key, token.kind
        opposites = OPPOSITES.get(name)
        row = (moved if name in known else plain).copy()
        if kind in _KINDS_ALIKE:
            row = [
                _ALIKE if other == kind else worth for other, worth in zip(kinds, row, strict=True)
            ]
        if opposites:
            row = [
                _ALIKE if other in opposites else worth
                for other, worth in zip(keys, row, strict=True)
            ]
        if name in known:
            row = [
                _SAME if other == name else worth for other, worth in zip(keys, row, strict=True)
            ]
        rows.append(row)
    return rows
