"""Questions to a checker and its answers (`spanjury.judges.core.ports.Checker`)."""

from dataclasses import dataclass
from math import exp, inf, log
from typing import Literal, NamedTuple

from spanjury.judges.core.chat import Usage
from spanjury.judges.core.reading import Label
from spanjury.judges.core.report import Report

ClaimUnit = Literal["sentence", "text", "answer"]
"""Unit that a checker was trained to read as a claim: one sentence, a whole text in which it judges
each word, or a whole answer that it judges at once."""


class CheckerLimits(NamedTuple):
    """Limits by which a checker's answers become errors and doubts.

    A checker may have its own as its property ``limits``.

    Parameters
    ----------
    threshold
        Probability of an error, above 0, from which a claim is an error.
    vouched
        Probability of an error, above 0, from which a claim below the threshold is unverified.
    trusts_words
        Whether a claim is verified if the model calls it supported and states no probability.
    """

    threshold: float = 0.5
    vouched: float = 0.3
    trusts_words: bool = True


class ClaimPair(NamedTuple):
    """A passage of a source, and the claim that it may support."""

    passage: str
    claim: str


class WordSupport(NamedTuple):
    """Probability, 0 to 1, that a passage supports a word of a claim.

    ``start`` and ``end`` are half-open offsets in code points of the claim.
    """

    start: int
    end: int
    supported: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimSupport:
    """A checker's answer on one pair; numbers of numpy become Python's.

    Raises `ValueError` if a probability is out of range.

    Parameters
    ----------
    supported
        Probability, 0 to 1, that the passage supports the claim.
    contradicted
        Probability that the passage contradicts the claim; None if the checker does not
        distinguish contradicted claims from those that the passage does not mention.
    words
        The support of each word, in order; empty if the checker gives no probability for words.
    is_stated
        Whether the model states `supported` as a probability; otherwise it is 0 or 1, as the
        answer says.
    explanation
        The model's reason, or empty.
    """

    supported: float
    contradicted: float | None = None
    words: tuple[WordSupport, ...] = ()
    is_stated: bool = True
    explanation: str = ""

    def __post_init__(self) -> None:
        stated = (self.supported, self.contradicted, *(word.supported for word in self.words))
        for probability in stated:
            if probability is not None and not 0.0 <= probability <= 1.0:
                raise ValueError(f"a probability must be 0 to 1, got {probability!r}")
        against = self.contradicted
        words = (WordSupport(int(start), int(end), float(p)) for start, end, p in self.words)
        # The dataclass is frozen.
        object.__setattr__(self, "supported", float(self.supported))
        object.__setattr__(self, "contradicted", None if against is None else float(against))
        object.__setattr__(self, "words", tuple(words))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """A labelled training pair.

    Parameters
    ----------
    label
        The label of the claim.
    spans
        The wrong parts of the claim: half-open offsets in code points, and their labels. None if
        only the label of the whole claim is known.
    group
        Pairs with the same group are trained on together, such as a correct claim and its wrong
        twin.
    """

    pair: ClaimPair
    label: Label
    spans: tuple[tuple[int, int, Label], ...] | None
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Calibration constants of a checker, fitted to texts that it was not trained on.

    Raises `ValueError` if a number is out of range.

    Parameters
    ----------
    slope, intercept
        The log odds of an error are multiplied by the slope, above 0, and the intercept is added
        (Platt scaling [1]_; the inverse of the slope is called a temperature).
    threshold, vouched
        Calibrated probabilities of an error, above 0 and at most 1: from `threshold` on a claim is
        an error, and from `vouched` on it cannot be vouched for.

    References
    ----------
    .. [1] Platt (1999), Probabilistic outputs for support vector machines, Advances in Large
       Margin Classifiers
    """

    slope: float = 1.0
    intercept: float = 0.0
    threshold: float = 0.5
    vouched: float = 0.3

    def __post_init__(self) -> None:
        if not (0.0 < self.slope < inf and -inf < self.intercept < inf):
            raise ValueError(
                "slope must be positive and intercept finite, got "
                f"{self.slope!r} and {self.intercept!r}"
            )
        for name in ("threshold", "vouched"):
            if not 0.0 < (value := getattr(self, name)) <= 1.0:
                raise ValueError(f"{name} must be above 0 and at most 1, got {value!r}")

    def calibrated(self, probability: float) -> float:
        """Return the calibrated probability of an error; 0 and 1 stay unchanged."""
        if probability <= 0.0 or probability >= 1.0:
            return probability
        odds = self.slope * log(probability / (1.0 - probability)) + self.intercept
        return 1.0 / (1.0 + exp(-max(-700.0, min(700.0, odds))))


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPairs:
    """A model's answers on pairs, with their cost.

    Parameters
    ----------
    answers
        One for each pair, in order; empty if a reply could not be read as an answer.
    unscored
        The report on a reply that could not be read; None if all could.
    reply
        The replies, word for word.
    usage
        Calls and tokens of all pairs.
    note
        Last sentence of the report's rationale, or empty.
    """

    answers: tuple[ClaimSupport, ...] = ()
    unscored: Report | None = None
    reply: str = ""
    usage: Usage = Usage()
    note: str = ""
