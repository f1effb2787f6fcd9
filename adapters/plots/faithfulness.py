"""Pictures of a faithfulness exam: bars stacked by the original score, and curves.

Every function raises `ConfigError` if a path ends in neither ``.png`` nor ``.svg``.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from spanjury.adapters.plots.canvas import drawing, save

_DPI = 120
_WIDTH, _HEIGHT = 2.9, 2.3
"""Size of a panel, in inches."""
_WORDS = ("#d4d4d4", "#9dc3e0", "#2c6fa6", "#e08a1e")
"""Colours of unordered parts."""
_ACROSS = 3
"""Maximum number of panels side by side; more would be too small to read on a page."""


class _Stack(Protocol):
    """Shares of reports by their original score, with the change that was made as the title.

    For ``n`` original scores and ``m`` parts of each bar, `shares` has the shape ``(n, m)`` and
    numbers in ``[0, 1]``. `reports`, ``(n,)``, are the numbers of reports.
    """

    @property
    def title(self) -> str: ...
    @property
    def scores(self) -> Sequence[int]: ...
    @property
    def parts(self) -> Sequence[str]: ...
    @property
    def shares(self) -> ArrayLike: ...
    @property
    def reports(self) -> ArrayLike: ...


class _Curve(Protocol):
    """A named line: a mean and its spread, at least 0, at each of several ascending positions."""

    @property
    def name(self) -> str: ...
    @property
    def x(self) -> Sequence[int]: ...
    @property
    def mean(self) -> Sequence[float]: ...
    @property
    def spread(self) -> Sequence[float]: ...


def draw_stacks(*paths: Path, panels: Mapping[str, Sequence[_Stack]]) -> None:
    """Draw stacked bars, with one or more rows of panels per name; empty names are skipped."""
    rows = [
        (name, stacks[first : first + _ACROSS])
        for name, stacks in panels.items()
        for first in range(0, len(stacks), _ACROSS)
    ]
    across = max((len(stacks) for _, stacks in rows), default=1)
    with drawing(*paths):
        figure, axes = _panels(max(1, len(rows)), across)
        for line, (name, stacks) in zip(axes, rows, strict=False):
            for panel, stack in zip(line, stacks, strict=False):
                _bars(panel, stack)
            for panel in line[len(stacks) :]:
                panel.set_visible(False)
            line[0].set_ylabel(_broken(name), fontsize="small")
        first = axes[0][0]
        handles, names = first.get_legend_handles_labels()
        columns = min(5, max(1, len(names)))
        figure.legend(handles, names, loc="outside upper center", ncols=columns)
        save(figure, *paths, dpi=_DPI)


def draw_curves(
    *paths: Path, panels: Mapping[str, Sequence[_Curve]], measure: tuple[str, str]
) -> None:
    """Draw curves with their spread shaded, one panel per name; empty ones are skipped.

    `measure` has the titles of the horizontal and the vertical axis.
    """
    drawn = {name: lines for name, lines in panels.items() if lines}
    across = min(_ACROSS, max(1, len(drawn)))
    with drawing(*paths):
        figure, grid = _panels(max(1, -(-len(drawn) // across)), across)
        axes = [panel for line in grid for panel in line]
        for panel, (name, lines) in zip(axes, drawn.items(), strict=False):
            for curve in lines:
                _line(panel, curve)
            panel.set_title(_broken(name), fontsize="small")
            panel.set_xlabel(measure[0])
            panel.xaxis.set_major_locator(MaxNLocator(integer=True))
            panel.set_ylabel(measure[1])
            panel.legend(fontsize="x-small")
        for panel in axes[len(drawn) :]:
            panel.set_visible(False)
        save(figure, *paths, dpi=_DPI)


def _panels(down: int, across: int) -> tuple[Figure, list[list[Axes]]]:
    size = (0.8 + _WIDTH * across, 0.8 + _HEIGHT * down)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(down, across, squeeze=False)
    return figure, [list(line) for line in grid]


def _bars(axes: Axes, stack: _Stack) -> None:
    """Draw one stacked bar per score, with its number of reports above it."""
    shares = np.asarray(stack.shares, dtype=np.float64)
    bottoms = np.cumsum(shares, axis=1) - shares
    palette = _palette(stack.parts)
    for number, part in enumerate(stack.parts):
        axes.bar(
            list(stack.scores),
            shares[:, number],
            bottom=bottoms[:, number],
            color=palette[number],
            label=part,
        )
    for score, count in zip(stack.scores, np.asarray(stack.reports), strict=True):
        axes.text(score, 1.02, f"{int(count)}", ha="center", fontsize="x-small")
    axes.set_ylim(0, 1.1)
    axes.set_xticks(list(stack.scores))
    axes.set_xlabel("score to begin with", fontsize="small")
    axes.set_title(stack.title, fontsize="small")


def _palette(parts: Sequence[str]) -> Sequence[str]:
    """Return one colour per part: from bad to good for scores, contrasting for other parts."""
    if not all(part.isdigit() for part in parts):
        return [_WORDS[number % len(_WORDS)] for number in range(len(parts))]
    return [to_hex(colour) for colour in colormaps["RdYlBu"](np.linspace(0.1, 0.9, len(parts)))]


def _broken(name: str) -> str:
    """Break a name at its commas, since panels are narrow."""
    return name.replace(", ", "\n")


def _line(axes: Axes, curve: _Curve) -> None:
    mean, spread = (np.asarray(part, dtype=np.float64) for part in (curve.mean, curve.spread))
    (drawn,) = axes.plot(list(curve.x), mean, marker="o", markersize=3, label=curve.name)
    axes.fill_between(
        list(curve.x), mean - spread, mean + spread, alpha=0.2, color=drawn.get_color()
    )
