"""Tuning: from what a model says of words and sentences to a probability, and to a score."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log, sqrt

from spanjury.judges.core import ErrorSpan, Likelihoods, Scale, WindowReading

_SURE = 0.001  # probabilities are held so far from 0 and 1
_MOST = 700.0  # of which the exponential is a number
_BY_SENTENCE, _BY_WORD = 0.5, 0.5
"""Weights of the likelihoods of a sentence and of its worst word, which sum to 1."""

_BEST_WITH_ERRORS = 7 / 8  # of the scale: what is above is of texts without error spans
_BY_PROBABILITY = 0.5  # how much of a score with errors depends on the probability
_WITHOUT_ERRORS = 0.1  # the same without errors, where other judges of a panel know the order
_COSTS = (0.0, 0.1, 0.2, 0.35, 0.6, 1.0)  # of an error by severity
_UNKNOWN = 3  # severity of an error that has none


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Constants that are fitted to a model, once it is trained.

    Parameters
    ----------
    threshold
        Probability of an error, above 0, from which a word is marked.
    sentence_threshold
        The same of a sentence, by the mean of the log odds of the sentence and of its worst word:
        in one below it no word is marked. 0 to 1, and 0 to mark words in any.
    slope, intercept
        Of the logistic function that makes a probability of `worst_evidence`; a positive slope.

    Raises
    ------
    ValueError
        If a number is out of range.
    """

    threshold: float = 0.5
    sentence_threshold: float = 0.0
    slope: float = 1.0
    intercept: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold <= 1.0:
            raise ValueError(f"threshold must be above 0 and at most 1, got {self.threshold!r}")
        if not 0.0 <= self.sentence_threshold <= 1.0:
            raise ValueError(f"sentence_threshold must be 0 to 1, got {self.sentence_threshold!r}")
        if not self.slope > 0.0:
            raise ValueError(f"slope must be positive, got {self.slope!r}")

    def probability(self, evidence: float) -> float:
        """Return the probability that a text has an error."""
        return 1.0 / (1.0 + exp(min(_MOST, -(self.slope * evidence + self.intercept))))


_SUPPORTED = Likelihoods(supported=1.0, contradicted=0.0, absent=0.0)


def without_copies(reading: WindowReading, copied: Sequence[bool]) -> WindowReading:
    """Return a reading in which copied words are supported, and a sentence of such words is.

    A small encoder is least sure where nearly all is copied, and there words can be compared.
    """
    words = tuple(
        _SUPPORTED if is_copy else word for word, is_copy in zip(reading.words, copied, strict=True)
    )
    return WindowReading(words=words, sentence=_SUPPORTED if all(copied) else reading.sentence)


def is_suspect(reading: WindowReading, tuning: Tuning) -> bool:
    """Whether a sentence is suspicious enough for its words to be marked."""
    held = 1.0 / (1.0 + exp(-sentence_evidence(reading)))
    return held >= tuning.sentence_threshold


LEAST = log(_SURE / (1.0 - _SURE))
"""Evidence of a text whose sentences are all copies."""


def worst_evidence(readings: Iterable[WindowReading]) -> float:
    """Return the log odds of an error in the worst sentence, before they are calibrated.

    They are a weighted mean of the sentence's own and of its worst word's. Without a sentence
    they are `LEAST`.
    """
    return max(map(sentence_evidence, readings), default=LEAST)


def sentence_evidence(reading: WindowReading) -> float:
    """Return the log odds of an error in one sentence, before they are calibrated."""
    worst = min((word.supported for word in reading.words), default=1.0)
    sentence = _log_odds(1.0 - reading.sentence.supported)
    return _BY_SENTENCE * sentence + _BY_WORD * _log_odds(1.0 - worst)


def _log_odds(probability: float) -> float:
    held = min(max(probability, _SURE), 1.0 - _SURE)
    return log(held / (1.0 - held))


def score(spans: Sequence[ErrorSpan], *, probability: float, sentences: int, scale: Scale) -> float:
    """Return the score of a text with these errors and this probability of any.

    Without errors it is in the uppermost eighth of the scale, near its end; with errors below it.
    It falls with the probability, and with the severity and the probability of each error, less so
    the more sentences there are. More errors never raise it.
    """
    if spans:
        load = fsum(map(_cost, spans)) / sqrt(max(1, sentences))
        share = _BEST_WITH_ERRORS * (1.0 - _BY_PROBABILITY * probability) / (1.0 + load)
    else:
        share = 1.0 - (1.0 - _BEST_WITH_ERRORS) * _WITHOUT_ERRORS * probability
    return scale.low + (scale.high - scale.low) * share


def _cost(span: ErrorSpan) -> float:
    likely = 1.0 if span.probability is None else span.probability
    return _COSTS[_UNKNOWN if span.severity is None else span.severity] * likely
