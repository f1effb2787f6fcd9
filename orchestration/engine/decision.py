"""The decision of a panel: one word from its seats' reports and its merged errors.

If thresholds were measured for the judges that state probabilities, the thresholds decide, and the
rates of false alarms and misses are known: a text is faulty from the upper threshold on, ok below
the lower one, and unsure in between. The other seats decide as well: by the severity of the errors
that they mark, and by the probability that all seats state together. How often that is wrong is
unknown. The gravest of these decisions holds.

If a calibration set thresholds on the score of the same seats, these alone decide: they keep a
promised rate of false alarms, which decisions by severity would exceed. The seats of such a score
include those that a cascade did not ask, if it uses their predicted score.

A text with an error of severity 4 or 5 is never ``ok`` unless such a score decides, and a text is
never ``faulty`` without an error or a probability over its threshold.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean

from spanjury.judges.core import (
    VOUCHED,
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
from spanjury.judges.text.languages import not_english
from spanjury.orchestration.engine.thresholds import MOST_CERTAIN, Thresholds, spread

_GRAVITY = (Decision.OK, Decision.UNSURE, Decision.FAULTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """A decision with its basis, and the probability of an error in the text."""

    decision: Decision
    basis: DecisionBasis
    probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """The probability of an error according to the seats together.

    Parameters
    ----------
    probability
        That of all seats that state one; None if no seat does.
    by_measured
        That of the judges with measured thresholds, recalibrated; None if there are no such judges.
    is_measured
        Whether only such judges state a probability.
    is_everyones
        Whether every seat states a probability.
    """

    probability: float | None
    by_measured: float | None
    is_measured: bool
    is_everyones: bool


def stated_by(seats: Sequence[SeatReport], thresholds: Sequence[Thresholds]) -> Stated:
    """Return the joint probability of `seats`, all of which gave a score.

    Parameters
    ----------
    thresholds
        The measured thresholds, for these judges or others.
    """
    given = [
        (_judge(seat), share)
        for seat in seats
        if (share := seat.report.error_probability) is not None
    ]
    measured = _measured_for(seats, thresholds)
    by_measured = None
    if measured is not None:
        own = [(judge, share) for judge, share in given if judge in measured.judges]
        by_measured = _recalibrated(own, measured, seats)
        given = [(judge, share) for judge, share in given if judge not in measured.judges]
    others = [share for _, share in given]
    return Stated(
        probability=combined_probability(
            [by_measured, *others] if by_measured is not None else others
        ),
        by_measured=by_measured,
        is_measured=by_measured is not None and not others,
        is_everyones=all(seat.report.error_probability is not None for seat in seats),
    )


def _recalibrated(
    stated: Sequence[tuple[str, float]], measured: Thresholds, seats: Sequence[SeatReport]
) -> float | None:
    """Return the joint probability of the judges of `measured`, from pairs of name and share."""
    weights = dict(measured.weights)
    combined = combined_probability(
        [share for _, share in stated], [weights.get(judge, 1.0) for judge, _ in stated]
    )
    if combined is None:
        return None
    sure = [seat for seat in seats if _judge(seat) in measured.sure]
    return max(measured.recalibrated(combined), surest_error(sure))


def combined_probability(
    stated: Sequence[float], weights: Sequence[float] | None = None
) -> float | None:
    """Return the probability at the mean of the logits of `stated`; None if `stated` is empty.

    `weights` are the weights of the logits, positive and one for each; None for equal weights.

    Examples
    --------
    >>> round(combined_probability([0.5, 0.9]), 6)
    0.75
    """
    if len(stated) < 2:  # noqa: PLR2004
        return stated[0] if stated else None
    bounded = (min(max(share, 1.0 - MOST_CERTAIN), MOST_CERTAIN) for share in stated)
    odds = math.exp(fmean((math.log(share / (1.0 - share)) for share in bounded), weights))
    return odds / (1.0 + odds)


def surest_error(seats: Iterable[SeatReport]) -> float:
    """Return the highest probability among the certain findings of `seats`; 0 without any.

    Such a finding is a grave error that a seat marks, or a sentence that it has a binding reason
    not to vouch for.
    """
    reports = [seat.report for seat in seats]
    marked = (span for report in reports for span in report.spans if is_grave(span))
    doubted = (part for report in reports for part in report.unverified if part.is_binding)
    sure = chain(
        (span.probability or 0.0 for span in marked), (part.probability for part in doubted)
    )
    return max(sure, default=0.0)


def decide(  # noqa: PLR0913  all but the seats and the errors are named
    seats: Sequence[SeatReport],
    spans: Sequence[ErrorSpan],
    *,
    score: float,
    scale: Scale,
    thresholds: Sequence[Thresholds] = (),
    stated: Stated | None = None,
    bare_score: float | None = None,
    expected: Collection[str] = (),
    output: str = "",
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
        The measured thresholds; those for other judges are ignored.
    stated
        The joint probability of the seats; None to compute it by `thresholds`.
    bare_score
        The panel's score before it was mapped to people's scale; None if it was not mapped.
    expected
        Names of the seats that were not asked but whose predicted score is part of the score.
    output
        The text: no error rate is stated in a language in which none was measured.
    """
    stated = stated or stated_by(seats, thresholds)
    probability, by_measured = stated.probability, stated.by_measured
    measured = _measured_for(seats, thresholds)
    in_score = frozenset((*(seat.seat for seat in seats), *expected))
    by_score = _for_scores_of(in_score, thresholds)
    if by_score is not None:
        bare = score if bare_score is None else bare_score
        rulings = [_by_lost_score(bare, by_score, scale=scale, spans=spans)]
    elif measured is None or probability is None or by_measured is None:
        rulings = [_by_spans(spans, score=score, scale=scale)]
        if probability is not None:
            rulings.append(_by_unmeasured(probability))
        rulings.extend(_by_doubts(seats))
    else:
        covered = {seat.seat for seat in seats if _judge(seat) in measured.covered}
        others = {seat.seat for seat in seats} - covered
        own = _found_by(covered, spans)
        rulings = [_by_thresholds(by_measured, measured, own=own, spans=spans)]
        if rulings[0][0] is Decision.FAULTY and probability < measured.faulty:
            rulings = [_disputed(by_measured, probability, measured)]
        elif not stated.is_measured:
            rulings.append(_by_unmeasured(probability))
        if others:
            rulings.append(_by_spans(_found_by(others, spans), score=score, scale=scale))
            rulings.extend(_by_doubts(seat for seat in seats if seat.seat in others))
    decision, basis = max(rulings, key=lambda ruling: _GRAVITY.index(ruling[0]))
    used = by_score or measured
    if used is not None and used.are_english and not_english(output, name="output"):
        basis = replace(basis, false_alarms=None, misses=None, spread=None, measured_on="")
    return Decided(decision=decision, basis=basis, probability=probability)


def decision_signature(thresholds: Sequence[Thresholds]) -> str:
    """Return a signature of everything that can change a decision: the rules and the thresholds."""
    lines = sorted(
        f"{sorted(threshold.judges)} {sorted(threshold.beside)}"
        f" {threshold.unsure} {threshold.faulty}"
        for threshold in thresholds
    )
    return signature("decision", thresholds=fingerprint(*lines), code=code_digest(__name__))


def probability_signature(signatures: Iterable[str], thresholds: Sequence[Thresholds]) -> str:
    """Return a digest of all that can change the joint probability of judges of these signatures.

    It is empty if nothing was measured for any of them.
    """
    judges = frozenset(map(_name, signatures))
    lines = sorted(
        f"{sorted(threshold.judges)} {threshold.weights} {sorted(threshold.sure)}"
        f" {threshold.slope} {threshold.intercept}"
        for threshold in thresholds
        if threshold.judges <= judges and threshold.signal == "probability"
    )
    return fingerprint(*lines) if lines else ""


def _judge(seat: SeatReport) -> str:
    """Return the name of a seat's judge, which may differ from the name of the seat."""
    return _name(seat.signature)


def _name(signature: str) -> str:
    return signature.partition("|")[0]


def _stating(seats: Sequence[SeatReport]) -> frozenset[str]:
    """Return the judges that state a probability."""
    return frozenset(_judge(seat) for seat in seats if seat.report.error_probability is not None)


def _measured_for(
    seats: Sequence[SeatReport], thresholds: Sequence[Thresholds]
) -> Thresholds | None:
    """Return the first thresholds that cover the most of the judges that state a probability."""
    stating = _stating(seats)
    fitting = (
        threshold
        for threshold in thresholds
        if threshold.judges <= stating and threshold.signal == "probability"
    )
    return max(fitting, key=lambda threshold: len(threshold.judges), default=None)


def _for_scores_of(seats: frozenset[str], thresholds: Sequence[Thresholds]) -> Thresholds | None:
    """Return the first thresholds for scores made by exactly these seats."""
    fitting = (
        threshold
        for threshold in thresholds
        if threshold.judges == seats and threshold.signal == "score"
    )
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
    """Compare with the thresholds; `own` are the errors that the measured alarm rates include."""
    if probability >= measured.faulty:
        return Decision.FAULTY, DecisionBasis(
            ground=Ground.PROBABILITY,
            reason=_at_least(probability, measured.faulty, spans),
            threshold=measured.faulty,
            false_alarms=measured.faulty_alarms,
            spread=spread(measured.alarms_by),
            measured_on=measured.measured_on,
        )
    if probability >= measured.unsure:
        limits = f"From {measured.unsure:.2f} to {min(1.0, measured.faulty):.2f}"
        return Decision.UNSURE, DecisionBasis(
            ground=Ground.PROBABILITY,
            reason=(
                f"The probability of an error is {probability:.2f}."
                f" {limits} the judges cannot tell."
            ),
            threshold=measured.unsure,
            false_alarms=measured.unsure_alarms,
            measured_on=measured.measured_on,
        )
    below = f"probability of an error is {probability:.2f}, below {measured.unsure:.2f}."
    if any(map(is_grave, own)):
        return Decision.UNSURE, DecisionBasis(
            ground=Ground.SPANS,
            reason=f"An error of severity 4 or 5 is marked, though the {below}",
            false_alarms=measured.unsure_alarms,
            measured_on=measured.measured_on,
        )
    return Decision.OK, DecisionBasis(
        ground=Ground.PROBABILITY,
        reason=f"The {below}",
        threshold=measured.unsure,
        misses=measured.misses,
        spread=spread(measured.misses_by) if measured.misses is not None else None,
        measured_on=measured.misses_measured_on,
    )


def _disputed(
    by_measured: float, probability: float, measured: Thresholds
) -> tuple[Decision, DecisionBasis]:
    """Return unsure: the measured judges find the text faulty, but all judges together do not."""
    return Decision.UNSURE, DecisionBasis(
        ground=Ground.PROBABILITY,
        reason=f"The judges disagree: those with measured thresholds state a probability of an"
        f" error of {by_measured:.2f}, all of them together {probability:.2f}.",
        threshold=measured.unsure,
        false_alarms=measured.unsure_alarms,
        measured_on=measured.measured_on,
    )


def _by_lost_score(
    score: float, measured: Thresholds, *, scale: Scale, spans: Sequence[ErrorSpan]
) -> tuple[Decision, DecisionBasis]:
    """Compare the lost share of the scale; without an error, no score makes a text faulty."""
    width = scale.high - scale.low
    lost = (scale.high - score) / width
    levels = (
        (Decision.FAULTY, measured.faulty, measured.faulty_alarms),
        (Decision.UNSURE, measured.unsure, measured.unsure_alarms),
    )
    for decision, threshold, alarms in levels:
        if lost >= threshold and (spans or decision is Decision.UNSURE):
            return decision, DecisionBasis(
                ground=Ground.SCORE,
                reason=f"The score of the judges is {score:.2f}, and a text is {decision} up to"
                f" {scale.high - threshold * width:.2f}.",
                false_alarms=alarms,
                measured_on=measured.measured_on,
            )
    above = scale.high - measured.unsure * width
    reason = f"The score of the judges is {score:.2f}, above {above:.2f}."
    if any(map(is_grave, spans)):
        reason += (
            " The promised rate of false alarms leaves errors of severity 4 or 5 to the score."
        )
    return Decision.OK, DecisionBasis(ground=Ground.SCORE, reason=reason)


def _by_unmeasured(probability: float) -> tuple[Decision, DecisionBasis]:
    """Decide by a probability without measured thresholds: only a text below `VOUCHED` is ok."""
    statement = f"he probability of an error is {probability:.2f}"
    if probability >= VOUCHED:
        decision = Decision.UNSURE
        reason = f"Cannot tell: t{statement}, and no threshold was measured for these judges."
    else:
        decision, reason = Decision.OK, f"T{statement}, below {VOUCHED:.2f}."
    return decision, DecisionBasis(ground=Ground.PROBABILITY, reason=reason, threshold=VOUCHED)


def _by_spans(
    spans: Sequence[ErrorSpan], *, score: float, scale: Scale
) -> tuple[Decision, DecisionBasis]:
    """Decide by the gravest error; without errors, doubt a score in the lower half of the scale."""
    if any(is_grave(span) and span.interval for span in spans):
        reason = "An error of severity 4 or 5 is marked."
        return Decision.FAULTY, DecisionBasis(ground=Ground.SPANS, reason=reason)
    if spans:
        reason = "Errors are reported, none of severity 4 or 5 with a place."
        return Decision.UNSURE, DecisionBasis(ground=Ground.SPANS, reason=reason)
    if score <= (scale.low + scale.high) / 2:
        reason = "The score is in the lower half of the scale; no place could be marked."
        return Decision.UNSURE, DecisionBasis(ground=Ground.SCORE, reason=reason)
    return Decision.OK, DecisionBasis(ground=Ground.SPANS, reason="No error is marked.")


def _by_doubts(seats: Iterable[SeatReport]) -> Iterator[tuple[Decision, DecisionBasis]]:
    """Yield unsure if a seat lists an unverified sentence, whatever its probability of an error."""
    doubts = [part.probability for seat in seats for part in seat.report.unverified]
    if doubts:
        reason = (
            f"A sentence is not verified: the probability of an error in it is {max(doubts):.2f}."
        )
        yield Decision.UNSURE, DecisionBasis(ground=Ground.SPANS, reason=reason)


def _at_least(probability: float, threshold: float, spans: Sequence[ErrorSpan]) -> str:
    placeless = "" if any(span.interval for span in spans) else "; no place could be marked"
    return (
        f"The probability of an error is {probability:.2f}, and a text is faulty from"
        f" {threshold:.2f} on{placeless}."
    )
