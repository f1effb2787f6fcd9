import math
from dataclasses import replace

import pytest
from fakes.judges import ASPECT, mark, segment
from loopback.answers import Answer, chat, failure
from loopback.lanes import EACH_LANE, Lane
from loopback.server import LoopbackServer, Received

from spanjury.judges.core import (
    Decoding,
    ErrorSpan,
    Finish,
    ModelOptions,
    ModelRefusedError,
    ModelTimeoutError,
    Outcome,
    PermanentModelError,
    Reply,
    Rescorable,
    Rescoring,
    RescoringMethod,
    TokenLogprob,
    Usage,
)
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.error_list import cue, render_errors
from spanjury.judges.llm.geval import GEval
from spanjury.judges.text import field_mark
from spanjury.testing import ScriptedModel

SEGMENT = segment()
SPANS = (mark(SEGMENT.output, "in 1935", "The article says 1932.", 4),)
MARK = field_mark([*SEGMENT.inputs.values(), SEGMENT.output])
LISTED = render_errors(SPANS, mark=MARK).replace(cue(MARK), f"Faulty ({MARK}): yes\n{cue(MARK)}")
SPENT = Usage(calls=1, prompt=100, completion=20)
CANNOT = PermanentModelError("cannot continue from a given prefix")
NO_PREFILL = Lane(name="mistral/unlisted-model")


async def rescore(
    *replies: Reply | str | Exception, spans: tuple[ErrorSpan, ...] = SPANS, **options: object
) -> tuple[Rescoring, ScriptedModel]:
    model = ScriptedModel(*replies)
    annotator = Annotator(model=model, **options)  # type: ignore[arg-type]  # set by each test
    return await annotator.rescore(SEGMENT, ASPECT, spans), model


async def test_the_score_is_what_the_model_writes_behind_the_list() -> None:
    rescoring, model = await rescore(Reply(text=" Poor\nExplanation of the", usage=SPENT))
    report = rescoring.report
    assert (report.score, report.spans, rescoring.method) == (2, SPANS, RescoringMethod.CONTINUED)
    assert (report.reply, report.usage) == (" Poor\nExplanation of the", SPENT)
    (request,) = model.requests
    assert request.prefix == LISTED
    assert request.decoding.max_tokens <= 32


async def test_the_conversation_is_the_one_in_which_it_assessed() -> None:
    said = f"No Error ({MARK})\n\nFaulty ({MARK}): no\n{cue(MARK)} Excellent"
    model = ScriptedModel(said, " Excellent")
    annotator = Annotator(model=model)
    report = await annotator.assess(SEGMENT, ASPECT)
    rescoring = await annotator.rescore(SEGMENT, ASPECT, report.spans)
    assessed, rescored = model.requests
    assert assessed.messages == rescored.messages
    assert report.reply.startswith(rescored.prefix)
    assert rescoring.report.score == report.score


@pytest.mark.parametrize(
    "text",
    ["\n\nError 2:\nLocation: ", " Well, it is Good", " Poor | Fair | Good", "", " 9\nAnd so"],
)
async def test_a_reply_that_continues_differently_is_requested_once_more(text: str) -> None:
    wrong = Reply(text=text, finish=Finish.LENGTH, usage=SPENT)
    rescoring, model = await rescore(wrong, wrong)
    report = rescoring.report
    assert (report.outcome, report.score) == (Outcome.UNPARSEABLE, None)
    assert report.reason
    assert (report.spans, report.usage.calls) == (SPANS, 2)
    first, second = model.requests
    *_, said, asked = second.messages
    assert (said.role, said.content) == ("assistant", LISTED + text)
    assert "Unacceptable, Poor, Fair, Good, Excellent" in asked.content
    assert (second.prefix, second.decoding) == (first.prefix, first.decoding)


async def test_a_second_try_that_goes_on_with_a_score_counts() -> None:
    rescoring, _ = await rescore("\nError 2:", " Good")
    assert (rescoring.report.score, rescoring.method) == (4, RescoringMethod.CONTINUED)


async def test_a_score_after_another_error_is_not_taken_for_the_score_of_the_list() -> None:
    wrong = '\nError 2:\nLocation: "x"\nSeverity: 1\n\nOverall score: Poor\n'
    rescoring, _ = await rescore(wrong, wrong)
    assert rescoring.report.outcome is Outcome.UNPARSEABLE


async def test_a_refusal_is_final() -> None:
    rescoring, model = await rescore(Reply(text=" Good", finish=Finish.REFUSAL))
    assert (rescoring.report.outcome, rescoring.report.score) == (Outcome.REFUSED, None)
    assert len(model.requests) == 1


async def test_a_model_that_cannot_continue_is_asked_in_a_new_turn() -> None:
    rescoring, model = await rescore(CANNOT, "Overall score: Fair")
    assert (rescoring.report.score, rescoring.method) == (3, RescoringMethod.RESTATED)
    continued, restated = model.requests
    assert not restated.prefix
    *before, listed, asked = restated.messages
    assert tuple(before) == continued.messages
    assert (listed.role, asked.role) == ("assistant", "user")
    assert f"{listed.content}\n{cue(MARK)}" == continued.prefix == LISTED
    assert "consistency of the Summary" in asked.content


async def test_a_new_turn_can_be_asked_for_and_an_answer_without_a_score_is_asked_again() -> None:
    rescoring, model = await rescore("Hm.", "No idea.", rescoring="restate")
    assert (rescoring.report.outcome, rescoring.method) == (
        Outcome.UNPARSEABLE,
        RescoringMethod.RESTATED,
    )
    assert not any(request.prefix for request in model.requests)
    said, asked = model.requests[1].messages[-2:]
    assert said.content == "Hm."
    assert "Which overall score follows" in asked.content


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (CANNOT, {"rescoring": "continue"}),
        (ModelRefusedError("policy"), {}),
        (ModelTimeoutError("slow"), {}),
    ],
)
async def test_other_failures_are_the_callers_to_judge(
    error: Exception, options: dict[str, object]
) -> None:
    with pytest.raises(type(error)):
        await rescore(error, **options)  # type: ignore[arg-type]  # set by the case


async def test_the_severities_are_recited_as_they_were_asked_for() -> None:
    _, model = await rescore(" 2", severity="verbal", score="numeric")
    assert f"\nSeverity ({MARK}): Major\n" in model.requests[0].prefix


async def test_a_grammar_allows_the_score_alone() -> None:
    scores = '("Unacceptable" | "Poor" | "Fair" | "Good" | "Excellent")'
    _, model = await rescore(CANNOT, "Good", form="grammar", seed=3, temperature=0.5)
    continued, restated = model.requests
    assert continued.decoding.grammar == f'root ::= " " {scores}'
    assert restated.decoding.grammar == f"root ::= {scores}"
    drawn = Decoding(temperature=0.5, seed=3, max_tokens=1024, logprobs=5)
    assert replace(restated.decoding, grammar="") == drawn


@pytest.mark.parametrize(
    ("verdict", "spans", "word"), [("before", SPANS, "yes"), ("after", (), "no")]
)
async def test_the_verdict_follows_from_the_list(
    verdict: str, spans: tuple[ErrorSpan, ...], word: str
) -> None:
    _, model = await rescore(" Poor", spans=spans, verdict=verdict)
    prefix = model.requests[0].prefix
    assert prefix.startswith("Faulty") is (verdict == "before")
    assert prefix.replace(f"Faulty ({MARK}): {word}\n", "").lstrip() == render_errors(
        spans, mark=MARK
    )


async def test_the_first_prompt_has_no_verdict_and_asks_for_no_log_probabilities() -> None:
    _, model = await rescore(" Poor", prompt=1)
    assert model.requests[0].prefix == render_errors(SPANS, mark=MARK)
    assert model.requests[0].decoding == Decoding(max_tokens=32)


async def test_the_expected_score_moves_where_the_label_does_not() -> None:
    top = {" Poor": math.log(0.6), " F": math.log(0.3), " Error": math.log(0.1)}
    tokens = (
        TokenLogprob(token=" Poor", logprob=math.log(0.6), top=top),
        TokenLogprob(token="\n", logprob=0.0, top={"\n": 0.0}),
    )
    rescoring, model = await rescore(Reply(text=" Poor\n", logprobs=tokens), alternatives=5)
    assert model.requests[0].decoding.logprobs == 5
    assert rescoring.report.score == 2
    assert rescoring.expected == pytest.approx((2 * 0.6 + 3 * 0.3) / 0.9)


async def test_tokens_that_may_begin_several_labels_tell_no_expected_score() -> None:
    scale = replace(ASPECT.scale, labels=("Very bad", "Very good"))
    top = {" Very": math.log(0.9), " V": math.log(0.1)}
    tokens = (TokenLogprob(token=" Very", logprob=math.log(0.9), top=top),)
    model = ScriptedModel(Reply(text=" Very bad", logprobs=tokens))
    annotator = Annotator(model=model, alternatives=2)
    rescoring = await annotator.rescore(SEGMENT, replace(ASPECT, scale=scale), SPANS)
    assert (rescoring.report.score, rescoring.expected) == (1, None)


def test_the_annotator_can_rescore_and_a_judge_without_spans_cannot() -> None:
    assert isinstance(Annotator(model=ScriptedModel()), Rescorable)
    assert not isinstance(GEval(model=ScriptedModel()), Rescorable)


def test_only_what_is_not_as_by_default_is_in_the_signature() -> None:
    plain = Annotator(model=ScriptedModel())
    assert "rescoring" not in plain.signature
    assert "|rescoring:restate" in replace(plain, rescoring="restate").signature
    assert "|alternatives:5" in replace(plain, alternatives=5).signature


@pytest.fixture(params=EACH_LANE)
def lane(request: pytest.FixtureRequest) -> Lane:
    chosen: Lane = request.param
    return chosen


async def rescored_over(lane: Lane, *answers: Answer) -> tuple[Rescoring, tuple[Received, ...]]:
    with LoopbackServer(*answers) as server:
        async with lane.open(lane.name, options=ModelOptions(base_url=server.base_url)) as model:
            rescoring = await Annotator(model=model).rescore(SEGMENT, ASPECT, SPANS)
        return rescoring, server.requests


@pytest.mark.asyncio_only
@pytest.mark.parametrize("repeated", [True, False])
async def test_the_server_is_asked_to_write_on_behind_the_list(
    lane: Lane, *, repeated: bool
) -> None:
    listed = render_errors(SPANS, mark=MARK).replace(
        cue(MARK), f"Faulty ({MARK}): yes\n{cue(MARK)}"
    )
    said = f"{listed} Poor" if repeated else " Poor"
    rescoring, (request,) = await rescored_over(lane, chat(said))
    *_, last = messages_of(request)
    assert last == {"role": "assistant", "content": listed}
    assert request.body["continue_final_message"] is True
    assert request.body["add_generation_prompt"] is False
    assert (rescoring.report.score, rescoring.method) == (2, RescoringMethod.CONTINUED)
    assert rescoring.report.reply == " Poor"


@pytest.mark.asyncio_only
async def test_a_server_that_goes_on_with_a_new_error_is_asked_again(
    lane: Lane,
) -> None:
    wrong = chat('\n\nError 2:\nLocation: "bridge"\nOverall score: Poor', finish="length")
    rescoring, requests = await rescored_over(lane, wrong)
    assert len(requests) == 2
    assert rescoring.report.outcome is Outcome.UNPARSEABLE
    assert "'Error 2:'" in rescoring.report.reason


@pytest.mark.asyncio_only
async def test_a_server_that_turns_the_prefix_down_is_asked_in_a_new_turn(lane: Lane) -> None:
    rescoring, (_, restated) = await rescored_over(lane, failure(400, "no prefill"), chat("Good"))
    assert (rescoring.report.score, rescoring.method) == (4, RescoringMethod.RESTATED)
    assert messages_of(restated)[-1]["role"] == "user"
    assert "continue_final_message" not in restated.body


@pytest.mark.heavy
@pytest.mark.asyncio_only
async def test_a_provider_that_cannot_continue_is_sent_the_new_turn_alone() -> None:
    rescoring, (request,) = await rescored_over(NO_PREFILL, chat("Fair"))
    assert (rescoring.report.score, rescoring.method) == (3, RescoringMethod.RESTATED)
    assert [message["role"] for message in messages_of(request)] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


def messages_of(request: Received) -> list[dict[str, object]]:
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return messages
