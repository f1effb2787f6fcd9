"""The distilled judge: what it asks, and the short replies that it is trained to write."""

import math
from dataclasses import replace

import pytest
from fakes.judges import ASPECT, mark, segment
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    ErrorSpan,
    Finish,
    Located,
    ModelTimeoutError,
    Outcome,
    Reply,
    Report,
    Rescorable,
    RescoringMethod,
    Scale,
    Segment,
    TokenLogprob,
    Usage,
    gravest,
)
from spanjury.judges.llm.distilled import Distilled
from spanjury.judges.llm.distilled_form import (
    MAX_ERRORS,
    Reading,
    binned,
    from_percent,
    messages_for,
    percent,
    read_number,
    read_verdict,
    verdict_target,
)
from spanjury.judges.llm.error_list import render_errors
from spanjury.testing import ScriptedModel

READABLE = """Error 1:
Location: "in 1935"
Explanation: The article says 1932.
Severity: 4

Overall score: 35"""
SPENT = Usage(calls=1, prompt=100, completion=20)
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


async def assess(
    *replies: Reply | str | Exception, **options: object
) -> tuple[Report, ScriptedModel]:
    model = ScriptedModel(*replies)
    judge = Distilled(model=model, **options)  # type: ignore[arg-type]  # set by each test
    return await judge.assess(segment(), ASPECT), model


async def test_a_readable_reply_becomes_a_report_on_the_scale_of_the_aspect() -> None:
    report, model = await assess(Reply(text=READABLE, usage=SPENT))
    (span,) = report.spans
    assert (report.outcome, report.score) == (Outcome.SCORED, 2.4)
    assert (span.start, span.end, span.severity) == (18, 25, 4)
    assert span.located is Located.EXACT
    assert report.usage == SPENT
    (request,) = model.requests
    assert request.decoding.temperature == 0
    assert [message.role for message in request.messages] == ["user"]


async def test_an_unreadable_reply_is_drawn_again_and_the_prompt_stays_the_same() -> None:
    report, model = await assess(Reply(text="Hm.", usage=SPENT), Reply(text=READABLE, usage=SPENT))
    assert report.score == 2.4
    assert report.usage == SPENT + SPENT
    first, second = model.requests
    assert first.messages == second.messages
    assert (first.decoding.temperature, second.decoding.temperature) == (0, 0.1)
    assert first.decoding.seed != second.decoding.seed


async def test_an_unreadable_reply_is_no_score_and_the_last_one_is_kept() -> None:
    report, model = await assess("Hm.", "Well.", "So.")
    assert (report.outcome, report.score) == (Outcome.UNPARSEABLE, None)
    assert report.reply == "So."
    assert len({request.decoding.seed for request in model.requests}) == 3


async def test_a_reply_that_breaks_off_is_given_twice_the_room_and_then_given_up() -> None:
    cut = Reply(text="Error 1:\nLocation:", finish=Finish.LENGTH)
    report, model = await assess(cut, cut, cut, max_tokens=100)
    assert report.outcome is Outcome.TRUNCATED
    assert [request.decoding.max_tokens for request in model.requests] == [100, 200, 200]


async def test_a_refusal_is_final() -> None:
    report, model = await assess(Reply(text="No.", finish=Finish.REFUSAL))
    assert report.outcome is Outcome.REFUSED
    assert len(model.requests) == 1


async def test_a_model_that_gives_no_reply_is_the_callers_to_judge() -> None:
    with pytest.raises(ModelTimeoutError):
        await assess("Hm.", ModelTimeoutError("slow"))


async def test_a_number_that_the_reading_has_no_score_for_is_unreadable() -> None:
    report, _ = await assess("No Error\n\nOverall score: 10", tries=1, reading="share")
    assert report.outcome is Outcome.UNPARSEABLE
    assert report.reason == "10 is below the worst score"
    report, _ = await assess("No Error\n\nOverall score: 70", reading="share")
    assert report.score == 3.5


async def test_the_expected_score_is_taken_where_it_is_returned() -> None:
    half = math.log(0.5)
    texts = ["No Error", "\n\n", "Overall score:", " "]
    tokens = [TokenLogprob(token=text, logprob=0, top={text: 0}) for text in texts]
    number = TokenLogprob(token="75", logprob=half, top={"75": half, "50": half})
    reply = Reply(text="No Error\n\nOverall score: 75", logprobs=(*tokens, number))
    report, model = await assess(reply, expected=True)
    assert report.score == pytest.approx(3.5)
    assert model.requests[0].decoding.logprobs == 20


async def test_the_written_number_counts_without_probabilities_with_a_note() -> None:
    report, _ = await assess("No Error\n\nOverall score: 75", expected=True)
    assert report.score == 4
    assert "no log-probabilities" in report.rationale


async def test_a_score_follows_from_a_list_that_is_not_its_own() -> None:
    model = ScriptedModel(" 40\n\nError 2: more")
    judge = Distilled(model=model)
    assert isinstance(judge, Rescorable)
    spans = [mark(segment().output, "1935")]
    rescoring = await judge.rescore(segment(), ASPECT, spans)
    assert (rescoring.method, rescoring.report.score) == (RescoringMethod.CONTINUED, 2.6)
    assert rescoring.report.spans == tuple(spans)
    assert model.requests[0].prefix.endswith("Severity: 3\n\nOverall score:")


async def test_whatever_can_change_a_number_is_in_the_signature() -> None:
    model = ScriptedModel()
    options: list[dict[str, object]] = [
        {},
        {"reading": "share"},
        {"tries": 1},
        {"temperature": 0.5},
        {"seed": 2},
        {"max_tokens": 9},
        {"expected": True},
    ]
    result = {Distilled(model=model, **one).signature for one in options}  # type: ignore[arg-type]
    assert len(result) == len(options)


@pytest.mark.parametrize(
    "options", [{"tries": 0}, {"alternatives": 0}, {"reading": "twice"}, {"temperature": -1}]
)
async def test_a_bad_option_is_refused_at_once(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Distilled(model=ScriptedModel(), **options)  # type: ignore[arg-type]  # that is the point


@given(st.integers(0, 20), SCALES, READINGS)
def test_a_score_in_steps_of_five_is_written_and_read_as_it_is(
    step: int, scale: Scale, reading: Reading
) -> None:
    score = from_percent(5 * step, scale=scale, reading=reading)
    if score is None:
        assert reading == "share"
        assert 5 * step < 100 / scale.high
        return
    target = verdict_target(Report(score=score), scale, reading=reading)
    assert read_verdict(target).score == 5 * step


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
def test_spans_and_score_are_read_back_from_a_reply_with_the_score_last(
    spans: tuple[ErrorSpan, ...], step: int
) -> None:
    parsed = read_number(f"{render_errors(spans)} {5 * step}")
    assert parsed.score == 5 * step
    assert parsed.error_free == (not spans)
    assert [(e.quote, e.explanation, e.severity) for e in parsed.errors] == [
        (span.text, span.explanation, span.severity) for span in spans
    ]


def test_the_gravest_errors_are_listed_in_the_order_of_the_text() -> None:
    grades = [1, 5, 2, 3, 3, 1, 4, 2, 2, 5]
    spans = [ErrorSpan(text=str(n), explanation="", severity=g) for n, g in enumerate(grades)]
    assert [int(span.text) for span in gravest(spans, limit=MAX_ERRORS)] == [1, 2, 3, 4, 6, 7, 8, 9]


def test_a_category_is_not_a_target() -> None:
    span = mark(segment().output, "1935")
    result = Report(score=2, spans=(replace(span, category="number"),))
    assert verdict_target(result, Scale()) == verdict_target(
        Report(score=2, spans=(span,)), Scale()
    )


def test_without_a_score_there_is_nothing_to_learn() -> None:
    with pytest.raises(ValueError, match="nothing to learn"):
        verdict_target(Report(outcome=Outcome.REFUSED, reason="declined"), Scale())


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
