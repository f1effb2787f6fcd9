"""Checks of a seat's report: that it is one, and fits the text, the scale and the inputs.

A judge is another's code as often as ours. An offset of the output that misses costs the seat
its report; evidence that no input holds costs it the span.
"""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    EventLog,
    Evidence,
    JudgeError,
    Report,
    Segment,
    Unverified,
)

log = EventLog()


def checked_report(report: object, segment: Segment, aspect: Aspect) -> Report:
    """Return `report` if it is one and fits what was judged; raise `JudgeError` if not."""
    if not isinstance(report, Report):
        raise JudgeError(f"the judge returned {report!r}, not a Report")
    score: object = report.score
    if isinstance(score, bool) or not isinstance(score, Real | None):
        raise JudgeError(f"the judge gave {score!r} as its score, not a number")
    if report.score is not None and report.score not in aspect.scale:
        scale = aspect.scale
        raise JudgeError(f"score {report.score!r} is not within {scale.low} to {scale.high}")
    _check_spans(report, segment)
    _check_unverified(report, segment)
    return _with_true_evidence(report, segment)


def _check_spans(report: Report, segment: Segment) -> None:
    for span in report.spans:
        if not isinstance(span, ErrorSpan):
            raise JudgeError(f"the judge listed {span!r} among its spans, not an ErrorSpan")
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
    """Leave out the spans whose evidence no input holds: a reason that is made up is none."""
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
