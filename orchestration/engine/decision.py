"""The decision of a panel: from its seats' reports and its merged errors to one word.

Where the seats' probabilities have thresholds that were measured for these judges, they
decide, and the false-alarm rate is known. Errors that other seats mark decide by their
severity, and how often that is wrong is not known. The graver of the two holds. Where a
calibration set thresholds on the score of the same seats, these decide alone: they keep a rate of
false alarms, which errors of any severity would break. To such a score the seats that a cascade did
not ask belong, if it takes what they can be expected to give.

It promises that a text with an error of severity 4 or 5 is never ``ok`` but by such a score, and
that none is ``faulty`` without an error or a probability over its threshold.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from spanjury.judges.core import (
    Decision,
    DecisionBasis,
    ErrorSpan,
    Ground,
    Scale,
    SeatReport,
    fingerprint,
    is_grave,
    signature,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.orchestration.engine.thresholds import Signal, Thresholds

MOST_CERTAIN = 0.999
"""The nearest to certainty that one seat's probability counts: no seat overrules all others."""
UNMEASURED = 0.5
"""The probability from which on a text is doubtful where no thresholds were measured."""

_GRAVITY = (Decision.OK, Decision.DOUBTFUL, Decision.FAULTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision with its basis, and the probability that the text has an error."""

    decision: Decision
    basis: DecisionBasis
    probability: float | None


def combined_probability(stated: Sequence[float]) -> float | None:
    """Return the probability that the mean of the logits of `stated` stands for; None for none.

    Examples
    --------
    >>> round(combined_probability([0.5, 0.9]), 6)
    0.75
    """
    if len(stated) < 2:  # noqa: PLR2004
        return stated[0] if stated else None
    bounded = (min(max(share, 1.0 - MOST_CERTAIN), MOST_CERTAIN) for share in stated)
    odds = math.exp(fmean(math.log(share / (1.0 - share)) for share in bounded))
    return odds / (1.0 + odds)


def decide(
    seats: Sequence[SeatReport],
    spans: Sequence[ErrorSpan],
    *,
    score: float,
    scale: Scale,
    thresholds: Sequence[Thresholds] = (),
    bare_score: float | None = None,
    expected: Collection[str] = (),
) -> Decided:
    """Return the decision on a text.

    Parameters
    ----------
    seats
        Those that gave a score.
    spans
        Their errors, merged.
    score
        The panel's, on `scale`.
    thresholds
        Those that were measured; the ones that are for other judges do not count.
    bare_score
        The panel's before it was mapped to people's; None where it was not.
    expected
        Names of the seats that were not asked, where the score takes what is expected of them.
    """
    stating = [seat for seat in seats if seat.report.error_probability is not None]
    known = [seat.report.error_probability for seat in stating]
    probability = combined_probability([share for share in known if share is not None])
    measured = _fitting(frozenset(map(_judge, stating)), thresholds)
    in_score = frozenset((*(seat.seat for seat in seats), *expected))
    by_score = _fitting(in_score, thresholds, signal="score")
    if by_score is not None:
        bare = score if bare_score is None else bare_score
        rulings = [_by_lost_score(bare, by_score, scale=scale, spans=spans)]
    elif measured is None or probability is None:
        rulings = [_by_spans(spans, score=score, scale=scale)]
        if probability is not None:
            rulings.append(_by_unmeasured(probability, spans))
    else:
        covered = {seat.seat for seat in seats if _judge(seat) in measured.covered}
        others = {seat.seat for seat in seats} - covered
        own = _found_by(covered, spans)
        rulings = [_by_thresholds(probability, measured, own=own, spans=spans)]
        if others:
            rulings.append(_by_spans(_found_by(others, spans), score=score, scale=scale))
    decision, basis = max(rulings, key=lambda ruling: _GRAVITY.index(ruling[0]))
    return Decided(decision=decision, basis=basis, probability=probability)


def decision_signature(thresholds: Sequence[Thresholds]) -> str:
    """Return what can change a decision: the rules and the thresholds."""
    known = sorted(
        f"{sorted(one.judges)} {sorted(one.beside)} {one.doubtful} {one.faulty}"
        for one in thresholds
    )
    return signature("decision", thresholds=fingerprint(*known), code=code_digest(__name__))


def _judge(seat: SeatReport) -> str:
    """Return the name of a seat's judge, whatever the seat is called."""
    return seat.signature.partition("|")[0]


def _fitting(
    judges: frozenset[str], thresholds: Sequence[Thresholds], *, signal: Signal = "probability"
) -> Thresholds | None:
    """Return the first thresholds that are for these judges, or for the scores of these seats."""
    fitting = (one for one in thresholds if one.judges == judges and one.signal == signal)
    return next(fitting, None)


def _found_by(seats: Collection[str], spans: Sequence[ErrorSpan]) -> list[ErrorSpan]:
    return [span for span in spans if any(seat in seats for seat in span.found_by)]


def _by_thresholds(
    probability: float,
    measured: Thresholds,
    *,
    own: Sequence[ErrorSpan],
    spans: Sequence[ErrorSpan],
) -> tuple[Decision, DecisionBasis]:
    """Compare with the thresholds; of the errors, only those count that the alarms include."""
    levels = (
        (Decision.FAULTY, measured.faulty, measured.faulty_alarms),
        (Decision.DOUBTFUL, measured.doubtful, measured.doubtful_alarms),
    )
    for decision, threshold, alarms in levels:
        if probability >= threshold:
            return decision, DecisionBasis(
                ground=Ground.PROBABILITY,
                reason=_at_least(probability, threshold, spans),
                threshold=threshold,
                false_alarms=alarms,
                measured_on=measured.measured_on,
            )
    below = f"probability of an error is {probability:.2f}, below {measured.doubtful:.2f}."
    if any(map(is_grave, own)):
        return Decision.DOUBTFUL, DecisionBasis(
            ground=Ground.SPANS,
            reason=f"An error of severity 4 or 5 is marked, though the {below}",
            false_alarms=measured.doubtful_alarms,
            measured_on=measured.measured_on,
        )
    return Decision.OK, DecisionBasis(
        ground=Ground.PROBABILITY, reason=f"The {below}", threshold=measured.doubtful
    )


def _by_lost_score(
    score: float, measured: Thresholds, *, scale: Scale, spans: Sequence[ErrorSpan]
) -> tuple[Decision, DecisionBasis]:
    """Compare the share of the scale that is lost; without an error no score makes faulty."""
    width = scale.high - scale.low
    lost = (scale.high - score) / width
    levels = (
        (Decision.FAULTY, measured.faulty, measured.faulty_alarms),
        (Decision.DOUBTFUL, measured.doubtful, measured.doubtful_alarms),
    )
    for decision, threshold, alarms in levels:
        if lost >= threshold and (spans or decision is Decision.DOUBTFUL):
            return decision, DecisionBasis(
                ground=Ground.SCORE,
                reason=f"The score of the judges is {score:.2f},"
                f" {scale.high - threshold * width:.2f} or less.",
                false_alarms=alarms,
                measured_on=measured.measured_on,
            )
    above = scale.high - measured.doubtful * width
    reason = f"The score of the judges is {score:.2f}, above {above:.2f}."
    if any(map(is_grave, spans)):
        reason += (
            " The promised rate of false alarms leaves errors of severity 4 or 5 to the score."
        )
    return Decision.OK, DecisionBasis(ground=Ground.SCORE, reason=reason)


def _by_unmeasured(
    probability: float, spans: Sequence[ErrorSpan]
) -> tuple[Decision, DecisionBasis]:
    """Doubt a text that is likelier faulty than not; how often that is wrong is not known."""
    if probability >= UNMEASURED:
        decision, reason = Decision.DOUBTFUL, _at_least(probability, UNMEASURED, spans)
    else:
        decision = Decision.OK
        reason = f"The probability of an error is {probability:.2f}, below {UNMEASURED:.2f}."
    basis = DecisionBasis(ground=Ground.PROBABILITY, reason=reason, threshold=UNMEASURED)
    return decision, basis


def _by_spans(
    spans: Sequence[ErrorSpan], *, score: float, scale: Scale
) -> tuple[Decision, DecisionBasis]:
    """Go by the gravest error; without any, doubt a score in the lower half of its scale."""
    if any(is_grave(span) and span.interval for span in spans):
        reason = "An error of severity 4 or 5 is marked."
        return Decision.FAULTY, DecisionBasis(ground=Ground.SPANS, reason=reason)
    if spans:
        reason = "Errors are reported, none of severity 4 or 5 with a place."
        return Decision.DOUBTFUL, DecisionBasis(ground=Ground.SPANS, reason=reason)
    if score <= (scale.low + scale.high) / 2:
        reason = "The score is in the lower half of the scale; no place could be marked."
        return Decision.DOUBTFUL, DecisionBasis(ground=Ground.SCORE, reason=reason)
    return Decision.OK, DecisionBasis(ground=Ground.SPANS, reason="No error is marked.")


def _at_least(probability: float, threshold: float, spans: Sequence[ErrorSpan]) -> str:
    placeless = "" if any(span.interval for span in spans) else "; no place could be marked"
    return f"The probability of an error is {probability:.2f}, {threshold:.2f} or more{placeless}."
