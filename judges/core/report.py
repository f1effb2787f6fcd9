"""A report: what a judge, or a panel of them, says of one aspect of one segment."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from spanjury.judges.core.aspect import Aspect
from spanjury.judges.core.chat import Usage
from spanjury.judges.core.errors import Outcome
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.span import ErrorSpan
from spanjury.judges.core.visible import counted

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


GRAVE = 4
"""The severity from which an error makes a text unusable without changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unverified:
    """A sentence of which a judge cannot tell whether it has an error.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the output.
    text
        The sentence, ``output[start:end]``.
    probability
        Probability of an error in it, 0 to 1.
    reason
        Why the judge cannot tell, as a sentence.
    words
        The words that it could not verify.
    is_binding
        Whether the judge has a reason that no other judge can outweigh: the text is then at least
        as likely wrong as the sentence.

    Raises
    ------
    ValueError
        If the offsets do not fit the text, the probability is out of range or there is no reason.
    """

    start: int
    end: int
    text: str
    probability: float
    reason: str
    words: tuple[str, ...] = ()
    is_binding: bool = False

    def __post_init__(self) -> None:
        if not (0 <= self.start < self.end and self.end - self.start == len(self.text)):
            interval = (self.start, self.end)
            raise ValueError(f"{interval} does not hold {len(self.text)} characters")
        if not 0.0 <= self.probability <= 1.0:
            raise ValueError(f"probability must be 0 to 1, got {self.probability!r}")
        if not self.reason:
            raise ValueError(f"{self.text!r} is unverified without a reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Report of one judge.

    Parameters
    ----------
    outcome
        How the assessment ended.
    score
        On the scale of the aspect; a number iff the outcome is `Outcome.SCORED`.
    spans
        The errors found; empty for a text without any.
    rationale
        Why the score is what it is.
    reason
        Why there is no score; required without one.
    reply
        What a model wrote, word for word; empty for judges that ask none.
    usage
        Tokens spent.
    error_probability
        Probability that the text has an error of this aspect, 0 to 1; None where the judge
        estimates none.
    unverified
        The sentences that the judge neither vouches for nor marks an error in.
    is_other_kind
        Whether there is no score because the judge judges no aspects of this kind, whatever the
        text.

    Raises
    ------
    ValueError
        If there is a score without the outcome `Outcome.SCORED` or the reverse, neither a score
        nor a reason, or a probability out of range.
    """

    outcome: Outcome = Outcome.SCORED
    score: float | None = None
    spans: tuple[ErrorSpan, ...] = ()
    rationale: str = ""
    reason: str = ""
    reply: str = ""
    usage: Usage = Usage()
    error_probability: float | None = None
    unverified: tuple[Unverified, ...] = ()
    is_other_kind: bool = False

    def __post_init__(self) -> None:
        if (self.outcome is Outcome.SCORED) != (self.score is not None):
            raise ValueError(f"outcome {self.outcome.value!r} with score {self.score!r}")
        if self.score is None and not self.reason:
            raise ValueError(f"outcome {self.outcome.value!r} without a reason")
        if self.error_probability is not None and not 0.0 <= self.error_probability <= 1.0:
            raise ValueError(f"probability must be 0 to 1, got {self.error_probability!r}")


def abstention(reason: str) -> Report:
    """Return the report of a judge that abstains."""
    return Report(outcome=Outcome.ABSTAINED, reason=reason)


def not_about(aspect: Aspect, matter: str) -> Report:
    """Return the report of a judge that judges only aspects of another kind: those of `matter`."""
    return replace(abstention(f"{aspect.name} is not about {matter}"), is_other_kind=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatReport:
    """The report of one seat of a panel.

    Parameters
    ----------
    seat
        Name of the seat, unique within the panel.
    signature
        Everything about its judge that can change a number.
    report
        What it said.
    seconds
        Wall-clock time it took.
    """

    seat: str
    signature: str
    report: Report
    seconds: float


class StopReason(StrEnum):
    """Why a cascade asked no further seats."""

    SURE = "sure"
    """The reports of the seats that were asked suffice."""
    SETTLED = "settled"
    """The other seats could not bring the score to the other side of the cutoff."""
    BUDGET = "budget"
    """The budget does not allow for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """The seats that a cascade did not ask, and why.

    Raises `ValueError` if there is none, or no reason.

    Parameters
    ----------
    seats
        Their names, in the order in which they would have been asked.
    why
        The kind of reason.
    reason
        The reason as a sentence, with its numbers.
    score
        The score of the whole panel that the reports of the others let expect; None for what
        the aggregation makes of their scores.
    """

    seats: tuple[str, ...]
    why: StopReason
    reason: str
    score: float | None = None

    def __post_init__(self) -> None:
        if not self.seats or not self.reason:
            raise ValueError(f"seats {self.seats!r} were not asked, for {self.reason!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Reports of the seats of a panel on one aspect of one segment.

    `unasked` names those that were not asked; None where all were.
    """

    segment: Segment
    aspect: Aspect
    seats: tuple[SeatReport, ...]
    unasked: Unasked | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PanelReport(Report):
    """Report of a panel, with the seats that it was made of.

    Parameters
    ----------
    signature
        Everything that can change a number: seats, aggregation, consolidator.
    seats
        The report of every seat that was asked, in the order of the panel.
    unasked
        The seats that were not asked, and why; None where all were.
    aggregation
        How the score was made of the seats' scores.
    consolidator
        How the spans were made of the seats' spans, and what went wrong if anything did.
    set_aside
        Names of the outlier seats whose spans the consolidator did not see.
    left_out
        How many of the seats' spans it saw and did not take up, over the limit of spans.
    decision, basis
        Whether the text can be used unchanged, and what says so; both None without a score.

    Raises
    ------
    ValueError
        If there is a decision without its basis or without a score, the text is ``ok`` with an
        error of severity `GRAVE` or more by anything but its score, or ``faulty`` without any
        error or a probability at its threshold.
    """

    signature: str = ""
    seats: tuple[SeatReport, ...] = ()
    unasked: Unasked | None = None
    aggregation: str = ""
    consolidator: str = ""
    set_aside: tuple[str, ...] = ()
    left_out: int = 0
    decision: Decision | None = None
    basis: DecisionBasis | None = None

    def __post_init__(self) -> None:
        # A class with slots is made twice, and `super()` without arguments knows the first only.
        Report.__post_init__(self)
        if (self.decision is None) != (self.basis is None):
            raise ValueError(f"decision {self.decision!r} with the basis {self.basis!r}")
        if self.decision is not None and self.score is None:
            raise ValueError(f"{self.decision.value} without a score")
        by_score = self.basis is not None and self.basis.ground is Ground.SCORE
        if self.decision is Decision.OK and not by_score and any(map(is_grave, self.spans)):
            raise ValueError("ok with an error of severity 4 or 5")
        if self.decision is Decision.FAULTY and not (self.spans or self._is_over_threshold):
            raise ValueError("faulty without an error or a probability over its threshold")

    def __repr__(self) -> str:
        """Say in a line what came of it; the fields say the rest."""
        errors = counted(len(self.spans), "error")
        score = self.outcome.value if self.score is None else f"score {self.score:.2f}"
        decision = self.decision.value if self.decision else "no decision"
        return f"<{type(self).__name__}: {decision}, {score}, {errors}>"

    @property
    def cannot_tell(self) -> bool:
        """True if the probability of an error is too high to vouch for the text, and no more."""
        by = self.basis.ground if self.basis else None
        is_known = by is Ground.PROBABILITY and self.error_probability is not None
        return self.decision is Decision.UNSURE and is_known

    @property
    def _is_over_threshold(self) -> bool:
        threshold = self.basis.threshold if self.basis else None
        likely = self.error_probability
        return threshold is not None and likely is not None and likely >= threshold


def is_grave(span: ErrorSpan) -> bool:
    """Say whether the text cannot be used unchanged if `span` is right."""
    return (span.severity or 0) >= GRAVE


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """A panel's report together with what it is about: one row of the results."""

    segment: Segment
    aspect: Aspect
    report: PanelReport

    def __repr__(self) -> str:
        """Name the segment and the aspect, with the report in short."""
        return f"<Result {self.segment.segment_id!r}, {self.aspect.name}: {self.report!r}>"


def still_unverified(
    lists: Iterable[Sequence[Unverified]], spans: Sequence[ErrorSpan]
) -> tuple[Unverified, ...]:
    """Return the sentences of several judges in order of place, each once.

    Of sentences that overlap, a binding one stays, or else the one with the highest probability.
    One that holds a part of a marked error is left out: the judges have said what they think of it.
    """
    kept: list[Unverified] = []
    marked = [span.interval for span in spans if span.interval is not None]
    ranked = sorted(
        chain(*lists), key=lambda part: (not part.is_binding, -part.probability, part.start)
    )
    for sentence in ranked:
        others = chain(marked, ((chosen.start, chosen.end) for chosen in kept))
        if not any(start < sentence.end and sentence.start < end for start, end in others):
            kept.append(sentence)
    return tuple(sorted(kept, key=lambda part: part.start))
