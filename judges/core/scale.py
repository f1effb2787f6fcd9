"""The ordinal scale of a score, and the score that corresponds to a probability of an error."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """An ordinal scale: labels from worst to best, with the scores 1, 2, …, n.

    Raises `ValueError` if there are fewer than two labels, or two that differ only in case.

    Parameters
    ----------
    labels
        At least two distinct labels, worst first. The default is the five-point scale
        of OpeNLGauge (section 4).
    """

    labels: tuple[str, ...] = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")

    def __post_init__(self) -> None:
        folded = {label.casefold() for label in self.labels}
        if len(self.labels) < 2 or len(folded) != len(self.labels):  # noqa: PLR2004
            raise ValueError(f"a scale needs two or more distinct labels, got {self.labels!r}")

    @property
    def low(self) -> int:
        """The score of the worst label."""
        return 1

    @property
    def high(self) -> int:
        """The score of the best label."""
        return len(self.labels)

    def value(self, label: str) -> int | None:
        """Return the score of `label`, ignoring case, or None if it is not a label."""
        folded = label.strip().casefold()
        for score, named in enumerate(self.labels, start=1):
            if named.casefold() == folded:
                return score
        return None

    def label(self, score: float) -> str:
        """Return the label nearest to `score`; halves go to the better one."""
        return self.labels[min(self.high, max(self.low, int(score + 0.5))) - 1]

    def __contains__(self, score: float) -> bool:
        return self.low <= score <= self.high


def score_of_probability(probability: float, scale: Scale) -> float:
    """Return the score of a text that has an error with this probability, 0 to 1."""
    return scale.high - (scale.high - scale.low) * probability
