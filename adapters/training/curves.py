"""A picture of the training loss."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def draw_curves(
    path: Path,
    *,
    losses: Sequence[tuple[int, float]],
    validations: Sequence[tuple[int, float]],
) -> None:
    """Draw the losses of training steps and validations as a PNG; each is ``(step, loss)``."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    if losses:
        axes.plot(*zip(*losses, strict=True), color="#9bb7d4", linewidth=1, label="training")
    if validations:
        axes.plot(*zip(*validations, strict=True), color="#b5442e", marker="o", label="validation")
    axes.set_xlabel("step")
    axes.set_ylabel("mean loss of an example (nats per token)")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if losses or validations:
        axes.legend(frameon=False)
    figure.savefig(path, format="png", dpi=120)
