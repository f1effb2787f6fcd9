"""The seats of a panel: each has a judge, whose failure becomes a report.

A judge may be third-party code, so its report is checked. An offset that does not match the output
costs the seat its report; evidence that no input contains costs the span.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import UnionType

from spanjury.judges.core import (
    RUN_ENDING,
    Aspect,
    ErrorSpan,
    EventLog,
    Evidence,
    Judge,
    JudgeError,
    ModelError,
    Outcome,
    ParseError,
    Report,
    SeatReport,
    Segment,
    Unverified,
    Usage,
    Verdict,
    bind_values,
    cancelled_only_by_us,
    kind_of,
    reason_of,
    release_values,
    stamped,
)
from spanjury.orchestration.engine.metering import noting_models

log = EventLog()

_NUMBER = int | float | None
_REPORT: Mapping[str, type | UnionType] = {
    "score": _NUMBER,
    "rationale": str,
    "reason": str,
    "reply": str,
    "usage": Usage,
    "error_probability": _NUMBER,
}
_SPAN: Mapping[str, type | UnionType] = {
    "text": str,
    "explanation": str,
    "category": str,
    "severity": int | None,
    "start": int | None,
    "end": int | None,
    "probability": _NUMBER,
}


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One judge's place on a panel, under a name that is unique there."""

    name: str
    judge: Judge

    @cached_property
    def signature(self) -> str:
        """The judge's signature, read once: it cannot change while the judge is on a panel."""
        return self.judge.signature


async def seat_report(seat: Seat, segment: Segment, aspect: Aspect) -> SeatReport:
    """Have a seat's judge report; an exception costs only this report.

    The report is passed to each model that was called for it, which counts usable ones. Only errors
    that end a run (`RUN_ENDING`) are raised.
    """
    began = time.perf_counter()
    with noting_models() as asked:
        report = await _report(seat, segment, aspect)
    for judged in asked:
        judged(report)
    return SeatReport(
        seat=seat.name,
        signature=stamped(seat.signature),
        report=report,
        seconds=time.perf_counter() - began,
    )


async def _report(seat: Seat, segment: Segment, aspect: Aspect) -> Report:
    bound = bind_values(seat=seat.name)
    try:
        if reason := lacking_reason(aspect, segment):
            return Report(outcome=Outcome.ABSTAINED, reason=reason)
        with cancelled_only_by_us():
            report = await seat.judge.assess(segment, aspect)
        return checked_report(report, segment, aspect)
    except (JudgeError, ModelError) as error:
        log.warning("panel.seat_failed", outcome=error.outcome.value, error=kind_of(error))
        reply = error.reply if isinstance(error, ParseError) else ""
        return Report(outcome=error.outcome, reason=reason_of(error), reply=reply)
    except RUN_ENDING:
        raise  # it concerns all seats and rows, such as a reply that cannot be stored
    except (Exception, SystemExit) as error:  # the boundary to third-party judges
        log.exception("panel.seat_broken")
        reason = f"the judge's own code failed: {reason_of(error, kind=True)}"
        return Report(outcome=Outcome.BACKEND_FAILED, reason=reason)
    finally:
        release_values(bound)


def lacking_reason(aspect: Aspect, segment: Segment) -> str:
    """Return why a judge must abstain, such as a summary without its article; "" if it need not."""
    lacking = aspect.lacking(segment.inputs)
    inputs = " and ".join(lacking)
    return f"{aspect.name} cannot be judged without an input {inputs}" if lacking else ""


def checked_report(report: object, segment: Segment, aspect: Aspect) -> Report:
    """Return `report` if it is valid for the judged text; raise `JudgeError` otherwise."""
    if not isinstance(report, Report):
        raise JudgeError(f"the judge returned {report!r}, not a Report")
    check_kinds(report, _REPORT)
    if report.score is not None and report.score not in aspect.scale:
        scale = aspect.scale
        raise JudgeError(f"score {report.score!r} is not within {scale.low} to {scale.high}")
    check_spans(report.spans, segment)
    _check_unverified(report, segment)
    return _with_true_evidence(report, segment)


def check_kinds(made: object, kinds: Mapping[str, type | UnionType]) -> None:
    """Raise `JudgeError` if a field is of another type, which no file of results could hold."""
    for name, kind in kinds.items():
        value = getattr(made, name)
        if not isinstance(value, kind) or isinstance(value, bool):
            whose = type(made).__name__
            wanted = getattr(kind, "__name__", kind)
            raise JudgeError(f"the judge gave {value!r} as {name} of its {whose}, not {wanted}")


def check_spans(spans: Sequence[ErrorSpan], segment: Segment) -> None:
    """Raise `JudgeError` if one of `spans` is none, or does not fit the output."""
    for span in spans:
        if not isinstance(span, ErrorSpan):
            raise JudgeError(f"the judge listed {span!r} among its spans, not an ErrorSpan")
        check_kinds(span, _SPAN)
        if span.interval and segment.output[slice(*span.interval)] != span.text:
            raise JudgeError(f"{span.interval} of the output does not read {span.text!r}")
        for evidence in span.evidence:
            if not isinstance(evidence, Evidence):
                raise JudgeError(f"the judge gave {evidence!r} as evidence, not an Evidence")


def _check_unverified(report: Report, segment: Segment) -> None:
    for sentence in report.unverified:
        if not isinstance(sentence, Unverified):
            raise JudgeError(f"the judge listed {sentence!r} as unverified, not an Unverified")
        interval = (sentence.start, sentence.end)
        if segment.output[slice(*interval)] != sentence.text:
            raise JudgeError(f"{interval} of the output does not read {sentence.text!r}")


def _with_true_evidence(report: Report, segment: Segment) -> Report:
    """Drop the spans whose evidence no input contains: made-up evidence proves nothing."""
    true = tuple(span for span in report.spans if _is_in(segment, span.evidence))
    if len(true) == len(report.spans):
        return report
    log.warning("panel.evidence_false", spans=len(report.spans) - len(true))
    return replace(report, spans=true)


def _is_in(segment: Segment, evidence: Sequence[Evidence]) -> bool:
    return all(
        segment.inputs.get(passage.input, "")[passage.start : passage.end] == passage.text
        for passage in evidence
    )


_GRAVEST_FIRST = (
    Outcome.BACKEND_FAILED,
    Outcome.TIMED_OUT,
    Outcome.REFUSED,
    Outcome.TRUNCATED,
    Outcome.UNPARSEABLE,
    Outcome.ABSTAINED,
)
"""Order of gravity: an unscored panel has the gravest of its seats' outcomes."""


def usage_of(verdict: Verdict) -> Usage:
    """Return the usage of all seats together."""
    return sum((seat.report.usage for seat in verdict.seats), Usage())


def gravest_of(verdict: Verdict) -> Outcome:
    """Return the gravest outcome of the seats of an unscored verdict."""
    return gravest_outcome({seat.report.outcome for seat in verdict.seats})


def gravest_outcome(outcomes: Collection[Outcome]) -> Outcome:
    """Return the gravest unscored outcome; `Outcome.ABSTAINED` if there is none."""
    return next((outcome for outcome in _GRAVEST_FIRST if outcome in outcomes), Outcome.ABSTAINED)


def reasons_of(verdict: Verdict) -> str:
    """Return the reason why a verdict has no score."""
    if verdict.unasked and not verdict.seats:
        return f"no seat was asked: {verdict.unasked.reason}"
    seats: dict[str, list[str]] = {}
    for seat in verdict.seats:
        if seat.report.reason:
            seats.setdefault(seat.report.reason, []).append(seat.seat)
    reasons = [f"{', '.join(names)}: {reason}" for reason, names in seats.items()]
    if verdict.unasked:
        reasons.append(f"not asked: {', '.join(verdict.unasked.seats)}. {verdict.unasked.reason}")
    return "; ".join(reasons) or "no seat gave a score"


def rationales_of(seats: Sequence[SeatReport]) -> str:
    """Return the rationales of `seats`, each with the seat's name if there are several."""
    saying = [seat for seat in seats if seat.report.rationale]
    if len(saying) == 1:
        return saying[0].report.rationale
    return "\n".join(f"{seat.seat}: {seat.report.rationale}" for seat in saying)
