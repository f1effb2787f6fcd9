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

from spanjury.judges.core import MAX_SEVERITY, fingerprint
from spanjury.orchestration.engine.made_for import aspect_key
from spanjury.orchestration.engine.score_map import ScoreMap
from spanjury.orchestration.engine.thresholds import Signal, Thresholds

QUANTILES = 20
"""Steps of the quantiles in which a calibration remembers what the panel said."""
_SMIRNOV = 1.628
"""Kolmogorov and Smirnov's statistic at 1 %, times the root of the number of texts."""
_WORTH_SAYING = 0.15
"""Smaller distances are of no consequence, however many texts show them."""


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
        Weights of severities 1 to 5, for a score that follows from spans; None for none.
    texts, sources
        Numbers of marked texts, and of the sources they were made of.
    made_on
        The marks, in words.
    seen
        Quantiles, in steps of 5 %, of what the panel says of these texts.
    signal
        What that is: the probability of an error or, where no seat states one, the score after
        the map.
    """

    score_map: ScoreMap | None = None
    thresholds: Thresholds | None = None
    severity_weights: tuple[float, ...] | None = None
    texts: int
    sources: int
    made_on: str
    seen: tuple[float, ...]
    signal: Signal = "probability"

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

    def score(self, score: float) -> float:
        """Return what the panel's score is on people's scale."""
        return self.score_map.at(score) if self.score_map else score

    def before(self, others: tuple[Thresholds, ...]) -> tuple[Thresholds, ...]:
        """Return the thresholds that were fitted, if any, and behind them `others`."""
        return (self.thresholds, *others) if self.thresholds else others

    def distance(self, values: Sequence[float]) -> float:
        """Return how far `values` is from what was seen: 0, the same, to 1, nothing in common.

        It is Kolmogorov and Smirnov's: the largest difference of the shares below any number.
        """
        new = sorted(values)
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

    def is_far(self, values: Sequence[float]) -> bool:
        """Say whether `values` differs from what was seen by more than chance, and by enough."""
        if not values:
            return False
        # Quantiles in steps hide differences of up to a step.
        chance = _SMIRNOV * math.sqrt(1 / len(values) + 1 / self.texts) + 1 / QUANTILES
        return self.distance(values) > max(chance, _WORTH_SAYING)


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
        Digest of all that is fitted; it is in the signature of the panel that it is applied to.
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
        aspects = {name: _plain(asdict(aspect)) for name, aspect in self.aspects.items()}
        return {"panel": self.panel, "seats": list(self.seats), "aspects": aspects}


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
