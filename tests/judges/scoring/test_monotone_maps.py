"""The promise: more or graver errors never raise a score, fewer or milder never lower it."""

from dataclasses import dataclass, replace
from typing import Literal

import pytest
from fakes.judges import ASPECT, located
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import MAX_SEVERITY, MIN_SEVERITY, Aspect, ErrorSpan
from spanjury.judges.scoring import Curve, SpanMap, SpanPenalty
from spanjury.judges.scoring.fitting import ScoredSpans, fit_curve, fit_weights

TEXT = "The bridge opened in 1935. It is red! Nobody\n\nwalks on it. 12 trains a day. "
ASPECTS = (ASPECT, replace(ASPECT, kind="content"))
SHARES = st.floats(0, 1)
SEVERITIES = st.none() | st.integers(MIN_SEVERITY, MAX_SEVERITY)
CRITICAL = located(TEXT, 0, explanation="all", severity=5)


@st.composite
def errors(draw: st.DrawFn) -> ErrorSpan:
    severity = draw(SEVERITIES)
    if draw(st.booleans()):
        quote = draw(st.sampled_from(["", "a quotation that is not there"]))
        return ErrorSpan(text=quote, explanation="without a place", severity=severity)
    start = draw(st.integers(0, len(TEXT) - 1))
    end = draw(st.integers(start + 1, len(TEXT)))
    return located(TEXT[start:end], start, severity=severity)


LISTS = st.lists(errors(), max_size=6)


@st.composite
def penalties(draw: st.DrawFn) -> SpanPenalty:
    weights = sorted(draw(st.lists(st.floats(0, 50), min_size=5, max_size=5)))
    return SpanPenalty(
        by=draw(st.sampled_from(["sentence", "error"])),
        rest=draw(SHARES),
        unknown=draw(st.integers(0, MAX_SEVERITY)),
        placeless=draw(st.none() | st.booleans()),
        weights=(*weights[:-1], weights[-1] + 0.1),
    )


@st.composite
def chosen(draw: st.DrawFn) -> SpanMap:
    """Draw any map whose parameters are chosen, not fitted."""
    inner = sorted(draw(st.lists(SHARES, min_size=1, max_size=5)), reverse=True)
    gaps = draw(st.lists(st.floats(0.01, 20), min_size=len(inner), max_size=len(inner)))
    ends = [sum(gaps[: n + 1]) for n in range(len(gaps))]
    curve = Curve(penalties=(0.0, *ends), shares=(1.0, *inner))
    return SpanMap(penalty=draw(penalties()), curve=draw(st.none() | st.just(curve)))


@st.composite
def fitted(draw: st.DrawFn) -> SpanMap:
    """Draw a map fitted to scores that have nothing to do with the errors."""
    some = st.tuples(LISTS, st.floats(1.5, 5))
    rows = [
        ScoredSpans(output=TEXT, spans=tuple(spans), score=score)
        for spans, score in draw(st.lists(some, min_size=1, max_size=8))
    ]
    penalty = draw(penalties())
    if draw(st.booleans()):
        return fit_curve(rows, aspect=ASPECT, low=1.0, penalty=penalty)
    try:
        return fit_weights(rows, aspect=ASPECT, penalty=penalty)
    except ValueError:  # errors cost nothing in these rows, which is said and not fitted
        return SpanMap(penalty=penalty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A list of errors, and the same made worse."""

    mild: list[ErrorSpan]
    grave: list[ErrorSpan]


def shifted(spans: list[ErrorSpan], by: int) -> list[ErrorSpan]:
    return [
        replace(span, severity=min(MAX_SEVERITY, max(MIN_SEVERITY, span.severity + by)))
        if span.severity
        else span
        for span in spans
    ]


@st.composite
def worsened(draw: st.DrawFn) -> Changed:
    before = draw(LISTS)
    after = shifted(before, draw(st.integers(0, 4)))
    for index in draw(st.sets(st.integers(0, 5))):
        after[index:index] = [draw(errors())]
    return Changed(mild=before, grave=[*after, CRITICAL] if draw(st.booleans()) else after)


@given(st.one_of(chosen(), fitted()), worsened(), st.sampled_from(ASPECTS))
def test_no_map_ever_goes_the_wrong_way(span_map: SpanMap, lists: Changed, aspect: Aspect) -> None:
    mild, grave = (
        span_map.score(TEXT, spans, aspect=aspect) for spans in (lists.mild, lists.grave)
    )
    scores = [aspect.scale.low, grave, mild, aspect.scale.high]
    defined = [score for score in scores if score is not None]
    assert defined == sorted(defined)


@given(st.one_of(chosen(), fitted()), LISTS, st.sampled_from([-1, 1]))
def test_a_change_by_one_step_is_a_change_by_two_steps(
    span_map: SpanMap, spans: list[ErrorSpan], direction: int
) -> None:
    scores = [
        span_map.score(TEXT, shifted(spans, direction * steps), aspect=ASPECT)
        for steps in (0, 1, 2)
    ]
    defined = [score for score in scores if score is not None]
    assert len(defined) in {0, len(scores)}  # no severity decides on having a score
    if defined:
        assert defined == sorted(defined, reverse=direction > 0)
        assert defined[0] == defined[1] or defined[0] != defined[2]


@given(st.one_of(chosen(), fitted()), st.sampled_from(ASPECTS))
def test_a_text_without_errors_has_the_best_score(span_map: SpanMap, aspect: Aspect) -> None:
    assert span_map.score(TEXT, [], aspect=aspect) == aspect.scale.high


@given(st.data(), st.sampled_from(["sentence", "error"]))
def test_the_order_of_errors_does_not_matter(
    data: st.DataObject, by: Literal["sentence", "error"]
) -> None:
    spans = data.draw(LISTS)
    mixed = data.draw(st.permutations(spans))
    penalty = SpanPenalty(by=by)
    assert penalty.of(TEXT, mixed, aspect=ASPECT) == penalty.of(TEXT, spans, aspect=ASPECT)


@given(st.integers(MIN_SEVERITY, MAX_SEVERITY - 1), st.integers(0, 20))
def test_graver_errors_lower_the_score_where_severity_costs(severity: int, start: int) -> None:
    span = replace(CRITICAL, text=TEXT[start : start + 3], start=start, end=start + 3)
    strict = SpanMap(penalty=SpanPenalty(weights=(1.0, 2.0, 3.0, 4.0, 5.0)))
    mild, grave = (
        strict.score(TEXT, [replace(span, severity=grade)], aspect=ASPECT)
        for grade in (severity, severity + 1)
    )
    assert mild is not None
    assert grave is not None
    assert grave < mild


def test_a_critical_error_over_the_whole_text_leaves_nothing() -> None:
    assert SpanMap().score(TEXT, [CRITICAL], aspect=ASPECT) == pytest.approx(ASPECT.scale.low)
