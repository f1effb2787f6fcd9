"""Repeated assessments vote on error spans, and their disagreement is reported."""

import json
import math
from itertools import permutations

import pytest
from fakes.judges import ASPECT, mark, segment
from hypothesis import given
from hypothesis import strategies as st
from loopback.answers import Answer, chat
from loopback.server import LoopbackServer

import spanjury
from spanjury.judges.core import ErrorSpan, Reply, Report, TokenLogprob
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.votes import voted
from spanjury.judges.text import field_mark
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.testing import ScriptedModel

OUTPUT = "The bridge opened in 1935."
SEGMENT = segment(output=OUTPUT)
MARK = field_mark([*SEGMENT.inputs.values(), OUTPUT])


def lines(*quotes: str, severity: int = 4, score: str = "Poor") -> str:
    errors = "".join(
        f'Error {number}:\nLocation: "{quote}"\nExplanation: Not {quote}.\nSeverity: {severity}\n\n'
        for number, quote in enumerate(quotes, start=1)
    )
    return f"{errors or 'No Error'}\n\nOverall score: {score}\nExplanation of the score: Why."


async def assess(*replies: Reply | str, **options: object) -> Report:
    annotator = Annotator(model=ScriptedModel(*replies), samples=len(replies), **options)  # type: ignore[arg-type]  # set by each test
    return await annotator.assess(SEGMENT, ASPECT)


def test_overlapping_spans_of_one_category_are_one_span() -> None:
    spans = [mark(OUTPUT, "in 1935", severity=2), mark(OUTPUT, "1935", severity=3)]
    kept = voted([spans[:1], spans[1:], [mark(OUTPUT, "1935", severity=5), spans[0]]])
    (span,) = kept.spans
    assert (span.text, span.severity, kept.left_out) == ("in 1935", 3, 0)
    assert span.explanation.endswith("(3 of 3 assessments report it.)")
    assert span.probability == pytest.approx(3.5 / 4)


def test_a_span_that_half_of_the_assessments_report_is_left_out() -> None:
    bridge = mark(OUTPUT, "bridge")
    kept = voted([[bridge], [bridge, mark(OUTPUT, "opened")], [], []])
    assert (kept.spans, kept.left_out) == ((), 2)


def test_a_wide_span_never_joins_errors_that_lie_apart_in_any_order_of_assessments() -> None:
    wide, bridge, year = (mark(OUTPUT, words) for words in (OUTPUT, "bridge", "1935"))
    for assessments in permutations([[wide], [bridge, year], [year, bridge]]):
        kept = voted(assessments)
        assert [span.text for span in kept.spans] == ["bridge", "1935"]
        assert kept.left_out == 0
    assert voted([[wide], [bridge], [year]]).left_out == 1


def test_an_assessment_has_one_vote_however_often_it_reports_a_span() -> None:
    bridge = mark(OUTPUT, "bridge")
    assert voted([[bridge, bridge], [], []]).spans == ()


def test_errors_of_different_categories_at_one_place_stay_apart() -> None:
    date = ErrorSpan(text="", explanation="No month.", severity=1, category="omission")
    other = ErrorSpan(text="", explanation="No month.", severity=1, category="style")
    assert len(voted([[date, other], [other, date]]).spans) == 2
    assert voted([[date], [other]]).spans == ()


def test_errors_without_a_place_are_one_if_half_of_their_words_agree() -> None:
    month, builder = (
        ErrorSpan(text="", explanation=words, severity=2)
        for words in ("The month is missing.", "Nobody is named as builder.")
    )
    again = ErrorSpan(text="", explanation="The month of the opening is missing.", severity=3)
    kept = voted([[month], [again, builder]])
    assert [span.severity for span in kept.spans] == [3]  # the median of 2 and 3, upwards
    assert kept.left_out == 1


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6), st.integers(1, 5)), max_size=4),
        min_size=1,
        max_size=5,
    )
)
def test_votes_add_nothing_and_assessments_that_agree_lose_nothing(
    places: list[list[tuple[int, int, int]]],
) -> None:
    assessments = [
        [
            mark(OUTPUT, OUTPUT[start : start + length], severity=severity)
            for start, length, severity in spans
        ]
        for spans in places
    ]
    kept = voted(assessments)
    reported = {span.interval for spans in assessments for span in spans}
    assert {span.interval for span in kept.spans} <= reported
    assert voted([spans[::-1] for spans in reversed(assessments)]) == kept
    alike = voted([assessments[0]] * 3)
    assert alike.left_out == 0


async def test_a_report_has_the_spans_of_the_majority_and_the_median_score() -> None:
    report = await assess(
        lines("in 1935", "bridge", severity=5, score="Unacceptable"),
        lines("1935", severity=2, score="Fair"),
        lines(score="Excellent"),
    )
    assert [(span.text, span.severity) for span in report.spans] == [("in 1935", 4)]
    assert report.score == 3
    assert report.rationale == (
        "2 of 3 assessments find an error. 1 error is left out, reported by half of them at most."
        " Their scores are 1 to 5. Why."
    )
    assert report.error_probability == pytest.approx(2.5 / 4)


async def test_assessments_that_cannot_be_read_have_no_vote() -> None:
    replies = [lines("1935"), "I like it.", lines("1935"), "I do."]
    annotator = Annotator(model=ScriptedModel(*replies), samples=3)
    report = await annotator.assess(SEGMENT, ASPECT)
    counted = "2 of 3 assessments {}, 1 is unusable"
    assert report.spans[0].explanation.endswith(f"({counted.format('report it')}.)")
    assert report.rationale.startswith(f"{counted.format('find an error')}.")


async def test_log_probabilities_state_the_probability_and_votes_choose_the_spans() -> None:
    words = [f"Faulty ({MARK}):", " yes", f"\n{lines('1935')}"]
    top = {" yes": math.log(0.6), " no": math.log(0.2)}
    tokens = [
        TokenLogprob(token=word, logprob=0.0, top=top if word == " yes" else {}) for word in words
    ]
    first = Reply(text="".join(words), logprobs=tuple(tokens))
    report = await assess(first, lines(), lines(), verdict="before")
    assert report.error_probability == pytest.approx(0.75, abs=0.01)
    assert report.spans == ()
    assert report.rationale.startswith("1 of 3 assessments find an error. 1 error is left out")


def in_json(*quotes: str) -> Answer:
    errors = [
        {f"explanation_{MARK}": "No.", f"location_{MARK}": quote, f"severity_{MARK}": 4}
        for quote in quotes
    ]
    report = {
        f"errors_{MARK}": errors,
        f"overall_score_{MARK}": "Poor",
        f"explanation_of_the_score_{MARK}": "Why.",
        f"faulty_{MARK}": "yes" if quotes else "no",
    }
    return chat(json.dumps(report))


@pytest.mark.parametrize(
    ("form", "answers"),
    [
        ("text", [chat(lines("1935")), chat(lines("1935", "bridge")), chat(lines())]),
        ("schema", [in_json("1935"), in_json("1935", "bridge"), in_json()]),
    ],
)
def test_votes_are_counted_whatever_the_form_of_the_replies(
    form: str, answers: list[Answer]
) -> None:
    with LoopbackServer(*answers) as server:
        seat = SeatConfig(judge="annotator", options={"samples": 3, "form": form})
        model = ModelConfig(name="openai-compatible/judge", base_url=server.base_url)
        report = spanjury.check(
            OUTPUT,
            source=SEGMENT.inputs["Article"],
            aspects="consistency",
            task="summarization",
            panel=PanelConfig(seats=(seat,), models=(model,)),
        )
        assert len(server.requests) == 3
        assert all(("response_format" in one.body) is (form == "schema") for one in server.requests)
    (span,) = report.spans
    assert span.text == "1935"
    assert span.explanation.endswith("(2 of 3 assessments report it.)")
