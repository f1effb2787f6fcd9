"""Results as JSON Lines: the contents of a row, and a crash-safe writer."""

import json
import math
from contextlib import suppress
from dataclasses import fields
from pathlib import Path

import msgspec

from spanjury.adapters.files.evidence_rows import evidence_rows, position_row
from spanjury.adapters.files.line_writer import LineWriter
from spanjury.adapters.files.results.unanswered_rows import UnansweredRows
from spanjury.adapters.surrogates import without_lone_surrogates
from spanjury.judges.core import (
    DecisionBasis,
    ErrorSpan,
    Result,
    SeatReport,
    Segment,
    StoreError,
    Unasked,
    Unverified,
    Usage,
)

_USAGE = tuple(field.name for field in fields(Usage))


def result_row(result: Result, *, trace_id: str = "") -> dict[str, object]:
    """Return the row of `result`, ready for JSON.

    Offsets are half-open and count code points: of the output for a span, or of the named input
    for ``evidence``. A span without a location has null. A span of a trajectory also has its
    position (``at``). ``seconds`` is wall-clock time. ``reply`` has the model's words only if the
    seat has no score. ``trace_id`` is a key only if it is not empty.
    """
    report, segment = result.report, result.segment
    return {
        "id": segment.segment_id,
        **({"trace_id": trace_id} if trace_id else {}),
        "aspect": result.aspect.name,
        "score": report.score,
        "outcome": report.outcome.value,
        "spans": [
            {**_span(span, segment), "found_by": list(span.found_by)} for span in report.spans
        ],
        "seats": [_seat(seat, segment) for seat in report.seats],
        "aggregation": report.aggregation,
        "consolidator": report.consolidator,
        "task": result.aspect.task.name,
        "system": segment.system,
        "reason": report.reason,
        "signature": report.signature,
        "set_aside": list(report.set_aside),
        "left_out": report.left_out,
        "decision": report.decision.value if report.decision else None,
        "error_probability": report.error_probability,
        "decision_basis": _basis(report.basis) if report.basis else None,
        "unasked": _unasked(report.unasked) if report.unasked else None,
        "unverified": [*map(_unverified, report.unverified)],
    }


def _unasked(unasked: Unasked) -> dict[str, object]:
    return {
        "seats": list(unasked.seats),
        "why": unasked.why.value,
        "reason": unasked.reason,
        "score": unasked.score,
    }


def _unverified(sentence: Unverified) -> dict[str, object]:
    return {
        "start": sentence.start,
        "end": sentence.end,
        "text": sentence.text,
        "probability": sentence.probability,
        "reason": sentence.reason,
        "words": list(sentence.words),
    }


def _basis(basis: DecisionBasis) -> dict[str, object]:
    return {
        "ground": basis.ground.value,
        "reason": basis.reason,
        "threshold": basis.threshold,
        "false_alarms": basis.false_alarms,
        "measured_on": basis.measured_on,
        "misses": basis.misses,
        "spread": list(basis.spread) if basis.spread else None,
    }


def _span(span: ErrorSpan, segment: Segment) -> dict[str, object]:
    return {
        "start": span.start,
        "end": span.end,
        "text": span.text,
        "explanation": span.explanation,
        "severity": span.severity,
        "category": span.category,
        "located": span.located.value,
        "evidence": evidence_rows(span, segment),
        "probability": span.probability,
        **position_row(span, segment),
    }


def _seat(seat: SeatReport, segment: Segment) -> dict[str, object]:
    report = seat.report
    return {
        "judge": seat.seat,
        "signature": seat.signature,
        "outcome": report.outcome.value,
        "score": report.score,
        "spans": [_span(span, segment) for span in report.spans],
        "rationale": report.rationale,
        "usage": {name: getattr(report.usage, name) for name in _USAGE},
        "seconds": seat.seconds,
        "reason": report.reason,
        "reply": (report.reply or None) if report.score is None else None,
        "error_probability": report.error_probability,
        "unverified": [*map(_unverified, report.unverified)],
    }


class ResultWriter(LineWriter):
    """Writes results to a file, each in full before the next.

    Rows go to ``PATH.part``, which replaces ``PATH`` when the context ends normally. If it ends by
    an exception, Ctrl-C included, ``PATH.part`` stays, cut to whole rows, unless `keep_part` is
    False. A ``PATH.part`` left by an earlier run is overwritten; if this one `resumes` that run,
    only once it has as many rows.

    Missing answers never overwrite scores. If the panel or a seat has a score in ``PATH``, and its
    new row says that it timed out or failed, ``PATH`` is unchanged, and the new rows are in
    ``PATH.refused``.

    Raises `StoreError` on entry if the file cannot be written; from `append_line` and on exit if
    writing fails later (a full disk); on exit if scores would be lost.
    """

    def __init__(self, path: Path, *, keep_part: bool = True, resumes: bool = False) -> None:
        self._unanswered = UnansweredRows()
        super().__init__(
            path, keep_part=keep_part, resumes=resumes, objection=self._unanswered.objection
        )

    def append(self, result: Result) -> None:
        """Write one row; the operating system has it when this returns.

        Raises `StoreError` if it cannot be written or contains a number that is not finite; the
        rows before it stay complete.
        """
        self.append_line(result_line(result))

    def append_line(self, line: bytes) -> None:
        """Write a row made by `result_line`; raise `StoreError` if that fails."""
        self._unanswered.note(line)
        super().append_line(line)


def result_line(result: Result, *, trace_id: str = "") -> bytes:
    """Return the row of `result` as a line of UTF-8; a lone surrogate becomes one U+FFFD.

    Raises `StoreError` if it contains a number that is not finite.
    """
    row = result_row(result, trace_id=trace_id)
    if _is_finite(result):
        with suppress(*_UNFIT):  # surrogates, unusual number types
            return msgspec.json.format(_ENCODER.encode(row), indent=0) + b"\n"
    try:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        name = result.segment.segment_id
        raise StoreError(f"the result of {name!r} on {result.aspect.name!r}: {error}") from error
    return f"{without_lone_surrogates(line)}\n".encode()


def _is_finite(result: Result) -> bool:
    """Return whether all computed numbers are finite; msgspec would write others as null."""
    report = result.report
    numbers = [report.score, *(seat.report.score for seat in report.seats)]
    numbers += [seat.seconds for seat in report.seats]
    return all(number is None or math.isfinite(number) for number in numbers)


_ENCODER = msgspec.json.Encoder()
_UNFIT = (msgspec.MsgspecError, TypeError, ValueError, OverflowError)
