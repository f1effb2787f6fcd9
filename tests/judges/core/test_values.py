"""The words of judging, from spans to pairs and decisions, refuse to be built wrong."""

import math
from dataclasses import fields, replace
from typing import Any

import msgspec
import pytest
from fakes.judges import ASPECT, TASK, located, mark, segment
from fakes.pairs import TIE, A, B, pair, preferring
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from spanjury.judges.core import (
    Aspect,
    Comparison,
    Consolidation,
    Decision,
    DecisionBasis,
    Decoding,
    ErrorSpan,
    Evidence,
    Ground,
    Located,
    ModelOptions,
    Outcome,
    PairReport,
    PanelReport,
    Preference,
    Report,
    Result,
    Scale,
    Segment,
    SpanRef,
    Task,
    TextPair,
    Usage,
    fingerprint,
    gravest,
    probability_with,
    signature,
)

STORY = Task(
    name="qa",
    description="",
    input_headers={"Question": ("query",), "Context": ("passage", "source text")},
)
INPUTS = {"query": "Who?", "Source_Text": "Long ago.", "Hint": "a king"}
REF_A, REF_B = SpanRef(seat="a", index=0), SpanRef(seat="b", index=0)
CREDITED = replace(mark("abc", "ab"), found_by=("a",))
FAILED = PairReport(outcome=Outcome.TIMED_OUT, reason="no reply")
MILD, GRAVE = (mark(segment().output, "1935", severity=n) for n in (3, 4))
BY_SPANS = DecisionBasis(ground=Ground.SPANS, reason="No error is marked.")
BY_PROBABILITY = DecisionBasis(
    ground=Ground.PROBABILITY,
    reason="It is 0.90.",
    threshold=0.8,
    false_alarms=0.05,
    measured_on="160 texts",
)


def span(text: str, *, severity: int, at: int, probability: float | None = None) -> ErrorSpan:
    fields = {"severity": severity, "probability": probability}
    return located(text, at, explanation=f"{text} is wrong.", **fields)


def texts(spans: tuple[ErrorSpan, ...]) -> list[str]:
    return [each.text for each in spans]


def test_the_gravest_are_kept_in_order_of_place() -> None:
    spans = [
        span(text, severity=grade, at=n)
        for n, (text, grade) in enumerate(zip("abc", (2, 4, 3), strict=True))
    ]
    assert texts(gravest(spans, limit=2)) == ["b", "c"]
    assert gravest(spans, limit=0) == ()


def test_the_likelier_of_equally_grave_errors_is_kept() -> None:
    spans = [
        span("a", severity=3, at=0, probability=0.6),
        span("b", severity=3, at=1, probability=0.9),
    ]
    assert texts(gravest(spans, limit=1)) == ["b"]


def test_omissions_come_behind_what_has_a_place() -> None:
    omission = ErrorSpan(text="", explanation="The cost is missing.", severity=2)
    assert gravest([omission, span("a", severity=4, at=3)], limit=2)[-1] == omission


def test_a_repeated_error_leaves_room_for_the_others() -> None:
    repeated = [span("x", severity=5, at=n) for n in range(25)]
    assert texts(gravest([*repeated, span("a", severity=1, at=30)], limit=3)) == ["x", "x", "a"]


def test_an_error_found_by_others_is_otherwise_the_same() -> None:
    whole = ErrorSpan(
        text="in 1935",
        explanation="wrong",
        severity=4,
        start=3,
        end=10,
        category="number",
        located=Located.FUZZY,
        found_by=("a",),
        evidence=(Evidence(input="Article", start=0, end=2, text="It"),),
        probability=0.7,
    )
    assert all(getattr(whole, field.name) != field.default for field in fields(ErrorSpan))
    assert whole.credited_to(("a", "b")) == replace(whole, found_by=("a", "b"))


def test_a_graver_list_never_lowers_the_probability_however_near_to_an_end_it_is() -> None:
    error = ErrorSpan(text="", explanation="", severity=3, probability=0.5)
    for probability in (0.0, 0.0002, 0.5, 0.9998, 1.0):
        graver = probability_with([error, error], probability=probability, own=[error])
        milder = probability_with([], probability=probability, own=[error])
        assert milder <= probability <= graver
        assert milder < graver


def test_a_scale_counts_its_labels_from_one() -> None:
    scale = Scale(labels=("no", "yes"))
    assert (scale.low, scale.high) == (1, 2)
    assert [scale.value(label) for label in ("No", " YES ", "maybe")] == [1, 2, None]


@pytest.mark.parametrize("labels", [(), ("one",), ("Good", "good")])
def test_a_scale_needs_two_distinct_labels(labels: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="two or more distinct labels"):
        Scale(labels=labels)


@pytest.mark.parametrize(
    ("score", "within"), [(1, True), (5, True), (0.99, False), (5.01, False), (math.nan, False)]
)
def test_a_scale_contains_what_lies_between_its_ends(score: float, within: bool) -> None:
    assert (score in Scale()) is within


@given(st.floats(1, 5))
def test_the_label_of_a_score_is_at_most_half_a_step_away(score: float) -> None:
    value = Scale().value(Scale().label(score))
    assert value is not None
    assert abs(value - score) <= 0.5


def test_a_label_outside_the_scale_is_its_nearest_end() -> None:
    assert (Scale().label(-3), Scale().label(9)) == ("Unacceptable", "Excellent")


@pytest.mark.parametrize(
    "change",
    [
        {"severity": 0},
        {"severity": 6},
        {"end": None},
        {"start": None, "end": None},
        {"located": Located.UNLOCATED},
        {"start": -1},
        {"start": 3, "end": 3, "text": ""},
        {"text": "longer"},
        {"located": "exact"},
    ],
)
def test_an_error_span_that_contradicts_itself_is_refused(change: dict[str, object]) -> None:
    span = mark("abc", "ab")
    with pytest.raises(ValueError, match="severity|interval|hold|start|must be a Located"):
        replace(span, **change)  # type: ignore[arg-type]  # the point is that they are wrong


def test_a_quote_without_a_place_is_hallucinated_and_an_omission_is_not() -> None:
    quote = ErrorSpan(text="never said", explanation="", severity=None)
    assert quote.hallucinated
    assert not replace(quote, text="").hallucinated
    assert not mark("abc", "ab").hallucinated


@pytest.mark.parametrize(
    ("outcome", "score", "reason"),
    [(Outcome.SCORED, None, "why"), (Outcome.ABSTAINED, 3, "why"), (Outcome.TIMED_OUT, None, "")],
)
def test_a_failure_is_never_a_score(outcome: Outcome, score: float | None, reason: str) -> None:
    with pytest.raises(ValueError, match="outcome"):
        Report(outcome=outcome, score=score, reason=reason)


@pytest.mark.parametrize("outcome", ["abstained", "wat", None])
def test_an_outcome_is_one_of_ours(outcome: Outcome) -> None:
    for kind in (Report, PairReport):
        with pytest.raises(ValueError, match=f"outcome must be an Outcome, got {outcome!r}"):
            kind(outcome=outcome, reason="x")


def test_a_human_score_is_the_mean_of_the_raters() -> None:
    segment = Segment(segment_id="s", output="", human={"fluency": {"a": 2, "b": 5}})
    assert segment.human_score("fluency") == 3.5
    assert segment.human_score("coherence") is None


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (None, ["query", "Source_Text", "Hint"]),
        ((), []),
        (("Question",), ["query", "Hint"]),
        (("Context",), ["Source_Text", "Hint"]),
    ],
)
def test_an_aspect_sees_its_inputs_and_those_no_task_knows(
    seen: tuple[str, ...] | None, expected: list[str]
) -> None:
    assert list(replace(ASPECT, task=STORY, inputs=seen).view(INPUTS)) == expected


@pytest.mark.parametrize(
    ("inputs", "lacking"),
    [
        ({"Question": "Who?"}, ("Context",)),
        ({"Question": "Who?", "passage": ""}, ("Context",)),
        ({"Question": "Who?", "passage": "Long ago."}, ()),
        ({"Input": "Who? Long ago."}, ()),
        ({}, ("Context",)),
    ],
)
def test_an_aspect_says_what_it_lacks(inputs: dict[str, str], lacking: tuple[str, ...]) -> None:
    assert replace(ASPECT, task=STORY, needs=("Context",)).lacking(inputs) == lacking


def test_the_same_word_in_another_task_is_another_aspect() -> None:
    assert replace(ASPECT, task=STORY) != Aspect(
        name="consistency", task=TASK, definition="Facts agree.", kind="grounding"
    )


@pytest.mark.parametrize(
    ("spans", "sources", "left_out"),
    [
        ((CREDITED,), (), ()),
        ((CREDITED,), ((),), ()),
        ((CREDITED,), ((REF_B,),), ()),
        ((CREDITED,), ((REF_A,),), (REF_A,)),
        ((CREDITED, CREDITED), ((REF_A,), (REF_A,)), ()),
    ],
)
def test_a_consolidation_that_miscounts_is_refused(
    spans: tuple[ErrorSpan, ...],
    sources: tuple[tuple[SpanRef, ...], ...],
    left_out: tuple[SpanRef, ...],
) -> None:
    with pytest.raises(ValueError, match="sources|seats|twice"):
        Consolidation(spans=spans, sources=sources, left_out=left_out, consolidator="rules")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"temperature": temperature} for temperature in (-1, math.nan, math.inf)),
        {"max_tokens": 0},
        {"logprobs": -1},
    ],
)
def test_a_decoding_out_of_range_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Decoding(**wrong)  # type: ignore[arg-type]  # the point is that they are wrong


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_connections": 0},
        {"min_connections": 0},
        {"timeout": 0},
        {"attempts": 0},
        {"requests_per_minute": 0},
        {"tokens_per_minute": -1},
    ],
)
def test_model_options_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be positive"):
        ModelOptions(**wrong)  # type: ignore[arg-type]  # the point is that they are wrong


def test_the_least_connections_are_no_more_than_there_are() -> None:
    with pytest.raises(ValueError, match="must not exceed"):
        ModelOptions(max_connections=2, min_connections=3)
    assert ModelOptions(max_connections=2, min_connections=2).min_connections == 2


def test_usage_adds_up() -> None:
    spent = Usage(calls=1, prompt=2, cached=3, completion=4, reasoning=5)
    assert spent + spent == Usage(calls=2, prompt=4, cached=6, completion=8, reasoning=10)


@given(st.lists(st.text()), st.lists(st.text()))
def test_fingerprints_differ_where_texts_do(texts: list[str], other: list[str]) -> None:
    assert (fingerprint(*texts) == fingerprint(*other)) is (texts == other)


def test_a_fingerprint_takes_lone_surrogates() -> None:
    assert len(fingerprint("\ud800")) == 12


def test_a_signature_ends_with_the_version() -> None:
    assert signature("judge", model="m").split("|")[:2] == ["judge", "model:m"]


def test_a_panel_report_and_a_result_say_in_a_line_what_came_of_them() -> None:
    report = PanelReport(outcome=Outcome.REFUSED, reason="no", rationale="x" * 1000)
    assert repr(report) == "<PanelReport: no decision, refused, 0 errors>"
    result = Result(segment=segment(), aspect=ASPECT, report=report)
    assert repr(result) == f"<Result 's', consistency: {report!r}>"


def compared(*orders: PairReport) -> Comparison:
    return Comparison(pair=pair(), signature="s", orders=orders)


@pytest.mark.parametrize("changed", [{"inputs": {"Article": "It rains."}}, {"task": "story"}])
def test_a_pair_has_the_same_inputs_and_task(changed: dict[str, object]) -> None:
    other = replace(segment("b"), **changed)  # type: ignore[arg-type]  # set by each case
    with pytest.raises(ValueError, match="the same inputs and task"):
        TextPair(a=segment("a"), b=other)


@pytest.mark.parametrize(
    "wrong",
    [
        {"preference": None},
        {"preference": "A"},
        {"outcome": Outcome.REFUSED, "preference": A, "reason": "no"},
        {"outcome": Outcome.REFUSED},
        {"preference": A, "probability": 1.1},
    ],
)
def test_a_report_has_a_preference_or_a_reason(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"outcome|probability|must be a Preference"):
        PairReport(**wrong)  # type: ignore[arg-type]  # set by each case


@given(st.sampled_from(Preference), st.none() | st.floats(0, 1))
def test_a_report_that_is_swapped_twice_is_the_same(
    preference: Preference, probability: float | None
) -> None:
    span = mark("It opened in 1932.", "1932")
    report = replace(preferring(preference, probability), spans_a=(span,), explanation="why")
    assert report.swapped.spans_b == (span,)
    again = report.swapped.swapped
    assert replace(again, probability=None) == replace(report, probability=None)
    assert again.probability == (None if probability is None else pytest.approx(probability))


@pytest.mark.parametrize(
    ("first", "second", "preference", "consistent"),
    [(A, A, A, True), (TIE, TIE, TIE, True), (A, B, TIE, False), (B, TIE, TIE, False)],
)
def test_a_preference_that_turns_with_the_order_is_a_tie(
    first: Preference, second: Preference, preference: Preference, *, consistent: bool
) -> None:
    comparison = compared(preferring(first), preferring(second))
    assert (comparison.preference, comparison.consistent) == (preference, consistent)


def test_one_order_says_nothing_of_consistency() -> None:
    comparison = compared(preferring(B, 0.25))
    assert (comparison.preference, comparison.consistent) == (B, None)
    assert comparison.probability == 0.25


@pytest.mark.parametrize("orders", [(FAILED, preferring(A)), (preferring(A), FAILED)])
def test_an_order_that_failed_leaves_no_preference(orders: tuple[PairReport, ...]) -> None:
    comparison = compared(*orders)
    assert (comparison.preference, comparison.consistent) == (None, None)
    assert (comparison.outcome, comparison.reason) == (Outcome.TIMED_OUT, "no reply")
    assert comparison.probability is None


def test_probabilities_are_averaged_and_spans_and_tokens_collected() -> None:
    span = mark("It opened in 1932.", "1932")
    again = replace(span, explanation="in other words")
    other = mark("It opened in 1932.", "opened")
    spent = Usage(calls=1, prompt=5)
    comparison = compared(
        replace(preferring(A, 0.9), spans_a=(span,), explanation="x", usage=spent),
        replace(preferring(A, 0.6), spans_a=(again, other), explanation="x", usage=spent),
    )
    assert comparison.probability == pytest.approx(0.75)
    assert comparison.spans_a == (span, other)
    assert comparison.spans_b == ()
    assert comparison.explanation == "x"
    assert comparison.usage == Usage(calls=2, prompt=10)


def test_a_probability_that_one_order_lacks_is_unknown() -> None:
    assert compared(preferring(A, 0.9), preferring(A)).probability is None


@pytest.mark.parametrize(
    "fields",
    [
        {"threshold": 0.5},
        {"false_alarms": 0.1},
        {"measured_on": "160 texts"},
        {"false_alarms": 1.1, "measured_on": "160 texts"},
        {"misses": 0.1},
        {"misses": 0.1, "false_alarms": 0.1, "measured_on": "160 texts"},
        {"misses": 1.1, "measured_on": "160 texts"},
        {"spread": (0.1, 0.2)},
        {"spread": (0.2, 0.1), "misses": 0.1, "measured_on": "160 texts"},
        {"ground": Ground.PROBABILITY},
        {"ground": Ground.PROBABILITY, "threshold": -0.1},
    ],
)
def test_a_basis_that_contradicts_itself_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"0 to 1|decided by|false alarms|a share of"):
        DecisionBasis(**{"ground": Ground.SPANS, "reason": "Why.", **fields})


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"score": 5, "decision": Decision.OK}, "with the basis None"),
        ({"score": 5, "basis": BY_SPANS}, "decision None with the basis"),
        (
            {
                "outcome": Outcome.TIMED_OUT,
                "reason": "slow",
                "decision": Decision.OK,
                "basis": BY_SPANS,
            },
            "ok without a score",
        ),
        (
            {"score": 5, "decision": Decision.OK, "basis": BY_SPANS, "spans": (GRAVE,)},
            "ok with an error of severity 4 or 5",
        ),
        ({"score": 1, "decision": Decision.FAULTY, "basis": BY_SPANS}, "faulty without an error"),
        (
            {
                "score": 1,
                "decision": Decision.FAULTY,
                "basis": BY_PROBABILITY,
                "error_probability": 0.79,
            },
            "faulty without an error",
        ),
        ({"score": None}, "outcome 'scored' with score None"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        PanelReport(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"decision": Decision.OK, "basis": BY_SPANS, "spans": (MILD,)},
        {"decision": Decision.FAULTY, "basis": BY_SPANS, "spans": (GRAVE,)},
        {"decision": Decision.FAULTY, "basis": BY_PROBABILITY, "error_probability": 0.8},
        {"decision": Decision.UNSURE, "basis": BY_SPANS},
        {"spans": (GRAVE,)},
    ],
)
def test_a_report_that_agrees_with_itself_is_taken(fields: dict[str, Any]) -> None:
    assert PanelReport(score=2, **fields).score == 2


def test_a_score_over_a_threshold_is_ok_whatever_is_marked() -> None:
    basis = DecisionBasis(ground=Ground.SCORE, reason="The score is above 3.")
    report = PanelReport(score=4, decision=Decision.OK, basis=basis, spans=(GRAVE,))
    assert report.decision is Decision.OK


def test_the_former_word_is_read_as_unsure_and_never_written() -> None:
    assert Decision("doubtful") is Decision.UNSURE
    assert msgspec.json.decode(b'"doubtful"', type=Decision) is Decision.UNSURE
    assert TypeAdapter(Decision | None).validate_json('"doubtful"') is Decision.UNSURE
    assert [*Decision] == ["ok", "unsure", "faulty"]
    with pytest.raises(ValueError, match="'dubious' is not a valid Decision"):
        Decision("dubious")
