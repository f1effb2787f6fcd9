"""Word alignment of two sentences: pairs of corresponding tokens, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from spanjury.judges.rules.alignment.opposites import OPPOSITES
from spanjury.judges.rules.alignment.tokens import VALUES, Phrase, Token

_SAME = 20  # worth of two equal tokens
_ALIKE = 9  # worth of two numbers, two weekdays, two opposites: just below half of `_SAME`
_MOVED = 5  # worth of two tokens that each occur elsewhere in the other sentence
_KINDS_ALIKE = VALUES | {"name"}
_NONE: frozenset[str] = frozenset()
_CELLS = 5000  # maximum pairs of tokens; longer sentences are hardly near copies
_INTRODUCTION = 4  # maximum tokens of an introductory phrase
_REACH = 4  # tokens to each side that can confirm a difference


class Link(NamedTuple):
    """Two aligned tokens, by position in output and source, and whether they are equal."""

    left: int
    right: int
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A sentence of the output aligned with a sentence of the source.

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
        """Return the positions after the previous link up to the link `at`, on both sides."""
        link = self.links[at]
        before = self.links[at - 1] if at else None
        return (
            range(before.left + 1 if before else 0, link.left + 1),
            range(before.right + 1 if before else max(0, link.right - link.left), link.right + 1),
        )

    def witnesses(self, at: int) -> int:
        """Count the equal tokens near the link `at`, on both sides."""
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
        """Return the share of the output's tokens that are aligned."""
        return len(self.links) / len(self.output.tokens)

    def main_cover(self) -> float:
        """Return the share of the output's tokens after its introductory phrase that are aligned.

        A phrase such as ``Beyond all question,`` is introductory if none of its tokens is aligned.
        """
        first = self.links[0].left if self.links else 0
        ends = range(1, min(first, _INTRODUCTION) + 1)
        introduction = max((at for at in ends if "," in self.output.tokens[at].before), default=0)
        return len(self.links) / (len(self.output.tokens) - introduction)

    def source_cover(self) -> float:
        """Return the share of the source's tokens that are aligned."""
        return len(self.links) / len(self.source.tokens)


def compare(output: Phrase, source: Phrase) -> Comparison:
    """Align two sentences so that as many tokens as possible are equal."""
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
    links += [Link(left_at + head, right_at + head, same) for left_at, right_at, same in middle]
    links += [Link(len(left) - at, len(right) - at, same=True) for at in range(tail, 0, -1)]
    return Comparison(output=output, source=source, links=links)


def _aligned(left: Sequence[Token], right: Sequence[Token]) -> list[Link]:
    """Align by dynamic programming: return the links with the greatest total worth."""
    if not 0 < len(left) * len(right) <= _CELLS:
        return []
    rows, columns, worths = _worths(left, right)
    best = [[0] * (len(columns) + 1)]
    for row in worths:
        above, current, reached = best[-1], [0], 0
        for before, over, worth in zip(above, above[1:], row, strict=False):
            if over > reached:  # noqa: PLR1730 - a call in the innermost loop
                reached = over
            if worth and before + worth > reached:
                reached = before + worth
            current.append(reached)
        best.append(current)
    gaps = [right_at - left_at > 1 for left_at, right_at in pairwise([*columns, len(right)])]
    traced = _traced(best, worths, gaps=gaps)
    return [Link(rows[at], columns[other], same) for at, other, same in traced][::-1]


def _traced(
    best: Sequence[Sequence[int]], worths: Sequence[Sequence[int]], *, gaps: Sequence[bool]
) -> Iterator[Link]:
    """Yield the links from the last to the first.

    Of links with equal worth the first row is taken. This also holds next to a column without
    possible links, which was left out and which `gaps` marks.
    """
    at, other = len(worths), len(gaps)
    entered = True  # the trace has just entered the column
    while at and other:
        if entered and gaps[other - 1]:
            while at and best[at][other] == best[at - 1][other]:
                at -= 1
            if not at:
                return
        entered = False
        worth = worths[at - 1][other - 1]
        if worth and best[at][other] == best[at - 1][other - 1] + worth:
            at, other = at - 1, other - 1
            entered = True
            yield Link(at, other, worth >= _SAME)
        elif best[at][other] == best[at - 1][other]:
            at -= 1
        else:
            other -= 1
            entered = True


def _worths(
    left: Sequence[Token], right: Sequence[Token]
) -> tuple[Sequence[int], Sequence[int], Sequence[Sequence[int]]]:
    """Return the worth of each pair; 0 if two tokens cannot be aligned.

    Rows and columns without any worth are left out: the first two values are the positions of the
    remaining ones.
    """
    held, theirs = {token.key for token in left}, {token.key for token in right}
    kinds = {token.kind for token in left} & {token.kind for token in right} & _KINDS_ALIKE
    opposites = [OPPOSITES.get(token.key, _NONE) for token in left]
    opposed = _NONE.union(*opposites)
    rows = [
        at
        for at, token in enumerate(left)
        if token.key in theirs or token.kind in kinds or not theirs.isdisjoint(opposites[at])
    ]
    columns = [
        at
        for at, token in enumerate(right)
        if token.key in held or token.kind in kinds or token.key in opposed
    ]
    others = [(right[at].key, right[at].kind, right[at].key in held) for at in columns]
    worths = []
    for at in rows:
        name, alike = left[at].key, left[at].kind if left[at].kind in kinds else None
        moved = _MOVED if name in theirs else 0
        excluded = opposites[at]
        worths.append(
            [
                _SAME
                if other == name
                else _ALIKE
                if kind == alike or other in excluded
                else moved
                if moves
                else 0
                for other, kind, moves in others
            ]
        )
    return rows, columns, worths
