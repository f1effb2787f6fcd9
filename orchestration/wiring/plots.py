"""Plots: modules that import matplotlib only when drawing, their inputs, and files."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from spanjury.adapters.plots import discernment, faithfulness, meta
from spanjury.adapters.plots.meta_inputs import (
    Agreement,
    CorrelationMap,
    EnsembleCurve,
    ScorerCost,
    SystemScore,
)
from spanjury.judges.core import ConfigError, StoreError
from spanjury.judges.core.lazy import require
from spanjury.orchestration.report import Picture
from spanjury.orchestration.report.files import make_folder

__all__ = [
    "Agreement",
    "CorrelationMap",
    "Drawing",
    "EnsembleCurve",
    "ScorerCost",
    "SystemScore",
    "discernment",
    "draw",
    "faithfulness",
    "meta",
]


class Drawing(NamedTuple):
    """A plot to be drawn: the name of its files, and a description."""

    name: str
    alt: str
    draw: Callable[..., None]
    """Draws the plot into each of the given files."""


def draw(
    folder: Path,
    drawings: Iterable[Drawing],
    *,
    by: ModuleType,
    endings: Sequence[str] = (".png", ".svg"),
) -> list[tuple[Picture, list[Path]]]:
    """Draw plots with a module, each into a file for every ending.

    Return each plot with its files, of which pages show the first; empty without matplotlib. Raise
    `StoreError` if a file cannot be written.
    """
    try:
        require(by)
    except ConfigError:
        return []
    drawn = []
    try:
        make_folder(folder)
        for drawing in drawings:
            paths = [folder / f"{drawing.name}{ending}" for ending in endings]
            drawing.draw(*paths)
            drawn.append((Picture(file=paths[0], alt=drawing.alt), paths))
    except OSError as error:
        raise StoreError(f"{folder.parent}: cannot be written: {error.strerror}") from error
    return drawn
