"""A calibration: what people's marks say of a panel's numbers, fitted to one panel alone.

It maps scores to people's scale, sets thresholds whose false-alarm rate is promised, and weighs
severities. It remembers what the panel said of the texts it was made on, so that a run that is far
from them is known.
"""

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Protocol

from spanjury.judges.core import MAX_SEVERITY, fingerprint
from spanjury.orchestration.engine.thresholds import Thresholds

QUANTILES = 20
"""Steps of the quantiles in which a calibration remembers what the panel said."""
_SMIRNOV = 1.628
"""Kolmogorov and Smirnov's statistic at 1 %, times the root of the number of texts."""
_WORTH_SAYING = 0.15
"""Smaller distances are of no consequence, however many texts show them."""
_DECISION = "|decision:"


class Signed(Protocol):
    """Whatever has a signature as `Panel` does."""

    @property
    def signature(self) -> str:
        """All that can change a number."""


def panel_digest(panel: Signed | str) -> str:
    """Return the digest of what a calibration is made for: seats, aggregation and consolidator.

    Parameters
    ----------
    panel
        A panel, or the signature of one, which says after its ``decision`` what changes no score
        of a panel whose seats all judge.
    """
    whole = panel if isinstance(panel, str) else panel.signature
    return fingerprint(whole.partition(_DECISION)[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMap:
    """A map that never falls: straight lines between knots, flat outside of them.

    Raises `ValueError` if there is no knot, knots do not ascend, values fall, or a number is not
    finite.

    Examples
    --------
    >>> ScoreMap(knots=(1.0, 3.0), values=(2.0, 4.0)).at(2.0)
    3.0
    """

    knots: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.knots or len(self.knots) != len(self.values):
            raise ValueError(f"{len(self.knots)} knots with {len(self.values)} values")
        if not all(map(math.isfinite, (*self.knots, *self.values))):
            raise ValueError(f"expected finite knots and values, got {self.knots!r}, {self.values}")
        if any(after <= before for before, after in pairwise(self.knots)):
            raise ValueError(f"knots must ascend, got {self.knots!r}")
        if any(after < before for before, after in pairwise(self.values)):
            raise ValueError(f"values must not fall, got {self.values!r}")

    def at(self, score: float) -> float:
        """Return the value of `score`."""
        after = bisect_right(self.knots, score)
        if after == 0:
            return self.values[0]
        if after == len(self.knots):
            return self.values[-1]
        start, end = self.knots[after - 1 : after + 1]
        low, high = self.values[after - 1 : after + 1]
        # Rounding may miss the upper knot by a hair, but never the order of two scores.
        return min(high, low + (high - low) * ((score - start) / (end - start)))


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCalibration:
    """Estimate of the whole panel's score by the first seats of a cascade.

    Parameters
    ----------
    seats
        Those that have judged by the end of the stage.
    score_map
        From the mean of their scores, each put on 0 to 1, to the whole panel's score.
    unsure
        The interval of that estimate in which the others must judge, too.
    """

    seats: tuple[str, ...]
    score_map: ScoreMap
    unsure: tuple[float, float]

    def __post_init__(self) -> None:
        if not self.seats or not self.unsure[0] <= self.unsure[1]:
            raise ValueError(f"a stage of {self.seats!r} that is unsure in {self.unsure!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCalibration:
    """The calibration of a panel on one aspect.

    Parameters
    ----------
    score_map
        From the panel's score to people's, both on the scale of the aspect; None for none.
    thresholds
        With the false-alarm rate that they promise; None where too few texts allow none.
    severity_weights
        Of severities 1 to 5, for a score that follows from spans; None for none.
    texts, sources
        Numbers of marked texts, and of the sources they were made of.
    made_on
        The marks, in words.
    seen
        Quantiles, in steps of 5 %, of what the panel said of these texts: the probability of an
        error, or its score where it states none.
    stages
        Of a cascade of this panel.
    """

    score_map: ScoreMap | None = None
    thresholds: Thresholds | None = None
    severity_weights: tuple[float, ...] | None = None
    texts: int
    sources: int
    made_on: str
    seen: tuple[float, ...]
    stages: tuple[StageCalibration, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.sources <= self.texts:
            raise ValueError(f"{self.texts} texts of {self.sources} sources")
        if len(self.seen) != QUANTILES + 1 or list(self.seen) != sorted(self.seen):
            raise ValueError(f"expected {QUANTILES + 1} quantiles in order, got {self.seen!r}")
        weights = self.severity_weights
        if weights is not None and (
            len(weights) != MAX_SEVERITY or list(weights) != sorted(weights) or weights[0] < 0
        ):
            raise ValueError(f"weights must be five numbers from 0 up, got {weights!r}")

    def distance(self, said: Sequence[float]) -> float:
        """Return how far `said` is from what was seen: 0, the same, to 1, nothing in common.

        It is Kolmogorov and Smirnov's: the largest difference of the shares below any number.
        """
        new = sorted(said)
        return max(
            (
                max(
                    abs(_share(new, at, upto=True) - _share(self.seen, at, upto=True)),
                    abs(_share(new, at, upto=False) - _share(self.seen, at, upto=False)),
                )
                for at in self.seen
            ),
            default=0.0,
        )

    def is_far(self, said: Sequence[float]) -> bool:
        """Say whether `said` differs from what was seen by more than chance, and by enough."""
        if not said:
            return False
        # Quantiles in steps hide differences of up to a step.
        chance = _SMIRNOV * math.sqrt(1 / len(said) + 1 / self.texts) + 1 / QUANTILES
        return self.distance(said) > max(chance, _WORTH_SAYING)


def _share(ordered: Sequence[float], at: float, *, upto: bool) -> float:
    """Return the share of `ordered` below `at`, or up to it."""
    below = bisect_right(ordered, at) if upto else bisect_left(ordered, at)
    return below / len(ordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A calibration of one panel.

    Parameters
    ----------
    panel
        Its `panel_digest`.
    seats
        Its seats, each as ``name=signature`` without the release, by name.
    aspects
        ``task/aspect`` -> what was fitted on it.
    digest
        Of all that is fitted; it is in the signature of the panel that it is applied to.
    """

    panel: str
    seats: tuple[str, ...] = ()
    aspects: Mapping[str, AspectCalibration]
    digest: str = field(init=False, default="")

    def __post_init__(self) -> None:
        if not self.panel or not self.aspects:
            raise ValueError("a calibration is made for a panel, on one aspect or more")
        fitted = json.dumps(self.plain(), sort_keys=True)
        object.__setattr__(self, "digest", fingerprint(fitted))  # the dataclass is frozen

    def on(self, task: str, aspect: str) -> AspectCalibration | None:
        """Return what was fitted on an aspect of a task; None for nothing."""
        return self.aspects.get(aspect_key(task, aspect))

    def plain(self) -> dict[str, object]:
        """Return it as plain values, without what is None or empty."""
        aspects = {name: _plain(asdict(one)) for name, one in self.aspects.items()}
        return {"panel": self.panel, "seats": list(self.seats), "aspects": aspects}


def aspect_key(task: str, aspect: str) -> str:
    """Return the name of an aspect of a task in a calibration."""
    return f"{task}/{aspect}"


def _plain(values: object) -> object:
    """Return tuples as lists and sets in order; leave out what is None or an empty list."""
    if isinstance(values, Mapping):
        made = {name: _plain(value) for name, value in values.items() if value is not None}
        return {name: value for name, value in made.items() if value != []}
    if isinstance(values, frozenset):
        return sorted(values)
    if isinstance(values, Iterable) and not isinstance(values, str):
        return [_plain(value) for value in values]
    return values
