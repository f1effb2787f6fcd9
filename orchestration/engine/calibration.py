"""A calibration: corrections fitted to people's marks for the numbers of one panel.

It maps scores to people's scale, sets thresholds with a promised false-alarm rate, and weights
severities. It stores the distribution of the panel's numbers on the texts that it was fitted to, so
that a run with very different texts can be detected.
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
"""Number of steps of the stored quantiles of the panel's numbers."""
_SMIRNOV = 1.628
"""Critical two-sample Kolmogorov-Smirnov statistic at 1 %, divided by ``sqrt(1 / n + 1 / m)``."""
_WORTH_SAYING = 0.15
"""Smaller distances are not worth reporting, even if they are significant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCalibration:
    """The calibration of a panel on one aspect.

    Parameters
    ----------
    score_map
        From the panel's score to people's, both on the scale of the aspect; None if none was
        fitted.
    thresholds
        With their promised false-alarm rate; None if there were too few texts to fit any.
    severity_weights
        Weights of severities 1 to 5, for a score computed from spans; None if none were fitted.
    texts, sources
        Number of marked texts, and number of sources that the texts were made from.
    made_on
        A description of the marks.
    seen
        Quantiles, in steps of 5 %, of the panel's `signal` on these texts.
    signal
        The number that `seen` describes: the probability of an error or, if no seat states one, the
        score after the map.
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
        """Return the panel's score mapped to people's scale."""
        return self.score_map.at(score) if self.score_map else score

    def before(self, others: tuple[Thresholds, ...]) -> tuple[Thresholds, ...]:
        """Return the fitted thresholds, if any, followed by `others`."""
        return (self.thresholds, *others) if self.thresholds else others

    def distance(self, values: Sequence[float]) -> float:
        """Return the distance of `values` from `seen`: 0 if alike, 1 if nothing overlaps.

        This is the Kolmogorov-Smirnov distance: the largest difference of the cumulative shares.
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
        """Return whether `values` differs from `seen` significantly and by a relevant amount."""
        if not values:
            return False
        # Quantiles in steps hide differences of up to a step.
        chance = _SMIRNOV * math.sqrt(1 / len(values) + 1 / self.texts) + 1 / QUANTILES
        return self.distance(values) > max(chance, _WORTH_SAYING)


def _share(ordered: Sequence[float], at: float, *, upto: bool) -> float:
    """Return the share of `ordered` below `at`; values equal to `at` count if `upto`."""
    below = bisect_right(ordered, at) if upto else bisect_left(ordered, at)
    return below / len(ordered)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A calibration of one panel.

    Parameters
    ----------
    panel
        The panel's `panel_digest`.
    seats
        Its seats, sorted by name, each as ``name=signature`` without the release.
    aspects
        ``task/aspect`` -> the calibration of that aspect.
    digest
        Digest of all fitted values; part of the signature of the panel that uses the calibration.
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
        """Return the calibration of an aspect of a task; None if there is none."""
        return self.aspects.get(aspect_key(task, aspect))

    def plain(self) -> dict[str, object]:
        """Return the calibration as plain values, without None and empty lists."""
        aspects = {name: _plain(asdict(aspect)) for name, aspect in self.aspects.items()}
        return {"panel": self.panel, "seats": list(self.seats), "aspects": aspects}


def _plain(values: object) -> object:
    """Return tuples as lists and sets sorted; leave out None and empty lists."""
    if isinstance(values, Mapping):
        plain = {name: _plain(value) for name, value in values.items() if value is not None}
        return {name: value for name, value in plain.items() if value != []}
    if isinstance(values, frozenset):
        return sorted(values)
    if isinstance(values, Iterable) and not isinstance(values, str):
        return [_plain(value) for value in values]
    return values
