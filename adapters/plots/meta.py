"""Pictures of a comparison with people.

Equal inputs give equal files. Names may be any text: long ones are wrapped and shortened, and
characters that the font lacks are written as escapes. A picture is written to each path; every
function raises `ConfigError` if a path ends in neither ``.png`` nor ``.svg``.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from spanjury.adapters.plots.canvas import (
    COLOURS,
    MARKS,
    drawing,
    label,
    labels,
    new_figure,
    note,
    save,
    say_empty,
    short_number,
)
from spanjury.adapters.plots.costs import draw_costs
from spanjury.adapters.plots.meta_inputs import (
    Agreement,
    CorrelationMap,
    EnsembleCurve,
    SystemScore,
)

__all__ = ["draw_agreement", "draw_correlations", "draw_costs", "draw_ensembles", "draw_ranking"]

FloatArray = NDArray[np.float64]
_CROWD = 1000
"""Number of points above which they are drawn as one bitmap, even in an SVG."""
_RUG = 0.025
"""Length of the strokes of the rug, as a share of the axes."""
_CELL = 0.36
"""Size of a cell, in inches; cells of large maps are smaller."""
_SMALL_CELL = 0.27
_MANY = 24
_DARK = 0.62
"""Absolute value above which a cell is so dark that its number is white."""
_FEW = 3
"""Smallest number of rows that are clustered."""
_STROKES = ("-", "--", "-.", ":")
_ROW = 0.3
"""Height of a row for a system, in inches."""


def draw_agreement(*paths: Path, agreement: Agreement) -> None:
    """Draw scores against human scores, with a least-squares line and a rug."""
    pairs = np.column_stack((agreement.scores, agreement.human)).astype(np.float64)
    complete = pairs[np.isfinite(pairs).all(axis=1)]
    scores, human = complete.T
    crowded = len(complete) > _CROWD
    with drawing(*paths):
        figure, axes = new_figure(6, 5)
        visible = float(np.clip(40 / np.sqrt(max(1, len(complete))) / 4, 0.12, 0.8))
        axes.scatter(
            scores, human, s=18, color=COLOURS[0], alpha=visible, linewidths=0, rasterized=crowded
        )
        axes.margins(0.06)
        notes = [_line(axes, scores, human)]
        _rug(axes, scores, crowded=crowded, across=True)
        _rug(axes, human, crowded=crowded, across=False)
        axes.set_xlabel(label(agreement.scorer, width=48))
        axes.set_ylabel(f"people: {label(agreement.aspect, width=40)}")
        values = [f"{name} {short_number(value)}" for name, value in agreement.correlations]
        axes.set_title("   ".join([*values, f"n = {len(complete):,}"]), loc="left")
        if len(complete) < len(pairs):
            notes.append(
                f"{len(pairs) - len(complete):,} of {len(pairs):,} skipped: without a number"
            )
        note(figure, notes)
        save(figure, *paths)


def _line(axes: Axes, scores: FloatArray, human: FloatArray) -> str:
    """Draw the line; return its description, or the reason why there is none."""
    if len(scores) == 0:
        say_empty(axes)
        return "No text has both numbers"
    if np.ptp(scores) == 0:
        return "No line: the scores do not vary"
    mean_score, mean_human = scores.mean(), human.mean()
    off = scores - mean_score
    slope = (off @ (human - mean_human)) / (off @ off)
    ends = np.array([scores.min(), scores.max()])
    axes.plot(ends, mean_human + slope * (ends - mean_score), color=COLOURS[1], linewidth=2)
    return f"Line: least squares, slope {slope:.3g}"


def _rug(axes: Axes, values: FloatArray, *, crowded: bool, across: bool) -> None:
    strokes = [
        [(value, 0), (value, _RUG)] if across else [(0, value), (_RUG, value)] for value in values
    ]
    frame = axes.get_xaxis_transform() if across else axes.get_yaxis_transform()
    rug = LineCollection(strokes, colors="#404040", linewidths=0.6, alpha=0.4, transform=frame)
    rug.set_rasterized(crowded)
    axes.add_collection(rug, autolim=False)


def draw_correlations(*paths: Path, correlations: CorrelationMap) -> None:
    """Draw a heat map with numbers in the cells; undefined cells are hatched."""
    values = np.clip(np.asarray(correlations.values, dtype=np.float64), -1, 1)
    down, across = _orders(correlations, values)
    values = values[np.ix_(down, across)]
    rows, columns = labels(correlations.rows), labels(correlations.columns)
    many = max(values.shape) > _MANY
    cell = _SMALL_CELL if many else _CELL
    with drawing(*paths):
        size = (max(5.0, 3.4 + cell * values.shape[1]), 2.6 + cell * values.shape[0])
        figure, axes = new_figure(*size)
        palette = colormaps["PuOr_r"]
        image = axes.imshow(values, cmap=palette, vmin=-1, vmax=1, aspect="equal")
        _numbers(axes, values, size=5.5 if many else 7.5)
        small = 6.5 if many else 8
        axes.set_yticks(range(len(rows)), [rows[row] for row in down], fontsize=small)
        across_names = [columns[column] for column in across]
        axes.set_xticks(
            range(len(columns)), across_names, rotation=90, va="top", ha="center", fontsize=small
        )
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        figure.colorbar(image, ax=axes, label=correlations.measure, shrink=min(1, 5 / size[1]))
        undefined = int(np.isnan(values).sum())
        remark = f"Hatched: undefined ({undefined} of {values.size})" if undefined else ""
        note(figure, [remark])
        save(figure, *paths)


def _numbers(axes: Axes, values: FloatArray, *, size: float) -> None:
    for row, column in np.ndindex(*values.shape):
        value = float(values[row, column])
        if np.isnan(value):
            corner = (column - 0.5, row - 0.5)
            hatched = Rectangle(corner, 1, 1, facecolor="white", edgecolor="#707070")
            hatched.set(hatch="/////", linewidth=0)
            axes.add_patch(hatched)
            continue
        colour = "white" if abs(value) > _DARK else "black"
        number = axes.text(
            column, row, short_number(value), ha="center", va="center", fontsize=size
        )
        number.set(color=colour, in_layout=False)  # the cells already have room for it


def _orders(correlations: CorrelationMap, values: FloatArray) -> tuple[list[int], list[int]]:
    """Return the order of the rows and of the columns."""
    plain = list(range(values.shape[0])), list(range(values.shape[1]))
    if not correlations.clustered or values.shape[0] < _FEW:
        return plain
    filled = np.nan_to_num(values)  # an undefined correlation counts as none
    if correlations.rows == correlations.columns:
        distances = 1 - (filled + filled.T) / 2
        np.fill_diagonal(distances, 0)
        order = _leaves(squareform(np.clip(distances, 0, 2), checks=False))
        return order, order
    gaps = filled[:, None, :] - filled[None, :, :]
    return _leaves(squareform(np.sqrt((gaps**2).sum(axis=2)), checks=False)), plain[1]


def _leaves(distances: FloatArray) -> list[int]:
    tree = linkage(distances, method="average", optimal_ordering=True)
    return [int(leaf) for leaf in leaves_list(tree)]


def draw_ensembles(*paths: Path, curves: Sequence[EnsembleCurve], measure: str) -> None:
    """Draw correlation against the size of an ensemble, with its spread shaded."""
    names = labels([curve.name for curve in curves], width=36)
    with drawing(*paths):
        figure, axes = new_figure(6.5, 4.5 + 0.2 * max(0, len(curves) - 6))
        lines: list[Line2D] = []
        for number, curve in enumerate(curves):
            colour = COLOURS[number % len(COLOURS)]
            axes.fill_between(
                curve.sizes, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0
            )
            lines += axes.plot(
                curve.sizes,
                curve.mean,
                color=colour,
                linestyle=_STROKES[number // len(COLOURS) % len(_STROKES)],
                marker=MARKS[number % len(MARKS)],
                markersize=5,
            )
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("judges in the ensemble")
        axes.set_ylabel(measure)
        if not curves:
            say_empty(axes)
        if len(curves) > 1:
            figure.legend(lines, names, loc="outside upper left", fontsize=8, ncols=2)
        elif curves:
            axes.set_title(names[0], loc="left")
        note(figure, ["Shaded: the spread over ensembles of a size"])
        save(figure, *paths)


def draw_ranking(*paths: Path, systems: Sequence[SystemScore], measure: str) -> None:
    """Draw systems with their intervals, the highest score at the top."""
    ranked = sorted(systems, key=_best_first)
    names = labels([system.name for system in ranked], width=32)
    with drawing(*paths):
        figure, axes = new_figure(7, 1.6 + _ROW * max(3, len(ranked)))
        if not ranked:
            say_empty(axes)
        for row, system in enumerate(ranked):
            _system(axes, system, row=row)
        numbered = [f"{name}  {row + 1}" for row, name in enumerate(names)]
        axes.set_yticks(range(len(ranked)), numbered, fontsize=8, linespacing=0.9)
        axes.set_ylim(max(3, len(ranked)) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.margins(x=0.12)
        axes.set_xlabel(measure)
        without = sum(math.isnan(system.low + system.high) for system in ranked)
        note(figure, [f"{without} of {len(ranked)} without an interval"] if without else [])
        save(figure, *paths)


def _best_first(system: SystemScore) -> tuple[bool, float, str]:
    without = math.isnan(system.score)
    return without, 0.0 if without else -system.score, system.name


def _system(axes: Axes, system: SystemScore, *, row: int) -> None:
    if math.isnan(system.score):
        axes.text(0.02, row, "no score", transform=axes.get_yaxis_transform(), va="center", size=8)
        return
    axes.plot([system.low, system.high], [row, row], color=COLOURS[0], linewidth=2.2, alpha=0.6)
    axes.plot([system.score], [row], marker="o", markersize=6, color=COLOURS[0])
    right = system.score if math.isnan(system.high) else system.high
    axes.annotate(
        f"{system.score:.3g}",
        (right, row),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=7.5,
    )
