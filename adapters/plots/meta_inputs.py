"""Inputs for pictures of a comparison with people: plain names and numbers, no matplotlib."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationMap:
    """Correlations of scorers with each other, or with what people said.

    `measure` says which, as it should be read, such as ``Spearman's rho, per input``. `values` in
    ``[-1, 1]``, NaN where not defined, have the shape of `rows` and `columns`; of scorers with
    each other both are the same. If `clustered`, rows (and columns, where both are the same) that
    correlate alike should stand side by side. Otherwise they stand as they come.

    Raises `ValueError` if the shape is another or a value out of range.
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
        if (np.abs(values) > 1 + 1e-9).any():  # NaN is not
            raise ValueError("a correlation is in [-1, 1] or NaN, got one beyond")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A scorer's scores and people's of the same texts or systems.

    Both have the shape ``(n,)``; a pair with NaN is skipped, and that is said. `correlations` are
    names and values that stand above the picture, as they should be read. Raises `ValueError` if
    the lengths differ.
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
    """The cost of a scorer for 1,000 texts, at least 0, and its correlation with people.

    Each kind of scorer has a colour and a mark. NaN is a cost that is not known, or a correlation
    that is not defined. Raises `ValueError` if the cost is below 0 or infinite.
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
    """The correlation of ensembles of each size with people.

    `mean`, `low` and `high` have one entry a size: the mean over ensembles and the ends of its
    spread; NaN where there is none. Raises `ValueError` if the lengths differ or the sizes do not
    ascend.
    """

    name: str
    sizes: tuple[int, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        _same_lengths(self.sizes, self.mean, self.low, self.high)
        if not self.sizes or sorted(set(self.sizes)) != list(self.sizes):
            raise ValueError(f"expected ascending sizes, got {self.sizes}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemScore:
    """A system's score with the ends of the interval around it; NaN where there is none.

    A system without a score stands last. Systems of one `cluster` do not differ significantly;
    None where that was not asked. Raises `ValueError` if the score is not within its interval.
    """

    name: str
    score: float
    low: float
    high: float
    cluster: int | None = None

    def __post_init__(self) -> None:
        if self.low > self.score or self.score > self.high:  # NaN is neither
            raise ValueError(
                f"the score of {self.name!r}, {self.score}, is not in [{self.low}, {self.high}]"
            )


def _same_lengths(*parts: Sequence[object]) -> None:
    lengths = [len(part) for part in parts]
    if len(set(lengths)) > 1:
        raise ValueError(f"expected parts of the same length, got {lengths}")
