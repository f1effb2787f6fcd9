"""Positions for the names of points, so that they cover neither points nor each other."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LETTER, _LINE = 0.58, 1.2
"""Mean width of a letter and height of a line, as shares of the font's size."""
_POINT = 4.0
"""Half the width of a point's mark."""
_NEAR = 8.0
_STEPS = 16
_RINGS = 10

Point = tuple[float, float]
Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    right: float
    up: float
    box: Box
    far: bool


def place_labels(
    points: Sequence[Point],
    names: Sequence[str],
    *,
    size: float,
    frame: Box,
    lines: Sequence[tuple[Point, Point]],
) -> list[tuple[float, float, bool]]:
    """Find a place for each name, near points first, in the order in which they come.

    `points` and the `size` of the font are in typographic points; a name may have several lines.
    `frame` is the left, lower, right and upper end of where names may stand; `lines`, level or
    upright, should not be crossed.

    Returns how far the lower left corner of each name stands from its point, and whether that is
    so far that a line should join them. Where nothing is free, it is the least covered place.
    """
    taken = [_around(point, wide=_POINT, high=_POINT) for point in points]
    taken += [
        (min(a, c) - 1, min(b, d) - 1, max(a, c) + 1, max(b, d) + 1) for (a, b), (c, d) in lines
    ]
    found = []
    for point, name in zip(points, names, strict=True):
        parts = name.split("\n")
        wide = max(map(len, parts)) * size * _LETTER
        high = len(parts) * size * _LINE
        places = _places(point, wide=wide, high=high)
        best = min(places, key=lambda place: _cover(place.box, taken, frame))
        taken.append(best.box)
        found.append((best.right, best.up, best.far))
    return found


def _places(point: Point, *, wide: float, high: float) -> Iterator[_Place]:
    """Yield places in rings around a point, the nearest first; the right of it first."""
    for ring in range(_RINGS):
        away = _NEAR + ring * high * 0.9
        for step in range(_STEPS):
            turn = 2 * math.pi * step / _STEPS
            middle = (
                point[0] + math.cos(turn) * (away + wide / 2),
                point[1] + math.sin(turn) * (away + high / 2),
            )
            box = _around(middle, wide=wide / 2, high=high / 2)
            moved = (box[0] - point[0], box[1] - point[1])
            yield _Place(right=moved[0], up=moved[1], box=box, far=ring > 0)


def _around(middle: Point, *, wide: float, high: float) -> Box:
    x, y = middle
    return (x - wide, y - high, x + wide, y + high)


def _cover(box: Box, taken: Sequence[Box], frame: Box) -> float:
    """Return how much of a place is not free; what is out of the frame counts most."""
    area = (box[2] - box[0]) * (box[3] - box[1])
    outside = area - _common(box, frame)
    return round(10 * outside + sum(_common(box, one) for one in taken), 6)


def _common(one: Box, other: Box) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide * high if wide > 0 and high > 0 else 0.0
