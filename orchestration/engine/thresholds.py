"""Thresholds of a panel's probability of an error, with what they cost on texts without error."""

import math
from dataclasses import dataclass
from typing import Literal

Signal = Literal["probability", "score"]
"""The number that is compared: the probability of an error, or the share of the scale that the
panel's score has lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Two thresholds, made for certain judges.

    Parameters
    ----------
    judges
        The judges whose probabilities they are for: those that state one, and no others. Where the
        signal is the score, the names of the seats that it is made of, those that a cascade
        expected a score of among them.
    beside
        Judges without a probability that were on the panel when the alarms were counted; their
        errors are counted in.
    doubtful, faulty
        The probability, or the lost share of the scale, from which on a text is so; `faulty` is
        infinite where none makes it so.
    doubtful_alarms, faulty_alarms
        Share of the texts without error that the whole panel called doubtful or faulty, and
        faulty, 0 to 1; where a rate is promised, the share that is not exceeded.
    texts
        Number of texts without error that the shares were counted on.
    data
        Where these are from.
    signal
        The number that is compared.
    promised
        The share of doubtful or faulty ones that is not exceeded among new texts without error of
        the same kind; None where nothing is promised.

    Raises
    ------
    ValueError
        If there is no judge, or the numbers are out of range or in the wrong order.
    """

    judges: frozenset[str]
    beside: frozenset[str] = frozenset()
    doubtful: float
    faulty: float
    doubtful_alarms: float
    faulty_alarms: float
    texts: int
    data: str
    signal: Signal = "probability"
    promised: float | None = None

    def __post_init__(self) -> None:
        if not self.judges:
            raise ValueError("thresholds need a judge that states a probability")
        reachable = self.faulty <= 1.0 or math.isinf(self.faulty)
        if not (0.0 < self.doubtful <= min(self.faulty, 1.0) and reachable):
            raise ValueError(f"got thresholds {self.doubtful!r} and {self.faulty!r}")
        if self.promised is not None and not 0.0 < self.promised < 1.0:
            raise ValueError(f"a share between 0 and 1 can be promised, got {self.promised!r}")
        if not 0.0 <= self.faulty_alarms <= self.doubtful_alarms <= 1.0:
            raise ValueError(f"got alarms {self.doubtful_alarms!r} and {self.faulty_alarms!r}")
        if self.texts < 1 or not self.data:
            raise ValueError(f"alarms were counted on {self.texts!r} texts of {self.data!r}")

    @property
    def covered(self) -> frozenset[str]:
        """The judges that were on the panel when the alarms were counted."""
        return self.judges | self.beside

    @property
    def measured_on(self) -> str:
        """The texts that the alarms were counted on, or are promised of, in words."""
        if self.promised is not None:
            return (
                f"texts like the {self.texts} without error of {self.data} (at most, as promised)"
            )
        return f"{self.texts} texts without error of {self.data}"


SHIPPED: tuple[Thresholds, ...] = (
    Thresholds(
        judges=frozenset(("grounding", "reader")),
        beside=frozenset(("form",)),
        doubtful=0.72,
        faulty=0.80,
        doubtful_alarms=0.114,
        faulty_alarms=0.058,
        texts=325,
        data="CLIFF (XSum and CNN/DM) and SummEdits (SciTLDR)",
    ),
    Thresholds(
        judges=frozenset(("grounding",)),
        beside=frozenset(("form",)),
        doubtful=0.65,
        faulty=0.85,
        doubtful_alarms=0.06,
        faulty_alarms=0.04,
        texts=325,
        data="CLIFF (XSum and CNN/DM) and SummEdits (SciTLDR)",
    ),
)
"""Thresholds of the default panel and of its rules alone, by the judges that state a probability.

Each is measured on the whole panel, and on texts that no judge of it was fitted to.
"""
