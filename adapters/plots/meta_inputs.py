"""Inputs for pictures of a comparison with people: names and numbers, without matplotlib."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationMap:
    """Correlations of scorers with each other, or with human scores.

    `measure` is the title of the scale, such as ``Spearman's rho, per input``. `values` are in
    ``[-1, 1]``, NaN if undefined, with a row for each of `rows` and a column for each of `columns`;
    both are the same for scorers with each other. If `clustered`, rows with similar correlations
    are put side by side, and columns too if they are the same. Otherwise their order is kept.

    Raises `ValueError` if the shape differs or a value is out of range.
    """

    measure: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: ArrayLike
    clustered: bool = False

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        shape = (len(self.rows), len(self.columns))
        if values.shape != shape or not values.size:
            raise ValueError(f"expected correlations of shape {shape}, got {values.shape}")
        if (np.abs(values) > 1 + 1e-9).any():  # False for NaN
            raise ValueError("a correlation is in [-1, 1] or NaN, got one beyond")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A scorer's scores and human scores for the same texts or systems.

    Both have the shape ``(n,)``; pairs with NaN are skipped, and a note gives their number.
    `correlations` are names and values for the title. Raises `ValueError` if the lengths differ.
    """

    scorer: str
    aspect: str
    scores: ArrayLike
    human: ArrayLike
    correlations: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        shapes = [np.shape(values) for values in (self.scores, self.human)]
        if len(shapes[0]) != 1 or shapes[0] != shapes[1]:
            raise ValueError(f"expected as many scores as human ones, got shapes {shapes}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerCost:
    """A scorer's cost for 1,000 texts, at least 0, and its correlation with people.

    Each kind of scorer has its own colour and marker. NaN is an unknown cost, or an undefined
    correlation. Raises `ValueError` if the cost is negative or infinite.
    """

    name: str
    kind: str
    cost: float
    correlation: float

    def __post_init__(self) -> None:
        if self.cost < 0 or math.isinf(self.cost):
            raise ValueError(f"{self.name!r} costs {self.cost}, expected 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class EnsembleCurve:
    """Correlation with people by the size of an ensemble.

    `mean`, `low` and `high` have one entry per size: the mean over ensembles and the ends of its
    spread; NaN if undefined. Raises `ValueError` if the lengths differ or the sizes do not ascend.
    """

    name: str
    sizes: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        lengths = [len(part) for part in (self.sizes, self.mean, self.low, self.high)]
        if len(set(lengths)) > 1:
            raise ValueError(f"expected parts of the same length, got {lengths}")
        if not self.sizes or sorted(set(self.sizes)) != list(self.sizes):
            raise ValueError(f"expected ascending sizes, got {self.sizes}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScore:
    """A system's score with the ends of its interval; NaN if undefined.

    Systems without a score come last. Raises `ValueError` if the score is outside its interval.
    """

    name: str
    score: float
    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.score or self.score > self.high:  # False for NaN
            raise ValueError(
                f"the score of {self.name!r}, {self.score}, is not in [{self.low}, {self.high}]"
            )
