"""Places for what is written beside the points of a plot, so that nothing covers another."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

_CHARACTER, _HIGH = 11.0, 17.0
"""Width and height of a character in units of the plot, as large as on a narrow screen."""
_ROUND = 6.0
"""Radius of a point, with its rim."""


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Say whether the two have an inner point in common."""
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, other: "Box") -> bool:
        """Say whether `other` lies within."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A text and its place: the end of its baseline that `anchor` names."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "end"]

    @property
    def box(self) -> Box:
        """The room that it takes."""
        width = _CHARACTER * len(self.text)
        left = self.x if self.anchor == "start" else self.x - width
        return Box(left, self.y - 0.8 * _HIGH, left + width, self.y + 0.2 * _HIGH)


def placed_marks(
    marks: Iterable[tuple[float, float, str]],
    *,
    points: Sequence[tuple[float, float]],
    within: Box,
) -> list[Mark]:
    """Return marks beside their points: right above if there is room, else at another corner.

    One for which no corner is free is left out: it would cover what is there. So is the second of
    points that lie on each other.

    Parameters
    ----------
    marks
        x and y of the point, and the text; the first are placed first.
    points
        Those that must be seen.
    """
    placed: list[Mark] = []
    marked = set[tuple[float, float]]()
    for x, y, text in marks:
        if (x, y) in marked:
            continue
        taken = [mark.box for mark in placed]
        taken += [_around(*point) for point in points if point != (x, y)]
        for mark in _corners(x, y, text):
            if within.holds(mark.box) and not any(map(mark.box.meets, taken)):
                placed.append(mark)
                marked.add((x, y))
                break
    return placed


def _around(x: float, y: float) -> Box:
    return Box(x - _ROUND, y - _ROUND, x + _ROUND, y + _ROUND)


def _corners(x: float, y: float, text: str) -> tuple[Mark, ...]:
    return (
        Mark(x=x + 9, y=y - 10, text=text, anchor="start"),
        Mark(x=x - 9, y=y - 10, text=text, anchor="end"),
        Mark(x=x + 9, y=y + 20, text=text, anchor="start"),
        Mark(x=x - 9, y=y + 20, text=text, anchor="end"),
    )
