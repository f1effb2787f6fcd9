"""People's verdicts on the spans of a run's judges, from its marks and its results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from spanjury.judges.core import ErrorSpan
from spanjury.orchestration.services.people.marks.mark import Mark, MarkedSpan, Origin
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.services.people.marks.readings import Reading, read_readings
from spanjury.orchestration.studies.agreement.people import (
    KeptSpans,
    SpanVerdict,
    Verdict,
    kept_spans,
)
from spanjury.orchestration.studies.agreement.ratings import input_of
from spanjury.orchestration.wiring.read_results import read_reported_rows

_OWN_RUN = 0
"""Number of the marked run in a view: a second one stands beside it for comparison alone."""

_RowName = tuple[str, str, str, str]


class JudgesSpans(NamedTuple):
    """Shares of the spans that people keep, judge by judge.

    Parameters
    ----------
    stale
        Finished marks that were left out, as the run's results are others by now.
    """

    judges: tuple[KeptSpans, ...]
    stale: int = 0


def judges_spans(run: MarkedRun) -> JudgesSpans:
    """Count what people who looked for errors said of judges' spans.

    Marks that are not done say nothing; where no finished mark holds a verdict, nothing is counted.
    Raise as `read_readings`, and `DataError` if the results cannot be read.
    """
    looked = [reading for reading in read_readings(run).chosen() if not reading.mark.scores_only]
    if not any(_origins(reading.mark) for reading in looked):
        return JudgesSpans(())
    rows = {
        (row.id, row.system, row.task, row.aspect): row.spans
        for row in read_reported_rows(run.results)
    }
    fitting = [reading for reading in looked if _fits(reading.mark, rows.get(_row_of(reading), ()))]
    return JudgesSpans(kept_spans(_all(fitting, rows)), stale=len(looked) - len(fitting))


def _all(
    readings: Sequence[Reading], rows: Mapping[_RowName, Sequence[ErrorSpan]]
) -> Iterator[SpanVerdict]:
    for reading in readings:
        for number, span in enumerate(rows.get(_row_of(reading), ())):
            verdict = _verdict(reading.mark, number, span)
            for judge in span.found_by:
                yield SpanVerdict(
                    aspect=reading.aspect,
                    judge=judge,
                    source=input_of(reading.text.segment),
                    verdict=verdict,
                )


def _row_of(reading: Reading) -> _RowName:
    text = reading.text
    return text.segment.segment_id, text.segment.system, text.task, reading.aspect


def _origins(mark: Mark) -> list[Origin]:
    """Return the spans of the marked run on which a mark has a verdict."""
    taken = [span.origin for span in mark.spans if span.origin is not None]
    return [origin for origin in (*taken, *mark.rejected) if origin.run == _OWN_RUN]


def _fits(mark: Mark, spans: Sequence[ErrorSpan]) -> bool:
    """Say whether a mark's verdicts are on these spans, as far as it keeps what they were."""
    if any(origin.span >= len(spans) for origin in _origins(mark)):
        return False
    accepted = [span for span in mark.spans if span.origin and span.verdict == "accepted"]
    return all(
        _is_at(span, spans[span.origin.span])
        for span in accepted
        if span.origin and span.origin.run == _OWN_RUN
    )


def _verdict(mark: Mark, number: int, span: ErrorSpan) -> Verdict | None:
    """Return the verdict on a span; to accept one is to accept others at its place, too."""
    origin = Origin(run=_OWN_RUN, span=number)
    if origin in mark.rejected:
        return "rejected"
    for span_mark in mark.spans:
        is_at = (
            span.start is not None and span_mark.verdict == "accepted" and _is_at(span_mark, span)
        )
        if (span_mark.origin == origin or is_at) and span_mark.verdict != "own":
            return span_mark.verdict
    return None


def _is_at(marked: MarkedSpan, span: ErrorSpan) -> bool:
    return (marked.start, marked.end) == (span.start, span.end)
