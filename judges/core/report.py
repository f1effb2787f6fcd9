"""Report of a judge, or of a panel, on one aspect of one segment."""

from bisect import bisect_left
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

VOUCHED = 0.4
"""P(error) from which a text is ok by a promised threshold only; that of a doubtful sentence."""
_FORMER_UNSURE = "doubtful"


class Decision(StrEnum):
    """The recommendation of a report."""

    OK = "ok"
    """No error was found, or only slight ones."""
    UNSURE = "unsure"
    """The judges cannot tell: a person or another judge should check."""
    FAULTY = "faulty"
    """The text has an error."""

    @classmethod
    def _missing_(cls, value: object) -> "Decision | None":
        """Accept the former word for `UNSURE`, which older results, filters and requests use."""
        return cls.UNSURE if value == _FORMER_UNSURE else None


class Ground(StrEnum):
    """The evidence that a decision rests on."""

    PROBABILITY = "probability"
    """The probability of an error, compared with thresholds."""
    SPANS = "spans"
    """The marked errors, by their severity."""
    SCORE = "score"
    """A low score from judges that mark no errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionBasis:
    """The ground of a decision, and its error rate.

    Raises `ValueError` if a number is out of range, if a threshold comes without the ground
    probability or the reverse, if both shares are stated, or if a share comes without the texts on
    which it was measured.

    Parameters
    ----------
    ground
        The evidence that decided.
    reason
        The same as a sentence.
    threshold
        The probability threshold that was reached or, for ``ok``, not reached; None if no
        threshold decided.
    false_alarms
        Share of the texts without error that get this decision or a graver one, 0 to 1; None
        if it is unknown, and for ``ok``, which is not an alarm.
    misses
        Share of the texts with an error that are called ``ok``, 0 to 1; None if it is unknown,
        and for any other decision.
    spread
        Lowest and highest value of this share over kinds of text; None if unknown.
    measured_on
        The texts on which the share was measured; empty if it is unknown.
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
        """Return the error rate of the decision: its false alarms, or its misses."""
        return self.misses if self.false_alarms is None else self.false_alarms


GRAVE = 4
"""Minimum severity of an error that makes a text unusable without changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unverified:
    """A sentence in which a judge cannot tell whether there is an error.

    Raises `ValueError` if the offsets do not fit the text, the probability is out of range or there
    is no reason.

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
        Whether no other judge can outweigh the reason: the text is then at least as likely wrong
        as the sentence.
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

    Raises `ValueError` if the outcome is not an `Outcome`, if there is a score without the outcome
    `Outcome.SCORED` or the reverse, neither a score nor a reason, or a probability out of range.

    Parameters
    ----------
    outcome
        How the assessment ended.
    score
        Score on the scale of the aspect; not None iff the outcome is `Outcome.SCORED`.
    spans
        The errors found; empty if there are none.
    rationale
        Explanation of the score.
    reason
        Why there is no score; required without one.
    reply
        The model's reply, word for word; empty for judges without a model.
    usage
        Tokens spent.
    error_probability
        Probability that the text has an error of this aspect, 0 to 1; None if the judge
        estimates none.
    unverified
        The sentences that the judge neither vouches for nor marks an error in.
    is_other_kind
        Whether there is no score because the judge judges no aspects of this kind, whatever the
        text.
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
        if not isinstance(self.outcome, Outcome):
            raise ValueError(f"outcome must be an Outcome, got {self.outcome!r}")  # noqa: TRY004  as every invariant here
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
        The judge's report.
    seconds
        Wall-clock time that it took.
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

    Raises `ValueError` if there is no seat or no reason.

    Parameters
    ----------
    seats
        Their names, in the order in which they would have been asked.
    why
        The kind of reason.
    reason
        The reason as a sentence, with its numbers.
    score
        Expected score of the whole panel, predicted from the reports of the other seats; None to
        aggregate their scores instead.
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

    `unasked` names the seats that were not asked; None if all were.
    """

    segment: Segment
    aspect: Aspect
    seats: tuple[SeatReport, ...]
    unasked: Unasked | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class SpanRef:
    """Reference to the `index`-th span of the report of `seat`."""

    seat: str
    index: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """Merged spans with their provenance.

    Raises `ValueError` if spans and sources differ in number, a span has no source or names other
    seats than its sources do, or a seat's span is accounted for twice.

    Parameters
    ----------
    spans
        The merged spans; the `found_by` of each names the seats that found it.
    sources
        For each merged span, the seats' spans from which it was made; never empty.
    left_out
        Seats' spans that are part of no merged span.
    consolidator
        Name of the consolidator that did the work, and the reason if it was not the requested one.
    """

    spans: tuple[ErrorSpan, ...]
    sources: tuple[tuple[SpanRef, ...], ...]
    left_out: tuple[SpanRef, ...] = ()
    consolidator: str

    def __post_init__(self) -> None:
        if len(self.spans) != len(self.sources):
            raise ValueError(f"{len(self.spans)} spans with {len(self.sources)} lists of sources")
        for span, refs in zip(self.spans, self.sources, strict=True):
            if set(span.found_by) != {ref.seat for ref in refs} or not refs:
                raise ValueError(f"found_by {span.found_by!r} does not name the seats of {refs!r}")
        listed = [*(ref for refs in self.sources for ref in refs), *self.left_out]
        if len(listed) != len(set(listed)):
            raise ValueError(f"a span is accounted for twice: {sorted(listed)!r}")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PanelReport(Report):
    """Report of a panel, with the reports of its seats.

    Raises `ValueError` if there is a decision without its basis or without a score, if the text is
    ``ok`` with an error of severity `GRAVE` or more on any ground but its score, or if it is
    ``faulty`` with neither an error nor a probability at its threshold.

    Parameters
    ----------
    signature
        Everything that can change a number: seats, aggregation, consolidator.
    seats
        The report of every seat that was asked, in the order of the panel.
    unasked
        The seats that were not asked, and why; None if all were.
    aggregation
        How the score was computed from the seats' scores.
    consolidator
        How the spans were merged from the seats' spans, and what went wrong if anything did.
    set_aside
        Names of the outlier seats whose spans were withheld from the consolidator.
    left_out
        Number of the seats' spans that the consolidator left out because of the limit of spans.
    decision, basis
        Whether the text can be used unchanged, and the basis of this; both None without a score.
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
        # `slots=True` creates the class a second time; `super()` refers to the first.
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
        """Summarize the report in one line."""
        errors = counted(len(self.spans), "error")
        score = self.outcome.value if self.score is None else f"score {self.score:.2f}"
        decision = self.decision.value if self.decision else "no decision"
        return f"<{type(self).__name__}: {decision}, {score}, {errors}>"

    @property
    def cannot_tell(self) -> bool:
        """True if the text is unsure only because the probability of an error is too high."""
        by = self.basis.ground if self.basis else None
        is_known = by is Ground.PROBABILITY and self.error_probability is not None
        return self.decision is Decision.UNSURE and is_known

    @property
    def _is_over_threshold(self) -> bool:
        threshold = self.basis.threshold if self.basis else None
        likely = self.error_probability
        return threshold is not None and likely is not None and likely >= threshold


def is_grave(span: ErrorSpan) -> bool:
    """Return whether `span`, if right, makes the text unusable without changes."""
    return (span.severity or 0) >= GRAVE


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """A panel's report together with its segment and aspect: one row of the results."""

    segment: Segment
    aspect: Aspect
    report: PanelReport

    def __repr__(self) -> str:
        """Name the segment and the aspect, with a summary of the report."""
        return f"<Result {self.segment.segment_id!r}, {self.aspect.name}: {self.report!r}>"


def still_unverified(
    lists: Iterable[Sequence[Unverified]], spans: Sequence[ErrorSpan]
) -> tuple[Unverified, ...]:
    """Return the unverified sentences of several judges, sorted by position, without overlaps.

    Of overlapping sentences a binding one is kept, or else the one with the highest probability.
    A sentence that overlaps a marked error is left out, because the judges have reported on it.
    """
    kept: list[Unverified] = []
    taken: list[tuple[int, int]] = []  # disjoint and sorted
    for start, end in sorted(span.interval for span in spans if span.interval is not None):
        if taken and start < taken[-1][1]:
            taken[-1] = taken[-1][0], max(end, taken[-1][1])
        else:
            taken.append((start, end))
    ranked = sorted(
        chain(*lists), key=lambda part: (not part.is_binding, -part.probability, part.start)
    )
    for sentence in ranked:
        at = bisect_left(taken, (sentence.end,))
        if not at or taken[at - 1][1] <= sentence.start:
            taken.insert(at, (sentence.start, sentence.end))
            kept.append(sentence)
    return tuple(sorted(kept, key=lambda part: part.start))
