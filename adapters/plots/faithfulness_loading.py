"""What can be drawn of an exam of faithfulness, and how to come by it."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from numpy.typing import ArrayLike

from spanjury.judges.core import ConfigError

__all__ = ["Curve", "FaithfulnessPlots", "Stack", "load_faithfulness_plots"]


class Stack(Protocol):
    """Shares of reports by their score to begin with."""

    @property
    def title(self) -> str:
        """What was done."""
        ...

    @property
    def scores(self) -> Sequence[int]:
        """The ``n`` scores to begin with."""
        ...

    @property
    def parts(self) -> Sequence[str]:
        """The ``m`` parts into which reports are divided."""
        ...

    @property
    def shares(self) -> ArrayLike:
        """Shape ``(n, m)``, in ``[0, 1]``."""
        ...

    @property
    def reports(self) -> ArrayLike:
        """Shape ``(n,)``: how many reports there are."""
        ...


class Curve(Protocol):
    """A mean at each of some places, and its spread."""

    @property
    def name(self) -> str:
        """What the line is called."""
        ...

    @property
    def x(self) -> Sequence[int]:
        """The places, in ascending order."""
        ...

    @property
    def mean(self) -> Sequence[float]:
        """One a place."""
        ...

    @property
    def spread(self) -> Sequence[float]:
        """One a place, at least 0."""
        ...


class FaithfulnessPlots(Protocol):
    """Draw an exam; a path that ends in ``.png`` or ``.svg`` says how.

    Every function raises `ConfigError` for another ending.
    """

    def draw_stacks(self, path: Path, *, panels: Mapping[str, Sequence[Stack]]) -> None:
        """Draw stacked bars, a row of panels for each name.

        Parameters
        ----------
        path
            Where to.
        panels
            Whose reports -> what is drawn of them; names without any are left out.
        """
        ...

    def draw_curves(
        self, path: Path, *, panels: Mapping[str, Sequence[Curve]], measure: tuple[str, str]
    ) -> None:
        """Draw lines with their spread as a shade, a panel for each name.

        Parameters
        ----------
        path
            Where to.
        panels
            Whose scores -> the lines; names without any are left out.
        measure
            What the axes are called, across and up.
        """
        ...


def load_faithfulness_plots() -> FaithfulnessPlots:
    """Load matplotlib, which takes a while; raise `ConfigError` if it is not installed."""
    try:
        loaded = import_module("spanjury.adapters.plots.faithfulness")
    except ImportError as error:
        raise ConfigError(
            f"matplotlib is not installed ({error}): pip install 'spanjury[plots]'"
        ) from error
    return cast("FaithfulnessPlots", loaded)  # a module; a test has mypy check it
