"""What can be trained, and how to come by the libraries that do it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

from spanjury.adapters.training.job import DataStatistics, Progress, TrainingOptions, TrainingPair
from spanjury.judges.core import ConfigError

__all__ = ["Trained", "Training", "TrainingJob", "load_training"]

_NEEDED = ("torch", "transformers", "peft")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingJob:
    """What is to be trained.

    Parameters
    ----------
    pairs, validation
        What is learnt from, at least one; and what the loss is measured on besides.
    base
        As `find_base` takes it.
    folder
        Where to.
    options
        How.
    data
        What the card tells of the data.
    """

    pairs: Sequence[TrainingPair]
    validation: Sequence[TrainingPair] = ()
    base: str
    folder: Path
    options: TrainingOptions
    data: DataStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """What became of a training.

    Parameters
    ----------
    finished
        Whether it came to its end; else a checkpoint is there.
    progress
        How far it is.
    steps
        How many there are in all.
    cut, left_out
        How many examples lost the end of a source, and how many were too long all the same.
    """

    finished: bool
    progress: Progress
    steps: int
    cut: int
    left_out: int


class Training(Protocol):
    """Train as a job says."""

    def train(
        self,
        job: TrainingJob,
        *,
        tell: Callable[[Progress, int, str], None],
        stopped: Callable[[], bool],
    ) -> Trained:
        """Train, or go on training; see `spanjury.adapters.training.training.train`."""
        ...


def load_training() -> Training:
    """Load what trains; raise `ConfigError` if its libraries are not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise ConfigError(f"training needs {', '.join(missing)}: pip install 'spanjury[train]'")
    # A module whose function is the protocol's.
    return cast("Training", import_module("spanjury.adapters.training.training"))
