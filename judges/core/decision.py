"""Decision: whether a text may be used as it is, on one aspect, and what says so."""

from dataclasses import dataclass
from enum import StrEnum


class Decision(StrEnum):
    """The advice of a report."""

    OK = "ok"
    """No error was found, or only slight ones."""
    DOUBTFUL = "doubtful"
    """There may be an error: a person should look."""
    FAULTY = "faulty"
    """The text has an error."""


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
    """The ground of a decision, and how often it blames a text without error.

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
    measured_on
        The texts that the share was counted on; empty where it is not known.

    Raises
    ------
    ValueError
        If a number is out of range, a threshold comes without the probability for ground or the
        reverse, or a share without the texts that it was counted on.
    """

    ground: Ground
    reason: str
    threshold: float | None = None
    false_alarms: float | None = None
    measured_on: str = ""

    def __post_init__(self) -> None:
        for share in (self.threshold, self.false_alarms):
            if share is not None and not 0.0 <= share <= 1.0:
                raise ValueError(f"a probability must be 0 to 1, got {share!r}")
        if (self.threshold is None) == (self.ground is Ground.PROBABILITY):
            raise ValueError(f"decided by {self.ground.value} with threshold {self.threshold!r}")
        if (self.false_alarms is None) != (not self.measured_on):
            raise ValueError(f"{self.false_alarms!r} false alarms on {self.measured_on!r}")
