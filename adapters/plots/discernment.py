"""Pictures of an exam: D by condition, effects by aspect, and scores before and after.

Every function raises `ConfigError` if a path ends in neither ``.png`` nor ``.svg``, and
``ValueError`` if the shapes of names and numbers differ.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from spanjury.adapters.plots.canvas import drawing, save

_ROW = 0.3
"""Height of a row for a condition, in inches."""
_DARK = 0.6
"""Absolute value above which a cell is so dark that its number is white."""
_BLUE, _ORANGE = "#2c6fa6", "#e08a1e"

FloatArray = NDArray[np.float64]


def draw_scores(
    path: Path,
    *,
    conditions: Sequence[str],
    levels: Sequence[str],
    discernment: ArrayLike,
    weighted: ArrayLike,
) -> None:
    """Draw bars of D for each condition, grouped by level, with a line at D = 1.

    There are ``n`` conditions, with one level each. `discernment` is D, and `weighted` is D with
    weights of the aspects: shape ``(n,)``, NaN if undefined.
    """
    scores = _checked(discernment, shape=(len(conditions),))
    by_weights = _checked(weighted, shape=(len(levels),))
    groups = {name: [n for n, of in enumerate(levels) if of == name] for name in levels}
    heights = [len(rows) + 1 for rows in groups.values()]
    with drawing(path):
        figure = Figure(figsize=(7.5, 1.3 + _ROW * sum(heights)), layout="constrained")
        axes = figure.subplots(len(groups), sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axis, (level, rows) in zip(axes, groups.items(), strict=True):
            _bars(axis, scores[rows], by_weights[rows])
            _label_rows(axis, [conditions[row] for row in rows])
            axis.set_ylabel(level)
        most = np.nanmax([*scores, *by_weights, 1.0])
        axes[-1].set_xlim(0, 1.12 * most)  # room for the numbers beside the bars
        axes[-1].set_xlabel("D (1: p = 0.05)")
        figure.align_ylabels(axes)
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside upper center", ncols=len(names))
        save(figure, path)


def draw_effects(
    path: Path,
    *,
    conditions: Sequence[str],
    aspects: Sequence[str],
    effects: ArrayLike,
    targeted: ArrayLike,
) -> None:
    """Draw a heat map of P(drop) - P(rise), with a frame around cells where scores should fall.

    There are ``n`` conditions and ``m`` aspects. `effects` are in ``[-1, 1]``, NaN if undefined;
    `targeted` are booleans. Both have the shape ``(n, m)``.
    """
    shape = (len(conditions), len(aspects))
    values, framed = _checked(effects, shape=shape), np.asarray(targeted, dtype=bool)
    size = (3.2 + 1.0 * len(aspects), 1.8 + _ROW * len(conditions))
    with drawing(path):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        palette = colormaps["PuOr_r"].with_extremes(bad="#ececec")
        image = axes.imshow(values, cmap=palette, vmin=-1, vmax=1, aspect="auto")
        for row, column in np.ndindex(shape):
            _number(axes, float(values[row, column]), x=column, y=row)
            if framed[row, column]:
                corner = (column - 0.46, row - 0.44)
                axes.add_patch(Rectangle(corner, 0.92, 0.88, fill=False, linewidth=1.4))
        _label_rows(axes, conditions)
        axes.set_xticks(range(len(aspects)), aspects, rotation=25, ha="right")
        axes.set_xlabel("aspect (framed: the score should fall)")
        axes.set_ylabel("condition")
        axes.spines[:].set_visible(False)
        figure.colorbar(image, ax=axes, label="P(drop) - P(rise)", shrink=min(1.0, 8 / shape[0]))
        save(figure, path)


def draw_distributions(
    path: Path,
    *,
    conditions: Sequence[str],
    aspects: Sequence[str],
    clean: ArrayLike,
    damaged: ArrayLike,
    highest: int,
) -> None:
    """Draw the distributions of scores before and after damage, side by side for each condition.

    For ``n`` conditions and ``m`` aspects, `clean` has the shape ``(m, segments)`` and `damaged`
    ``(n, m, segments)``: scores from 1 to `highest`, NaN if missing. Only segments with both scores
    are drawn.
    """
    before, after = np.asarray(clean, dtype=np.float64), np.asarray(damaged, dtype=np.float64)
    _checked(after, shape=(len(conditions), *before.shape))
    bounds = np.arange(0.5, highest + 1)
    palette = ListedColormap(colormaps["RdYlBu"](np.linspace(0, 1, highest)))
    size = (2.2 + 1.9 * len(aspects), 1.9 + _ROW * len(conditions))
    with drawing(path):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(1, len(aspects), sharey=True, squeeze=False)[0]
        for number, (panel, aspect) in enumerate(zip(axes, aspects, strict=True)):
            scores = after[:, number]
            undamaged = np.where(np.isnan(scores), np.nan, before[number])
            _stacks(panel, undamaged, bounds, shift=-0.19, palette=palette)
            _stacks(panel, scores + 0 * undamaged, bounds, shift=0.19, palette=palette)
            if np.isnan(scores + undamaged).all():
                panel.text(0.5, 0.5, "no scores", ha="center", transform=panel.transAxes)
            panel.set_title(aspect)
            panel.set_xlim(0, 1)
            panel.tick_params(axis="y", length=0)
            panel.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
            panel.set_xlabel("share of texts")
        _label_rows(axes[0], conditions)
        axes[0].set_ylabel("condition: above clean, below damaged; beside it the mean")
        colours = ScalarMappable(BoundaryNorm(bounds, highest), palette)
        ticks, shrink = np.arange(1, highest + 1), min(1.0, 3 / size[1])
        figure.colorbar(colours, ax=axes, label="score", ticks=ticks, shrink=shrink, aspect=12)
        save(figure, path)


def _bars(axes: Axes, scores: FloatArray, by_weights: FloatArray) -> None:
    rows = np.arange(scores.size)
    for values, shift, colour, name in (
        (scores, -0.19, _BLUE, "D"),
        (by_weights, 0.19, _ORANGE, "D, weighted"),
    ):
        axes.barh(rows + shift, np.nan_to_num(values), height=0.36, color=colour, label=name)
        for row, value in enumerate(values):
            _beside_bar(axes, "none" if np.isnan(value) else f"{value:.2f}", x=value, y=row + shift)
    axes.axvline(1, color="black", linewidth=1, linestyle="--", label="D = 1")


def _beside_bar(axes: Axes, text: str, *, x: float, y: float) -> None:
    """Write a number at the end of a bar, on white so that the line at D = 1 does not cross it."""
    number = axes.annotate(
        text,
        (np.nan_to_num(x), y),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=6.5,
    )
    number.set_bbox({"facecolor": "white", "linewidth": 0, "pad": 0.4})


def _label_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)


def _number(axes: Axes, value: float, *, x: int, y: int) -> None:
    text = "-" if np.isnan(value) else f"{round(value, 2) + 0.0:+.2f}"
    colour = "white" if abs(value) > _DARK else "black"
    axes.text(x, y, text, ha="center", va="center", fontsize=8, color=colour)


def _shares(scores: FloatArray, bounds: FloatArray) -> FloatArray:
    """Return the share of each step of the scale, for each condition.

    Means of repeated scores are rounded to the nearest step; shares are 0 without scores.
    """
    counts = np.array([np.histogram(row[np.isfinite(row)], bins=bounds)[0] for row in scores])
    return np.asarray(counts / np.maximum(1, counts.sum(axis=1, keepdims=True)), dtype=np.float64)


def _stacks(
    axes: Axes, scores: FloatArray, bounds: FloatArray, *, shift: float, palette: Colormap
) -> None:
    """Draw stacked shares of the steps of the scale, and the mean score beside them."""
    shares = _shares(scores, bounds)
    rows = np.arange(len(shares)) + shift
    starts = np.cumsum(shares, axis=1) - shares
    for step, widths in enumerate(shares.T):
        axes.barh(rows, widths, left=starts[:, step], height=0.36, color=palette(step))
    for row, score in zip(rows, scores, strict=True):
        if not np.isnan(score).all():
            _beside_bar(axes, f"{np.nanmean(score):.2f}", x=1, y=float(row))


def _checked(values: ArrayLike, *, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"expected numbers of shape {shape}, got {array.shape}")
    return array
