"""Texts to calibrate a panel on: what it said of each, and what people said, on one aspect."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import Aspect, ErrorSpan
from spanjury.orchestration.engine.thresholds import Signal
from spanjury.stats.arrays import FloatArray

BoolArray = NDArray[np.bool_]

GRAVE = 1.0
"""Added to the suspicion of a text with a grave error marked, which no threshold of a probability
lets pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOnAspect:
    """One text that people marked and the panel scored.

    Parameters
    ----------
    source
        What it was made of: texts of one source are never in two folds.
    score, probability
        The panel's; no probability where no seat states one.
    is_grave
        Whether the panel marks an error of severity 4 or 5.
    people
        Rater -> score, on the scale of the aspect; empty without any.
    is_clean
        Whether people say that it has no error; None where that is not known.
    scored, stating
        Names of the seats that the score is made of, and of their judges if all of these state a
        probability; a probability that some say nothing of is no measure of the panel.
    inclusion
        Probability with which it was drawn to be marked.
    """

    source: str
    score: float
    probability: float | None = None
    is_grave: bool = False
    people: Mapping[str, float] = field(default_factory=dict)
    is_clean: bool | None = None
    scored: frozenset[str] = frozenset()
    stating: frozenset[str] = frozenset()
    output: str = ""
    spans: tuple[ErrorSpan, ...] = ()
    inclusion: float = 1.0

    @property
    def human(self) -> float | None:
        """The mean of people's scores; None without any."""
        return fmean(self.people.values()) if self.people else None


class Suspicions(NamedTuple):
    """The numbers that thresholds are set on, text by text."""

    signal: Signal
    judges: frozenset[str]
    """Those that state the probability, or the seats whose scores are compared."""
    values: FloatArray
    """The probability of an error or the lost share of the scale; NaN where other seats answered
    than usual."""
    with_grave: FloatArray
    """The same; of probabilities, `GRAVE` more for texts with a grave error marked."""
    may_be_faulty: BoolArray
    """Texts that their number may make faulty: where scores are compared, an error is marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationTexts:
    """All that a panel is calibrated on, on one aspect.

    Parameters
    ----------
    aspect
        What is judged, and its scale.
    made_on
        The marks, in words.
    judges
        Names of all judges of the panel.
    from_spans
        Whether the panel's score follows from its spans: only then do severities weigh in it.
    """

    aspect: Aspect
    texts: tuple[TextOnAspect, ...]
    made_on: str
    judges: frozenset[str] = frozenset()
    from_spans: bool = False

    def part(self, chosen: BoolArray) -> "CalibrationTexts":
        """Return the texts that are chosen."""
        texts = tuple(text for text, is_in in zip(self.texts, chosen, strict=True) if is_in)
        return replace(self, texts=texts)

    @property
    def sources(self) -> tuple[str, ...]:
        """The source of each text."""
        return tuple(text.source for text in self.texts)

    @property
    def scores(self) -> FloatArray:
        """The panel's scores."""
        return np.array([text.score for text in self.texts], dtype=np.float64)

    @property
    def human(self) -> FloatArray:
        """People's scores, on the scale of the aspect; NaN without any."""
        given = [np.nan if text.human is None else text.human for text in self.texts]
        return np.array(given, dtype=np.float64)

    @property
    def clean(self) -> BoolArray:
        """Texts that people find no error in."""
        return np.array([text.is_clean is True for text in self.texts], dtype=np.bool_)

    @property
    def faulty(self) -> BoolArray:
        """Texts that people find an error in."""
        return np.array([text.is_clean is False for text in self.texts], dtype=np.bool_)

    @property
    def weights(self) -> FloatArray:
        """Texts that each stands for, by the probability with which it was drawn."""
        return 1.0 / np.array([text.inclusion for text in self.texts], dtype=np.float64)

    @property
    def are_weighted(self) -> bool:
        """True if some texts stand for more than others."""
        return len({text.inclusion for text in self.texts}) > 1

    def suspicions(self, like: "CalibrationTexts | None" = None) -> Suspicions:
        """Return the numbers that thresholds are set on.

        Parameters
        ----------
        like
            The texts that say which judges usually answer; these by default.
        """
        usual = (like or self).texts
        stating = _commonest([text.stating for text in usual])
        if stating:
            stated = np.array([_probability(text, stating) for text in self.texts])
            grave = np.array([text.is_grave for text in self.texts])
            everywhere = np.ones(len(self.texts), dtype=np.bool_)
            return Suspicions("probability", stating, stated, stated + GRAVE * grave, everywhere)
        scored = _commonest([text.scored for text in usual])
        low, high = self.aspect.scale.low, self.aspect.scale.high
        lost = np.array(
            [
                (high - text.score) / (high - low) if text.scored == scored else np.nan
                for text in self.texts
            ]
        )
        marked = np.array([bool(text.spans) for text in self.texts], dtype=np.bool_)
        return Suspicions("score", scored, lost, lost, marked)


def _commonest(sets: Sequence[frozenset[str]]) -> frozenset[str]:
    return Counter(sets).most_common(1)[0][0] if sets else frozenset()


def _probability(text: TextOnAspect, stating: frozenset[str]) -> float:
    if text.stating != stating or text.probability is None:
        return np.nan
    return text.probability
