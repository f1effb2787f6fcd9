"""The seats of a panel: each has a judge, whose failure becomes a report.

A judge may be third-party code, so its report is checked. An offset that does not match the output
costs the seat its report; evidence that no input contains costs the span.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple, get_args, get_origin, get_type_hints

from spanjury.judges.core import (
    RUN_ENDING,
    Aspect,
    ErrorSpan,
    EvaluationError,
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
    Usage,
    Verdict,
    bind_values,
    failing_as,
    kind_of,
    reason_of,
    release_values,
    stamped,
)
from spanjury.judges.core.lazy import Once
from spanjury.orchestration.engine.blocking import LONGEST, with_longest_step
from spanjury.orchestration.engine.metering import noting_models

log = EventLog()


class OwnCodeError(JudgeError):
    """A judge raised an exception that is none of those for failures."""


PASSING: tuple[type[EvaluationError], ...] = (JudgeError, ModelError, *RUN_ENDING)
"""Errors by which a judge says that it failed, and those that concern all seats and rows."""


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One judge's place on a panel, under a name that is unique there."""

    name: str
    judge: Judge

    @cached_property
    def signature(self) -> str:
        """The judge's signature, read once: it cannot change while the judge is on a panel."""
        return self.judge.signature

    @cached_property
    def _blocking(self) -> Once[None]:
        return Once(lambda: log.warning("panel.seat_blocks", seat=self.name, seconds=LONGEST))

    def note_step(self, seconds: float) -> None:
        """Warn once if the judge blocked the event loop, which should do the work in a thread."""
        if seconds > LONGEST:
            self._blocking.get()


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
        with failing_as(own_code_failed("panel.seat_broken"), passing=PASSING):
            report = await with_longest_step(
                lambda: seat.judge.assess(segment, aspect), seat.note_step
            )
            return checked_report(report, segment, aspect)
    except OwnCodeError as error:
        return Report(outcome=error.outcome, reason=str(error))
    except (JudgeError, ModelError) as error:
        log.warning("panel.seat_failed", outcome=error.outcome.value, error=kind_of(error))
        return unscored(error)
    finally:
        release_values(bound)


def unscored(error: JudgeError | ModelError) -> Report:
    """Return the report that a panel makes of a failure."""
    reply = error.reply if isinstance(error, ParseError) else ""
    return Report(outcome=error.outcome, reason=reason_of(error), reply=reply)


def own_code_failed(event: str, **values: str) -> Callable[[BaseException], OwnCodeError]:
    """Return a function that logs an exception of a judge as `event`, and makes our error of it."""

    def failure(error: BaseException) -> OwnCodeError:
        log.exception(event, **values)  # noqa: LOG004  `failing_as` handles it
        return OwnCodeError(f"the judge's own code failed: {reason_of(error, kind=True)}")

    return failure


def lacking_reason(aspect: Aspect, segment: Segment) -> str:
    """Return why a judge must abstain, such as a summary without its article; "" if it need not."""
    lacking = aspect.lacking(segment.inputs)
    inputs = " and ".join(lacking)
    if not lacking:
        return ""
    headers = {header.casefold(): header for header in lacking}
    hints = (
        f"; {key!r} is not among the inputs: name it by --column inputs.{header}={key}"
        for key in segment.meta
        if (header := headers.get(str(key).casefold()))
    )
    return f"{aspect.name} cannot be judged without an input {inputs}{next(hints, '')}"


def checked_report(report: object, segment: Segment, aspect: Aspect) -> Report:
    """Return `report` if it is valid for the judged text; raise `JudgeError` otherwise."""
    if not isinstance(report, Report):
        raise JudgeError(f"the judge returned {report!r}, not a Report")
    check_fields(report, Report)
    if report.score is not None and report.score not in aspect.scale:
        scale = aspect.scale
        raise JudgeError(f"score {report.score!r} is not within {scale.low} to {scale.high}")
    check_spans(report.spans, segment)
    _check_unverified(report, segment)
    return _with_true_evidence(report, segment)


def check_fields(made: object, kind: type, *, by: str = "the judge") -> None:
    """Raise `JudgeError` if a field is not of its declared type: no file of results could hold it.

    The fields of the dataclasses in it are checked, too, and lists are taken for tuples.

    Parameters
    ----------
    kind
        The dataclass that declares the fields; `made` may have further ones.
    by
        Who made it.
    """
    for name, types in _fields(kind):
        value = getattr(made, name)
        if type(value) not in types.plain:
            _check_value(value, types, name=f"{name} of its {kind.__name__}", by=by)


class _Types(NamedTuple):
    """The types of a field: all, and those without parts; of a tuple's items; and a dataclass."""

    accepted: tuple[type, ...]
    plain: frozenset[type]
    item: "_Types | None"
    kind: type | None


def _check_value(value: object, types: _Types, *, name: str, by: str) -> None:
    is_other_bool = isinstance(value, bool) and bool not in types.accepted
    if is_other_bool or not isinstance(value, types.accepted):
        words = " or ".join(kind.__name__ for kind in types.accepted)
        raise JudgeError(f"{by} gave {value!r} as {name}, not {words.replace('NoneType', 'None')}")
    if types.item is not None and isinstance(value, tuple | list):
        for item in value:
            _check_value(item, types.item, name=f"an item of {name}", by=by)
    elif types.kind is not None:
        check_fields(value, types.kind, by=by)


@cache
def _fields(kind: type) -> tuple[tuple[str, _Types], ...]:
    return tuple((name, _types(hint)) for name, hint in get_type_hints(kind).items())


def _types(hint: object) -> _Types:
    if get_origin(hint) is tuple:
        return _Types((tuple, list), frozenset(), _types(get_args(hint)[0]), None)
    kinds: tuple[type, ...] = get_args(hint) or (hint,)
    accepted = (int, *kinds) if float in kinds else kinds
    declared = next(filter(is_dataclass, kinds), None)
    return _Types(accepted, frozenset() if declared else frozenset(accepted), None, declared)


def check_spans(spans: Sequence[ErrorSpan], segment: Segment) -> None:
    """Raise `JudgeError` if one of `spans` does not fit the output."""
    for span in spans:
        if span.interval and segment.output[slice(*span.interval)] != span.text:
            raise JudgeError(f"{span.interval} of the output is not {span.text!r}")


def _check_unverified(report: Report, segment: Segment) -> None:
    for sentence in report.unverified:
        interval = (sentence.start, sentence.end)
        if segment.output[slice(*interval)] != sentence.text:
            raise JudgeError(f"{interval} of the output is not {sentence.text!r}")


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
    """Return the reason why a verdict has no score.

    Seats that judge other aspects are left out if another seat could have judged this one.
    """
    if verdict.unasked and not verdict.seats:
        return f"no seat was asked: {verdict.unasked.reason}"
    seats: dict[str, list[str]] = {}
    concerned = [seat for seat in verdict.seats if not seat.report.is_other_kind]
    for seat in concerned or verdict.seats:
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
