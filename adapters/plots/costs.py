"""Pictures of correlation against cost."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter
from numpy.typing import NDArray

from spanjury.adapters.plots.canvas import (
    COLOURS,
    MARKS,
    drawing,
    new_figure,
    note,
    save,
    say_empty,
)
from spanjury.adapters.plots.canvas import labels as make_labels
from spanjury.adapters.plots.meta_inputs import ScorerCost

Point = tuple[float, float]
FloatArray = NDArray[np.float64]

_SIZE = 7.0
"""Size of the labels, in points."""

_WIDE = 20.0
"""Largest ratio of costs for which minor ticks are numbered, too."""

_LETTER, _LINE = 0.58, 1.2
"""Mean width of a letter and height of a line, as multiples of the font size."""

_POINT = 4.0
"""Half the width of a point's marker."""

_NEAR = 8.0
"""Distance of a label from its point on the nearest ring, in points."""

_RINGS, _STEPS = 10, 16
"""Number of rings around a point, and of positions on each, that a label may take."""


def draw_costs(*paths: Path, scorers: Sequence[ScorerCost], unit: str, measure: str) -> None:
    """Draw correlation against cost on a logarithmic axis; `meta` describes rules for all pictures.

    A line joins the scorers for which no cheaper one correlates as well. Free scorers are in a
    strip of their own; those without a cost or a correlation are named below. About 50 scorers can
    be read. `unit` is that of the costs, such as ``CPU seconds``; "per 1,000 texts" is added.
    """
    shown = [scorer for scorer in scorers if math.isfinite(scorer.cost + scorer.correlation)]
    paid = [scorer.cost for scorer in shown if scorer.cost > 0]
    free_at = min(paid) / 10 if paid else 1.0  # a logarithmic axis has no zero
    points = [(scorer.cost or free_at, scorer.correlation) for scorer in shown]
    with drawing(*paths):
        figure, axes = new_figure(9, 6 + 0.05 * max(0, len(shown) - 20))
        axes.set_xscale("log")
        if not shown:
            say_empty(axes)
        front = _front(points)
        steps = [cost for cost, _ in front], [correlation for _, correlation in front]
        axes.plot(*steps, color="#9a9a9a", linewidth=1.2)
        marks, kinds = _draw_points(axes, shown, points)
        figure.legend(marks, kinds, loc="outside upper left", ncols=5, fontsize=8)
        axes.margins(x=0.14, y=0.12)
        axes.set_xlabel(f"{unit} per 1,000 texts")
        axes.set_ylabel(measure)
        axes.grid(color="#e6e6e6", linewidth=0.6)
        axes.set_axisbelow(True)
        notes = ["Line: no cheaper scorer correlates as well"]
        paid_from = 0.0
        if any(scorer.cost == 0 for scorer in shown):
            paid_from = _draw_free_strip(axes, free_at)
            notes.append("In the grey strip: at no cost")
        _format_costs(axes, paid_from)
        if missing := [scorer.name for scorer in scorers if scorer not in shown]:
            notes.append(f"Without a cost or a correlation: {', '.join(missing)}")
        note(figure, notes)
        figure.draw_without_rendering()  # computes the positions of the axes
        figure.set_layout_engine("none")
        names = make_labels([scorer.name for scorer in shown])
        _write_names(figure, points, names=names, front=front)
        save(figure, *paths)


def _draw_free_strip(axes: Axes, free_at: float) -> float:
    """Draw the strip for free scorers, and return its right end."""
    edge = free_at * math.sqrt(10)
    ends = axes.get_xlim()
    axes.axvspan(ends[0], edge, color="#f3f3f3", zorder=0, linewidth=0)
    axes.axvline(edge, color="#b0b0b0", linewidth=0.8, linestyle=":")
    axes.set_xlim(ends)
    return edge


def _format_costs(axes: Axes, paid_from: float) -> None:
    """Format costs without exponents, and none within the free strip."""
    shown = FuncFormatter(lambda value, _: f"{value:g}" if value >= paid_from else "")
    axes.xaxis.set_major_formatter(shown)
    low, high = axes.get_xlim()
    if high / low > _WIDE:
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:  # there may be no power of ten to label
        axes.xaxis.set_minor_formatter(shown)
        axes.tick_params(axis="x", which="minor", labelsize=8)


def _front(points: Sequence[Point]) -> list[Point]:
    """Return the corners of the step line along the points that no cheaper point equals."""
    corners: list[Point] = []
    for cost, correlation in sorted(points, key=lambda point: (point[0], -point[1])):
        if not corners:
            corners.append((cost, correlation))
        elif correlation > corners[-1][1]:
            corners += [(cost, corners[-1][1]), (cost, correlation)]
    return corners


def _draw_points(
    axes: Axes, shown: Sequence[ScorerCost], points: Sequence[Point]
) -> tuple[list[Line2D], list[str]]:
    """Draw the points of each kind, and return marks and names for the legend."""
    marks = []
    kinds = list(dict.fromkeys(scorer.kind for scorer in shown))
    for number, kind in enumerate(kinds):
        here = [point for scorer, point in zip(shown, points, strict=True) if scorer.kind == kind]
        marks += axes.plot(
            [cost for cost, _ in here],
            [correlation for _, correlation in here],
            linestyle="none",
            marker=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            markersize=6,
        )
    return marks, make_labels(kinds)


def _write_names(
    figure: Figure, points: Sequence[Point], *, names: Sequence[str], front: Sequence[Point]
) -> None:
    """Write names beside points where there is room, joined by a line if they are far away."""
    axes = figure.axes[0]

    def placed(spots: Sequence[Point]) -> list[Point]:
        """Return positions in typographic points."""
        inches = axes.transData.transform(spots) / figure.dpi
        return [(x * 72, y * 72) for x, y in inches.tolist()]

    (left, low), (right, high) = axes.get_window_extent().get_points() / figure.dpi * 72
    corners = placed(front)
    moves = place_labels(
        placed(points),
        names,
        size=_SIZE,
        frame=(float(left), float(low), float(right), float(high)),
        lines=list(pairwise(corners)),
    )
    for point, name, (across, up, far) in zip(points, names, moves, strict=True):
        axes.annotate(
            name,
            point,
            xytext=(across, up),
            textcoords="offset points",
            va="bottom",
            fontsize=_SIZE,
            linespacing=0.95,
            arrowprops={"arrowstyle": "-", "color": "#909090", "linewidth": 0.5} if far else None,
        )


def place_labels(
    points: Sequence[Point],
    names: Sequence[str],
    *,
    size: float,
    frame: tuple[float, float, float, float],
    lines: Sequence[tuple[Point, Point]],
) -> list[tuple[float, float, bool]]:
    """Choose a position for each label, close to its point, in the given order.

    `points` and the font `size` are in typographic points; a name may have several lines. `frame`
    is the left, lower, right and upper limit of labels; `lines`, horizontal or vertical, should not
    be crossed.

    Returns the offset of each label's lower left corner from its point, and whether it is so far
    that a line should join them. If no position is free, the least covered one is used.
    """
    marks = np.array(points, dtype=np.float64).reshape(-1, 2)
    ends = np.array(lines, dtype=np.float64).reshape(-1, 2, 2)
    around_points = np.hstack([marks - _POINT, marks + _POINT])
    around_lines = np.hstack([ends.min(axis=1) - 1, ends.max(axis=1) + 1])
    taken = np.vstack([around_points, around_lines])
    labels = []
    for point, name in zip(marks, names, strict=True):
        parts = name.split("\n")
        area = np.array([max(map(len, parts)) * _LETTER, len(parts) * _LINE]) * size
        boxes = _boxes(point, area)
        outside = area.prod() - _common(boxes, np.array(frame))
        # Area outside the frame counts ten times.
        cover = 10 * outside + _common(boxes[:, None], taken).sum(axis=1)
        best = int(cover.round(6).argmin())
        taken = np.vstack([taken, boxes[best]])
        right, up = (boxes[best, :2] - point).tolist()
        labels.append((right, up, best >= _STEPS))
    return labels


def _boxes(point: FloatArray, area: FloatArray) -> FloatArray:
    """Return boxes of an area in rings around a point: the nearest ring first, each from the right.

    The last axis has the left, lower, right and upper edge.
    """
    turns = 2 * np.pi * np.arange(_STEPS) / _STEPS
    directions = np.column_stack([np.cos(turns), np.sin(turns)])
    away = _NEAR + np.arange(_RINGS) * area[1] * 0.9
    middles = (point + directions * (away[:, None, None] + area / 2)).reshape(-1, 2)
    return np.hstack([middles - area / 2, middles + area / 2])


def _common(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the area that each box shares with each other; their shapes are broadcast."""
    upper = np.minimum(boxes[..., 2:], others[..., 2:])
    lower = np.maximum(boxes[..., :2], others[..., :2])
    shared: FloatArray = np.maximum(upper - lower, 0).prod(axis=-1)
    return shared
