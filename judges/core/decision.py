"""Decision: whether a text can be used unchanged, on one aspect, and what says so."""

from dataclasses import dataclass
from enum import StrEnum

_FORMER_UNSURE = "doubtful"


class Decision(StrEnum):
    """The advice of a report."""

    OK = "ok"
    """No error was found, or only slight ones."""
    UNSURE = "unsure"
    """The judges cannot tell: a person or another judge should look."""
    FAULTY = "faulty"
    """The text has an error."""

    @classmethod
    def _missing_(cls, value: object) -> "Decision | None":
        """Read the former word for `UNSURE`, as in older results, filters and requests."""
        return cls.UNSURE if value == _FORMER_UNSURE else None


class Ground(StrEnum):
    """The kind of thing that a decision rests on."""

    PROBABILITY = "probability"
    """The probability of an error, beside thresholds."""
    SPANS = "spans"
    """The errors that were marked, by their severity."""
    SCORE = "score"
    """A low score of judges that mark no error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionBasis:
    """The ground of a decision, and how often it is wrong.

    Parameters
    ----------
    ground
        What decided.
    reason
        The same in a sentence.
    threshold
        The probability that was reached or, for ``ok``, was not; None where none decided.
    false_alarms
        Share of the texts without error that get this decision or a graver one, 0 to 1; None
        where it is not known, and for ``ok``, which is no alarm.
    misses
        Share of the texts with an error that are called ``ok``, 0 to 1; None where it is not
        known, and for any other decision.
    spread
        Lowest and highest of this share over kinds of text; None where they are not known.
    measured_on
        The texts that the share was counted on; empty where it is not known.

    Raises
    ------
    ValueError
        If a number is out of range, a threshold comes without the probability for ground or the
        reverse, there are two shares, or a share comes without the texts that it was counted on.
    """

    ground: Ground
    reason: str
    threshold: float | None = None
    false_alarms: float | None = None
    misses: float | None = None
    spread: tuple[float, float] | None = None
    measured_on: str = ""

    def __post_init__(self) -> None:
        for share in (self.threshold, self.false_alarms, self.misses, *(self.spread or ())):
            if share is not None and not 0.0 <= share <= 1.0:
                raise ValueError(f"a probability must be 0 to 1, got {share!r}")
        if (self.threshold is None) == (self.ground is Ground.PROBABILITY):
            raise ValueError(f"decided by {self.ground.value} with threshold {self.threshold!r}")
        if self.false_alarms is not None and self.misses is not None:
            raise ValueError(f"{self.false_alarms!r} false alarms and {self.misses!r} misses")
        if (self.share is None) != (not self.measured_on):
            raise ValueError(f"a share of {self.share!r} on {self.measured_on!r}")
        if self.spread and (self.share is None or self.spread[0] > self.spread[1]):
            raise ValueError(f"a share of {self.share!r} spreads over {self.spread!r}")

    @property
    def share(self) -> float | None:
        """Return how often the decision is wrong: its false alarms, or its misses."""
        return self.misses if self.false_alarms is None else self.false_alarms
