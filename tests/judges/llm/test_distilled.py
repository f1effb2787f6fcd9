import math

import pytest
from fakes.judges import ASPECT, mark, segment

from spanjury.judges.core import (
    Finish,
    Located,
    ModelTimeoutError,
    Outcome,
    Reply,
    Report,
    Rescorable,
    RescoringMethod,
    TokenLogprob,
    Usage,
)
from spanjury.judges.llm.distilled import Distilled
from spanjury.testing import ScriptedModel

READABLE = """Error 1:
Location: "in 1935"
Explanation: The article says 1932.
Severity: 4

Overall score: 35"""
SPENT = Usage(calls=1, prompt=100, completion=20)


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
    with pytest.raises(ValueError, match=r"must be|not a decoding"):
        Distilled(model=ScriptedModel(), **options)  # type: ignore[arg-type]  # that is the point
