"""A scatter plot in a page, as SVG in the colours of the page: light, dark and in print.

It needs no script and no library. Important points are numbered, and a table next to the plot
explains the numbers, since names would overlap. A number that would overlap another is left out;
pointing at the point shows it with the name.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from spanjury.orchestration.report.page import safe
from spanjury.orchestration.report.tables import figure

Kind = Literal["faint", "line", "other"]
"""A point in the background, one joined by the line, or one of another kind."""

WIDTH, HEIGHT = 640, 380
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 28, 16, 48
"""Margins, with room for the numbers and names of the axes."""
_TICKS = 5
_ROOM = 0.06
"""Share of the range that stays free at either end."""
_ALIKE = 1e-9
"""Share of the largest number below which a difference counts as zero."""
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Distances between ticks, as multiples of a power of ten."""
_CHARACTER, _HIGH = 11.0, 17.0
"""Width and height of a character in units of the plot, as large as on a narrow screen."""
_ROUND = 6.0
"""Radius of a point including its rim."""
_NEAR = 22.0
"""Distance above or below a point within which a mark seems to belong to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotPoint:
    """A point, with an interval of y if there is one.

    Pointing at it shows its `name`. A `mark` is written beside it: a number or a short word.
    """

    x: float
    y: float
    name: str
    kind: Kind = "faint"
    mark: str = ""
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Points in two dimensions; those of the kind ``line`` are joined from left to right.

    Numbers on the y-axis have the format of agreement in tables, without a zero before the point.
    Points with infinite or undefined coordinates are not drawn. Only pages show it; Markdown has
    its caption, `alt`, which describes the plot for readers who cannot see it.
    """

    points: Sequence[PlotPoint]
    x: str
    y: str
    alt: str
    only: Literal["page"] = field(default="page", init=False)

    @property
    def drawn(self) -> list[PlotPoint]:
        """The points with finite coordinates."""
        return [point for point in self.points if math.isfinite(point.x) and math.isfinite(point.y)]


class Axis(NamedTuple):
    """An axis: the numbers at its ends, and its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Return the relative position of `value` on the axis, from 0 to 1 between its ends."""
        return (value - self.low) / (self.high - self.low)


def axis_of(values: Sequence[float]) -> Axis:
    """Return an axis that contains all `values`, with round ticks."""
    low, high = min(values), max(values)
    largest = max(abs(low), abs(high), 1.0)
    spread = high - low if high - low > _ALIKE * largest else largest
    low, high = low - _ROOM * spread, high + _ROOM * spread
    step = _step((high - low) / _TICKS)
    first = math.ceil(low / step)
    ticks = tuple(round(step * number, 12) for number in range(first, math.floor(high / step) + 1))
    return Axis(low, high, ticks)


def plot_svg(plot: Plot) -> str:
    """Return the plot as an SVG element; empty if no point has finite coordinates."""
    points = plot.drawn
    if not points:
        return ""
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    across = axis_of([point.x for point in points])
    ends = [end for point in points for end in point.interval or () if math.isfinite(end)]
    up = axis_of([*(point.y for point in points), *ends])
    # Important points are drawn last, so that they are on top.
    ordered = sorted(points, key=lambda point: (point.kind == "line", point.kind == "other"))
    return "\n".join(
        (
            f'<svg class="plot" role="img" aria-label="{safe(plot.alt)}" {size}>',
            *_frame(plot, across, up),
            *_line(points, across, up),
            *(line for point in ordered for line in _point(point, across, up)),
            *_marks(points, across, up),
            "</svg>",
        )
    )


def _step(least: float) -> float:
    """Return the least round number that is not below `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in _STEPS if factor * power >= least * (1 - 1e-9))


def _x(value: float, axis: Axis) -> str:
    return f"{_LEFT + axis.share(value) * (WIDTH - _LEFT - _RIGHT):.1f}"


def _y(value: float, axis: Axis) -> str:
    return f"{HEIGHT - _BOTTOM - axis.share(value) * (HEIGHT - _TOP - _BOTTOM):.1f}"


def _frame(plot: Plot, across: Axis, up: Axis) -> Iterator[str]:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    for tick in up.ticks:
        y = _y(tick, up)
        yield f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y}" y2="{y}"/>'
        yield _text(_LEFT - 8, float(y) + 4, _number(tick, up), anchor="end")
    for tick in across.ticks:
        x = _x(tick, across)
        yield f'<line class="axis" x1="{x}" x2="{x}" y1="{bottom}" y2="{bottom + 5}"/>'
        yield _text(float(x), bottom + 19, _number(tick, across))
    yield f'<line class="axis" x1="{_LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>'
    yield _text((_LEFT + right) / 2, HEIGHT - 8, plot.x, kind="name")
    middle = (_TOP + bottom) / 2
    yield (
        f'<text class="name" text-anchor="middle" transform="translate(16 {middle:.1f}) '
        f'rotate(-90)">{safe(plot.y)}</text>'
    )


def _text(x: float, y: float, text: str, *, anchor: str = "middle", kind: str = "tick") -> str:
    return (
        f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{safe(text)}</text>'
    )


def _number(tick: float, axis: Axis) -> str:
    step = axis.ticks[1] - axis.ticks[0] if len(axis.ticks) > 1 else abs(tick) or 1.0
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    if round(step * 10**digits, 6) % 1:
        digits += 1
    return figure(tick, f",.{digits}f")


def _line(points: Sequence[PlotPoint], across: Axis, up: Axis) -> Iterator[str]:
    joined = sorted((point for point in points if point.kind == "line"), key=lambda point: point.x)
    if len(joined) > 1:
        corners = " ".join(f"{_x(point.x, across)},{_y(point.y, up)}" for point in joined)
        yield f'<polyline class="line" points="{corners}"/>'


def _point(point: PlotPoint, across: Axis, up: Axis) -> Iterator[str]:
    x, y = _x(point.x, across), _y(point.y, up)
    if point.interval and all(map(math.isfinite, point.interval)):
        low, high = (_y(end, up) for end in point.interval)
        yield f'<line class="interval {point.kind}" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>'
    size = 3 if point.kind == "faint" else 5
    name = point.name if point.name.startswith(point.mark) else f"{point.mark}: {point.name}"
    yield (
        f'<circle class="{point.kind}" cx="{x}" cy="{y}" r="{size}">'
        f"<title>{safe(name)}</title></circle>"
    )


def _marks(points: Sequence[PlotPoint], across: Axis, up: Axis) -> Iterator[str]:
    """Yield the marks of important points, beginning with those that are not on the line."""
    shown = [point for point in points if point.kind != "faint" or point.mark]
    shown.sort(key=lambda point: point.kind == "line")
    centres = [(float(_x(point.x, across)), float(_y(point.y, up))) for point in shown]
    wanted = [
        (x, y, point.mark) for (x, y), point in zip(centres, shown, strict=True) if point.mark
    ]
    within = Box(_LEFT, 0, WIDTH, HEIGHT - _BOTTOM)
    for mark in placed_marks(wanted, points=centres, within=within):
        yield _text(mark.x, mark.y, mark.text, anchor=mark.anchor, kind="mark")


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Return whether the two rectangles overlap."""
        beside = self.right <= other.left or other.right <= self.left
        return not (beside or self.bottom <= other.top or other.bottom <= self.top)

    def holds(self, other: "Box") -> bool:
        """Return whether `other` lies within this rectangle."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A text and the position of the end of its baseline that `anchor` names."""

    x: float
    y: float
    text: str
    anchor: Literal["start", "end"]

    @property
    def box(self) -> Box:
        """The rectangle that it occupies."""
        width = _CHARACTER * len(self.text)
        left = self.x if self.anchor == "start" else self.x - width
        return Box(left, self.y - 0.8 * _HIGH, left + width, self.y + 0.2 * _HIGH)


def placed_marks(
    marks: Iterable[tuple[float, float, str]], *, points: Sequence[tuple[float, float]], within: Box
) -> list[Mark]:
    """Return marks beside their points: at the upper right, or else at another free corner.

    A mark without a free corner is left out: it would overlap something, or seem to belong to
    another point. So is the second of two points at the same position.

    `marks` are x and y of the point, and the text; earlier ones take precedence. All of `points`
    must stay visible.
    """
    placed: list[Mark] = []
    marked = set[tuple[float, float]]()
    for x, y, text in marks:
        if (x, y) in marked:
            continue
        taken = [mark.box for mark in placed]
        taken += [
            Box(across - _ROUND, up - _NEAR, across + _ROUND, up + _NEAR)
            for across, up in points
            if (across, up) != (x, y)
        ]
        for mark in _corners(x, y, text):
            if within.holds(mark.box) and not any(map(mark.box.meets, taken)):
                placed.append(mark)
                marked.add((x, y))
                break
    return placed


def _corners(x: float, y: float, text: str) -> tuple[Mark, ...]:
    return (
        Mark(x=x + 9, y=y - 10, text=text, anchor="start"),
        Mark(x=x - 9, y=y - 10, text=text, anchor="end"),
        Mark(x=x + 9, y=y + 20, text=text, anchor="start"),
        Mark(x=x - 9, y=y + 20, text=text, anchor="end"),
    )
