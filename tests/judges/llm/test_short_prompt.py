"""Replies that a distilled judge is trained to write are read back as they were meant."""

from dataclasses import replace

import pytest
from fakes.judges import ASPECT, mark, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ErrorSpan, Outcome, Report, Scale, Segment, gravest
from spanjury.judges.llm.percent import Reading, binned, from_percent, percent
from spanjury.judges.llm.short_prompt import (
    MAX_ERRORS,
    messages_for,
    read_number,
    target_for,
)

READINGS = st.sampled_from(("stretched", "share"))
WORDS = st.lists(
    st.sampled_from(["the", "bridge", "isn’t", "42", "good", "(sic)", "“x”", "a:b", "50%", "«y»"]),
    min_size=1,
    max_size=8,
).map(" ".join)
SPANS = st.lists(
    st.builds(ErrorSpan, text=WORDS, explanation=WORDS, severity=st.integers(1, 5)),
    max_size=MAX_ERRORS,
).map(tuple)
SCALES = st.sampled_from([Scale(), Scale(labels=("bad", "good")), Scale(labels=("1", "2", "3"))])


@given(st.integers(0, 20), SCALES, READINGS)
def test_a_score_in_steps_of_five_is_written_and_read_as_it_is(
    step: int, scale: Scale, reading: Reading
) -> None:
    score = from_percent(5 * step, scale=scale, reading=reading)
    if score is None:
        assert reading == "share"
        assert 5 * step < 100 / scale.high
        return
    target = target_for(Report(score=score), scale, reading=reading)
    assert read_number(target).score == 5 * step


@given(st.floats(1, 5), READINGS)
def test_rounding_moves_a_score_by_two_and_a_half_hundredths_at_most(
    score: float, reading: Reading
) -> None:
    number = binned(percent(score, scale=Scale(), reading=reading))
    assert number in range(0, 101, 5)
    assert abs(number - percent(score, scale=Scale(), reading=reading)) <= 2.5 + 1e-6


def test_a_mean_that_floats_cannot_hold_is_rounded_as_it_is_meant() -> None:
    assert percent(3.3, scale=Scale()) < 57.5  # by the last bit
    assert binned(percent(3.3, scale=Scale())) == 60


@given(SPANS, st.integers(0, 20))
def test_spans_and_score_are_read_back_from_the_target(
    spans: tuple[ErrorSpan, ...], step: int
) -> None:
    parsed = read_number(target_for(Report(score=1 + step / 5, spans=spans), Scale()))
    assert parsed.score == 5 * step
    assert parsed.error_free == (not spans)
    assert [(e.quote, e.explanation, e.severity) for e in parsed.errors] == [
        (span.text, span.explanation, span.severity) for span in spans
    ]


@given(st.lists(st.builds(ErrorSpan, text=st.text(), explanation=st.text(), severity=st.just(2))))
def test_no_report_makes_a_target_that_cannot_be_read(spans: list[ErrorSpan]) -> None:
    parsed = read_number(target_for(Report(score=2, spans=tuple(spans)), Scale()))
    assert parsed.score == 25
    assert len(parsed.errors) == min(len(spans), MAX_ERRORS)


def test_the_gravest_errors_are_listed_in_the_order_of_the_text() -> None:
    grades = [1, 5, 2, 3, 3, 1, 4, 2, 2, 5]
    spans = [ErrorSpan(text=str(n), explanation="", severity=g) for n, g in enumerate(grades)]
    assert [int(span.text) for span in gravest(spans, limit=MAX_ERRORS)] == [1, 2, 3, 4, 6, 7, 8, 9]


def test_a_category_is_not_a_target() -> None:
    span = mark(segment().output, "1935")
    result = Report(score=2, spans=(replace(span, category="number"),))
    assert target_for(result, Scale()) == target_for(Report(score=2, spans=(span,)), Scale())


def test_without_a_score_there_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        target_for(Report(outcome=Outcome.REFUSED, reason="declined"), Scale())


def test_the_prompt_shows_what_the_aspect_may_see_and_nothing_else() -> None:
    blind = replace(ASPECT, inputs=())
    (seeing,) = messages_for(segment(), ASPECT)
    (unseeing,) = messages_for(segment(), blind)
    for message in (seeing, unseeing):
        assert message.role == "user"
        assert "The bridge opened in 1935." in message.content
        assert "Consistency: Facts agree." in message.content
        assert "$" not in message.content
    assert "It opened in 1932." in seeing.content
    assert "1932" not in unseeing.content


@given(st.text(alphabet="~ a\n"))
def test_no_text_can_end_before_its_end(output: str) -> None:
    (message,) = messages_for(Segment(segment_id="s", output=output), ASPECT)
    before, _, after = message.content.partition(" Summary\n")
    mark = before.rpartition("\n")[2]
    assert set(mark) == {"~"}
    assert mark not in output
    assert after.startswith(f"{output}\n{mark}\n")
