"""Tuning: map the model's outputs for words and sentences to a probability."""

from dataclasses import dataclass
from math import exp, log

from spanjury.judges.core import WindowReading

_SURE = 0.001  # minimum distance of probabilities from 0 and 1
_MOST = 700.0  # largest argument for which `exp` does not overflow
_BY_SENTENCE, _BY_WORD = 0.5, 0.5
"""Weights of the likelihoods of a sentence and of its worst word, which sum to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Constants that are fitted to a trained model.

    Raises `ValueError` if a number is out of range.

    Parameters
    ----------
    threshold
        Probability of an error, above 0, from which a word is marked.
    sentence_threshold
        Minimum probability of an error in a sentence for its words to be marked, 0 to 1. The
        probability comes from the mean of the log odds of the sentence and of its worst word.
    vouched
        Probability of an error below which the judge vouches for a sentence, above 0.
    slope, intercept
        Constants of the logistic function from `sentence_evidence` to a probability. The slope is
        positive.
    """

    threshold: float = 0.5
    sentence_threshold: float = 0.0
    vouched: float = 0.3
    slope: float = 1.0
    intercept: float = 0.0

    def __post_init__(self) -> None:
        for name in ("threshold", "vouched"):
            if not 0.0 < (value := getattr(self, name)) <= 1.0:
                raise ValueError(f"{name} must be above 0 and at most 1, got {value!r}")
        if not 0.0 <= self.sentence_threshold <= 1.0:
            raise ValueError(f"sentence_threshold must be 0 to 1, got {self.sentence_threshold!r}")
        if not self.slope > 0.0:
            raise ValueError(f"slope must be positive, got {self.slope!r}")

    def is_suspect(self, evidence: float) -> bool:
        """Return whether a sentence is suspicious enough for its words to be marked."""
        return 1.0 / (1.0 + exp(-evidence)) >= self.sentence_threshold

    def probability(self, evidence: float) -> float:
        """Return the probability of an error in a text, or a sentence, with this evidence."""
        return 1.0 / (1.0 + exp(min(_MOST, -(self.slope * evidence + self.intercept))))


LEAST = log(_SURE / (1.0 - _SURE))
"""Evidence of a text whose sentences are all copies, a lower bound for all sentences."""


def sentence_evidence(reading: WindowReading) -> float:
    """Return the log odds of an error in a sentence, before calibration.

    They are a weighted mean of the log odds of the sentence and of its worst word. The evidence of
    a text is that of its worst sentence.
    """
    worst = min((word.supported for word in reading.words), default=1.0)
    sentence = _log_odds(1.0 - reading.sentence.supported)
    return _BY_SENTENCE * sentence + _BY_WORD * _log_odds(1.0 - worst)


def _log_odds(probability: float) -> float:
    clipped = min(max(probability, _SURE), 1.0 - _SURE)
    return log(clipped / (1.0 - clipped))
