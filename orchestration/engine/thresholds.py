"""Thresholds of a panel's probability of an error, and how often decisions by them are wrong."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from spanjury.judges.core import VOUCHED

Signal = Literal["probability", "score"]
"""The compared number: the probability of an error, or the lost share of the score's scale."""

MOST_CERTAIN = 0.999
"""The limit of one seat's certainty of an error or of none: no seat overrules all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Two thresholds for certain judges.

    Raises `ValueError` if there is no judge, the numbers are out of range or in the wrong order, or
    texts would be called ok at or above `VOUCHED` without a promise.

    Parameters
    ----------
    judges
        The judges whose probabilities the thresholds are for: exactly those that state one. If the
        signal is the score, the names of the seats that make it, including those whose score a
        cascade predicts.
    beside
        Judges without a probability that were on the panel when the alarms were counted, so that
        their errors are included.
    unsure, faulty
        The probability, or the lost share of the scale, from which a text is unsure or faulty;
        below `unsure` it is ok. `faulty` is infinite if none makes a text faulty.
    unsure_alarms, faulty_alarms
        Share, 0 to 1, of the texts without error that the whole panel called unsure or faulty, and
        faulty; if a rate is promised, the share that is not exceeded.
    texts
        Number of texts without error behind these shares.
    data
        The source of these texts.
    signal
        The number to compare.
    promised
        The largest share of unsure or faulty texts among new texts without error of the same kind;
        None if nothing is promised.
    weights
        Weight of each judge's log odds in their mean, by name, positive; 1 by default.
    sure
        The judges whose spans state how often such spans are right. The panel's probability is at
        least that of a grave error that one of them marks, or of a sentence that it has a binding
        reason not to vouch for.
    slope, intercept
        Logistic function from the log odds that the seats state together to the panel's
        probability; the slope is positive. Fitted to sets of texts that the judges were not trained
        on.
    misses
        Share, 0 to 1, of the texts with an error that the whole panel called ok; None if unknown.
    wrong_texts
        Number of texts with an error behind `misses`; 0 without it.
    are_english
        Whether these texts are English, so that the rates of texts in other languages are unknown.
    alarms_by, misses_by
        `faulty_alarms` and `misses` by kind of text, as pairs of name and share.
    """

    judges: frozenset[str]
    beside: frozenset[str] = frozenset()
    unsure: float
    faulty: float
    unsure_alarms: float
    faulty_alarms: float
    texts: int
    data: str
    signal: Signal = "probability"
    promised: float | None = None
    weights: tuple[tuple[str, float], ...] = ()
    sure: frozenset[str] = frozenset()
    slope: float = 1.0
    intercept: float = 0.0
    misses: float | None = None
    wrong_texts: int = 0
    are_english: bool = False
    alarms_by: tuple[tuple[str, float], ...] = ()
    misses_by: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if not self.judges:
            raise ValueError("thresholds need a judge that states a probability")
        reachable = self.faulty <= 1.0 or math.isinf(self.faulty)
        if not (0.0 < self.unsure <= min(self.faulty, 1.0) and reachable):
            raise ValueError(f"got thresholds {self.unsure!r} and {self.faulty!r}")
        is_measured = self.signal == "probability" and self.promised is None
        if is_measured and self.unsure > VOUCHED:
            raise ValueError(f"a text is called ok below {VOUCHED}, not {self.unsure!r}")
        positive = (self.slope, *(weight for _, weight in self.weights))
        if not all(0.0 < number < math.inf for number in positive) or not math.isfinite(
            self.intercept
        ):
            raise ValueError(
                f"got weights {self.weights!r}, a slope of {self.slope!r} and an intercept of"
                f" {self.intercept!r}"
            )
        if self.promised is not None and not 0.0 < self.promised < 1.0:
            raise ValueError(f"a share between 0 and 1 can be promised, got {self.promised!r}")
        if not 0.0 <= self.faulty_alarms <= self.unsure_alarms <= 1.0:
            raise ValueError(f"got alarms {self.unsure_alarms!r} and {self.faulty_alarms!r}")
        if self.texts < 1 or not self.data:
            raise ValueError(f"alarms were counted on {self.texts!r} texts of {self.data!r}")
        if (self.misses is None) != (not self.wrong_texts):
            raise ValueError(f"got {self.misses!r} misses on {self.wrong_texts!r} texts")
        by_kind = (*self.alarms_by, *self.misses_by)
        shares = (*(share for _, share in by_kind), self.misses or 0.0)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise ValueError(f"a share must be 0 to 1, got {shares!r}")

    def recalibrated(self, combined: float) -> float:
        """Return the panel's probability for the joint probability of its seats."""
        if (self.slope, self.intercept) == (1.0, 0.0):
            return combined
        bounded = min(max(combined, 1.0 - MOST_CERTAIN), MOST_CERTAIN)
        log_odds = self.slope * math.log(bounded / (1.0 - bounded)) + self.intercept
        return 1.0 / (1.0 + math.exp(-log_odds))

    @property
    def covered(self) -> frozenset[str]:
        """The judges that were on the panel when the alarms were counted."""
        return self.judges | self.beside

    @property
    def measured_on(self) -> str:
        """The texts for which the alarms were counted or are promised, in words."""
        if self.promised is not None:
            return (
                f"texts like the {self.texts} correct texts from {self.data} (at most, as promised)"
            )
        return f"{self.texts} correct {self._texts} from {self.data}"

    @property
    def misses_measured_on(self) -> str:
        """The texts on which the misses were counted, in words; empty if none were."""
        if not self.wrong_texts:
            return ""
        return f"{self.wrong_texts} wrong {self._texts} from {self.data}"

    @property
    def _texts(self) -> str:
        return "English texts" if self.are_english else "texts"


def spread(by_kind: Sequence[tuple[str, float]]) -> tuple[float, float] | None:
    """Return the lowest and the highest share over kinds of text; None without any kind."""
    shares = [share for _, share in by_kind]
    return (min(shares), max(shares)) if shares else None


_LEFT_OUT = "six data sets that were not used for training"
_WRITTEN = "five files that were not used for training, and new texts of three data sets"

_NEAR = "texts that hold at most a tenth of new content words"
_REWORDED = "texts with sentences in partly new words"
_INFERRED = "texts with sentences in mostly new words"

SHIPPED: tuple[Thresholds, ...] = (
    Thresholds(
        judges=frozenset(("grounding", "reader")),
        beside=frozenset(("form",)),
        unsure=0.27,
        faulty=0.8,
        unsure_alarms=0.837,
        faulty_alarms=0.02,
        texts=955,
        data=_LEFT_OUT,
        weights=(("grounding", 0.212), ("reader", 0.788)),
        sure=frozenset(("grounding",)),
        slope=0.943,
        intercept=-0.12,
        misses=0.01,
        wrong_texts=1255,
        are_english=True,
        alarms_by=(
            ("answers over snippets", 0.005),
            ("strongly reworded sentences", 0.019),
            ("news summaries", 0.085),
            ("short answers", 0.0),
            ("claims of assistants", 0.009),
            ("dialogue replies", 0.0),
            (_NEAR, 0.0),
            (_REWORDED, 0.0),
            (_INFERRED, 0.013),
        ),
        misses_by=(
            ("answers over snippets", 0.0),
            ("strongly reworded sentences", 0.0),
            ("news summaries", 0.008),
            ("short answers", 0.036),
            ("claims of assistants", 0.0),
            ("dialogue replies", 0.016),
            (_NEAR, 0.077),
            (_REWORDED, 0.011),
            (_INFERRED, 0.0),
        ),
    ),
    Thresholds(
        judges=frozenset(("grounding", "reader", "tuned")),
        beside=frozenset(("form",)),
        unsure=0.32,
        faulty=0.75,
        unsure_alarms=0.549,
        faulty_alarms=0.084,
        texts=717,
        data=_WRITTEN,
        weights=(("grounding", 0.414), ("reader", 0.008), ("tuned", 0.578)),
        sure=frozenset(("grounding",)),
        slope=1.186,
        intercept=-0.33,
        misses=0.086,
        wrong_texts=865,
        are_english=True,
        alarms_by=(
            ("notices and articles", 0.042),
            ("replies of assistants", 0.092),
            ("reports on records and talks", 0.104),
            ("answers over snippets", 0.125),
            ("strongly reworded sentences", 0.075),
            ("short answers", 0.013),
            ("dialogue replies", 0.181),
            ("claims of assistants", 0.042),
            (_NEAR, 0.088),
            (_REWORDED, 0.076),
            (_INFERRED, 0.099),
        ),
        misses_by=(
            ("notices and articles", 0.083),
            ("replies of assistants", 0.05),
            ("reports on records and talks", 0.083),
            ("answers over snippets", 0.125),
            ("strongly reworded sentences", 0.113),
            ("short answers", 0.081),
            ("dialogue replies", 0.011),
            ("claims of assistants", 0.138),
            (_NEAR, 0.063),
            (_REWORDED, 0.049),
            (_INFERRED, 0.099),
        ),
    ),
    Thresholds(
        judges=frozenset(("grounding",)),
        beside=frozenset(("form",)),
        unsure=0.29,
        faulty=0.76,
        unsure_alarms=0.797,
        faulty_alarms=0.024,
        texts=955,
        data=_LEFT_OUT,
        sure=frozenset(("grounding",)),
        slope=0.488,
        intercept=-0.226,
        misses=0.01,
        wrong_texts=1255,
        are_english=True,
        alarms_by=(
            ("answers over snippets", 0.035),
            ("strongly reworded sentences", 0.025),
            ("news summaries", 0.068),
            ("short answers", 0.0),
            ("claims of assistants", 0.019),
            ("dialogue replies", 0.0),
            (_NEAR, 0.0),
            (_REWORDED, 0.0),
            (_INFERRED, 0.034),
        ),
        misses_by=(
            ("answers over snippets", 0.0),
            ("strongly reworded sentences", 0.0),
            ("news summaries", 0.0),
            ("short answers", 0.03),
            ("claims of assistants", 0.0),
            ("dialogue replies", 0.032),
            (_NEAR, 0.028),
            (_REWORDED, 0.006),
            (_INFERRED, 0.005),
        ),
    ),
)
"""Thresholds of the default panel, of it with the tuned model, and of its rules alone.

`benchmarks/panel_thresholds.py` fitted each to texts on which none of its judges was trained: at
most 10 % of the wrong texts of any wording and 20 % of those of any set are ok, and at most these
shares of the right texts are faulty. That of the tuned model was fitted to labels that two more
readers had checked.
"""
