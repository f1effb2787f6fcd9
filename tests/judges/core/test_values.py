"""The words of judging refuse to be built wrong."""

import math
from dataclasses import fields, replace

import pytest
from fakes.judges import ASPECT, TASK, mark, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Aspect,
    Consolidation,
    Decoding,
    ErrorSpan,
    Evidence,
    Located,
    ModelOptions,
    Outcome,
    PanelReport,
    Report,
    Result,
    Scale,
    Segment,
    SpanRef,
    Task,
    Usage,
    fingerprint,
    signature,
)


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
    ],
)
def test_an_error_span_that_contradicts_itself_is_refused(change: dict[str, object]) -> None:
    span = mark("abc", "ab")
    with pytest.raises(ValueError, match="severity|interval|hold|start"):
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


def test_a_human_score_is_the_mean_of_the_raters() -> None:
    segment = Segment(segment_id="s", output="", human={"fluency": {"a": 2, "b": 5}})
    assert segment.human_score("fluency") == 3.5
    assert segment.human_score("coherence") is None


STORY = Task(
    name="qa",
    description="",
    input_headers={"Question": ("query",), "Context": ("passage", "source text")},
)
INPUTS = {"query": "Who?", "Source_Text": "Long ago.", "Hint": "a king"}


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


A, B = SpanRef(seat="a", index=0), SpanRef(seat="b", index=0)
CREDITED = replace(mark("abc", "ab"), found_by=("a",))


@pytest.mark.parametrize(
    ("spans", "sources", "left_out"),
    [
        ((CREDITED,), (), ()),
        ((CREDITED,), ((),), ()),
        ((CREDITED,), ((B,),), ()),
        ((CREDITED,), ((A,),), (A,)),
        ((CREDITED, CREDITED), ((A,), (A,)), ()),
    ],
)
def test_a_consolidation_that_miscounts_is_refused(
    spans: tuple[ErrorSpan, ...],
    sources: tuple[tuple[SpanRef, ...], ...],
    left_out: tuple[SpanRef, ...],
) -> None:
    with pytest.raises(ValueError, match="sources|seats|twice"):
        Consolidation(spans=spans, sources=sources, left_out=left_out, consolidator="rules")


@pytest.mark.parametrize("wrong", [{"temperature": -1}, {"max_tokens": 0}, {"logprobs": -1}])
def test_a_decoding_out_of_range_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="not a decoding"):
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
