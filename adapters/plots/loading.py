"""What can be drawn of an exam, and how to come by it."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from numpy.typing import ArrayLike

from spanjury.judges.core import ConfigError

__all__ = ["DiscernmentPlots", "load_discernment_plots"]


class DiscernmentPlots(Protocol):
    """Draw an exam; a path that ends in ``.png`` or ``.svg`` says how.

    Every function raises `ConfigError` for another ending, and ``ValueError`` where names and
    numbers do not fit each other.
    """

    def draw_scores(
        self,
        path: Path,
        *,
        conditions: Sequence[str],
        levels: Sequence[str],
        discernment: ArrayLike,
        weighted: ArrayLike,
    ) -> None:
        """Draw bars of D, condition by condition, grouped by level, with a line at D = 1.

        Parameters
        ----------
        path
            Where to.
        conditions, levels
            ``n`` names, and the level of each.
        discernment, weighted
            Shape ``(n,)``: D, and D with experts' weights; NaN where there is none.
        """
        ...

    def draw_effects(
        self,
        path: Path,
        *,
        conditions: Sequence[str],
        aspects: Sequence[str],
        effects: ArrayLike,
        targeted: ArrayLike,
    ) -> None:
        """Draw a map of P(drop) - P(rise), with a frame where scores should fall.

        Parameters
        ----------
        path
            Where to.
        conditions, aspects
            ``n`` and ``m`` names.
        effects
            Shape ``(n, m)``, in ``[-1, 1]``; NaN where there is none.
        targeted
            Shape ``(n, m)``, of truth values.
        """
        ...

    def draw_distributions(
        self,
        path: Path,
        *,
        conditions: Sequence[str],
        aspects: Sequence[str],
        clean: ArrayLike,
        damaged: ArrayLike,
        highest: int,
    ) -> None:
        """Draw how scores are spread before and after, each condition beside its clean texts.

        Parameters
        ----------
        path
            Where to.
        conditions, aspects
            ``n`` and ``m`` names.
        clean
            Shape ``(m, segments)``: scores from 1 to `highest`, NaN where there is none.
        damaged
            Shape ``(n, m, segments)``: likewise. Only segments with both scores are drawn.
        highest
            The best score of the scale.
        """
        ...


def load_discernment_plots() -> DiscernmentPlots:
    """Load matplotlib, which takes a while; raise `ConfigError` if it is not installed."""
    try:
        loaded = import_module("spanjury.adapters.plots.discernment")
    except ImportError as error:
        raise ConfigError(
            f"matplotlib is not installed ({error}): pip install 'spanjury[plots]'"
        ) from error
    return cast("DiscernmentPlots", loaded)  # a module; a test has mypy check it
