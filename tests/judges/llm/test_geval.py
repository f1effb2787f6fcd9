from dataclasses import replace
from fractions import Fraction

import anyio
import pytest
from fakes.judges import ASPECT, segment
from fakes.memory import DictMemory
from loopback.answers import chat
from loopback.server import LoopbackServer

from spanjury.adapters.models.fast_model import open_fast
from spanjury.judges.core import (
    Finish,
    ModelOptions,
    ModelTimeoutError,
    Outcome,
    Reply,
    Report,
    Scale,
    TokenLogprob,
    Usage,
)
from spanjury.judges.llm.geval import GEval
from spanjury.orchestration.engine.memory import RememberedJudge, RememberedModel
from spanjury.testing import ScriptedModel

SPENT = Usage(calls=1, prompt=100, completion=1)
STEPS = "1. Read the Article.\n2. Compare the years."


def likely(text: str, **shares: float) -> Reply:
    """Return a reply of one token with the log-probabilities of its rivals."""
    top = {name.removeprefix("n"): share for name, share in shares.items()}
    token = TokenLogprob(token=text, logprob=-0.7, top=top)
    return Reply(text=text, logprobs=(token,), usage=SPENT)


async def assess(
    *replies: Reply | str | Exception, **options: object
) -> tuple[Report, ScriptedModel]:
    model = ScriptedModel(*replies)
    judge = GEval(model=model, **options)  # type: ignore[arg-type]  # set by each test
    return await judge.assess(segment(), ASPECT), model


async def test_a_number_is_the_score_and_no_spans_are_claimed_to_be_looked_for() -> None:
    report, model = await assess(Reply(text="4", usage=SPENT))
    assert (report.outcome, report.score, report.spans) == (Outcome.SCORED, 4, ())
    assert "no error spans were looked for" in report.rationale
    assert (report.reply, report.usage) == ("4", SPENT)
    assert model.requests[0].decoding.temperature == 0


async def test_repeats_are_drawn_with_seeds_of_their_own_and_averaged() -> None:
    report, model = await assess("4", "5", "4", repeats=3, seed=7)
    assert report.score == 13 / 3
    assert "13/3 (4, 5, 4)" in report.rationale
    assert report.reply == "4\n5\n4"
    drawn = [(asked.decoding.seed, asked.decoding.temperature) for asked in model.requests]
    assert drawn == [(7, 1.0), (8, 1.0), (9, 1.0)]


async def test_the_rationale_holds_the_sum_from_which_the_mean_is_exact() -> None:
    report, _ = await assess("1", "1", "2", repeats=3)
    result = next(word for word in report.rationale.split() if "/" in word)
    assert Fraction(result) == Fraction(4, 3)


async def test_without_a_seed_the_server_is_left_to_choose() -> None:
    _, model = await assess("4", "4", repeats=2, temperature=0.5)
    assert [request.decoding.seed for request in model.requests] == [None, None]
    assert {request.decoding.temperature for request in model.requests} == {0.5}


async def test_replies_that_would_be_alike_are_not_asked_for() -> None:
    report, model = await assess("4", repeats=5, temperature=0.0)
    assert len(model.requests) == 1
    assert report.score == 4
    assert "One reply in place of 5" in report.rationale


async def test_an_unreadable_reply_is_asked_for_once_more_with_what_was_wrong() -> None:
    report, model = await assess(Reply(text="7", usage=SPENT), Reply(text="4", usage=SPENT))
    assert (report.score, report.usage.calls) == (4, 2)
    *_, said, asked = model.requests[1].messages
    assert (said.role, said.content) == ("assistant", "7")
    assert "not on the scale" in asked.content
    assert "1, 2, 3, 4, 5" in asked.content


async def test_an_unreadable_reply_is_reported_with_its_text_and_usage() -> None:
    report, _ = await assess(*(Reply(text=f"I like it {n}.", usage=SPENT) for n in "ab"))
    assert (report.outcome, report.score) == (Outcome.UNPARSEABLE, None)
    assert "neither a label nor a number" in report.reason
    assert (report.reply, report.usage) == ("I like it b.", SPENT + SPENT)


async def test_one_unreadable_repeat_costs_the_score_and_is_counted() -> None:
    said = (Reply(text=text, usage=SPENT) for text in ("4", "Hm.", "Hm."))
    report, _ = await assess(*said, repeats=3)
    assert (report.outcome, report.usage.calls) == (Outcome.UNPARSEABLE, 3)


async def test_a_reply_that_broke_off_gets_twice_the_room_once() -> None:
    cut = Reply(text="Let me think", finish=Finish.LENGTH, usage=SPENT)
    report, model = await assess(cut, cut, max_tokens=10)
    assert (report.outcome, report.score) == (Outcome.TRUNCATED, None)
    assert report.usage.calls == 2
    assert [request.decoding.max_tokens for request in model.requests] == [10, 20]


async def test_a_refusal_is_not_asked_again_and_ends_the_repeats() -> None:
    refusal = Reply(text="4? I will not say.", finish=Finish.REFUSAL, usage=SPENT)
    report, model = await assess(Reply(text="4", usage=SPENT), refusal, repeats=3)
    assert (report.outcome, report.score, report.usage.calls) == (Outcome.REFUSED, None, 2)
    assert len(model.requests) == 2


async def test_a_model_that_fails_is_the_callers_to_judge() -> None:
    with pytest.raises(ModelTimeoutError):
        await assess(ModelTimeoutError("slow"))


async def test_log_probabilities_take_the_place_of_repeats() -> None:
    report, model = await assess(likely("4", n4=-0.7, n5=-0.7), logprobs=True, repeats=5)
    assert report.score == pytest.approx(4.5)
    assert "Expected score, with 99% of the probability on the scale" in report.rationale
    assert "no error spans were looked for" in report.rationale
    (request,) = model.requests
    assert (request.decoding.logprobs, request.decoding.temperature) == (20, 0)


async def test_without_log_probabilities_the_repeats_are_drawn_and_the_report_says_so() -> None:
    report, model = await assess("5", "4", "3", logprobs=True, repeats=2, seed=1)
    assert report.score == 3.5
    assert report.rationale.startswith("No expected score: no log-probabilities came")
    assert [request.decoding.logprobs for request in model.requests] == [20, 0, 0]
    assert [request.decoding.seed for request in model.requests] == [1, 1, 2]


async def test_a_reply_at_temperature_0_is_not_asked_for_again_without_log_probabilities() -> None:
    unsure = Reply(text="4", logprobs=likely("4", n4=-3.0).logprobs, usage=SPENT)
    report, model = await assess(
        replace(unsure, logprobs=(replace(unsure.logprobs[0], logprob=-3.0),)), logprobs=True
    )
    assert (report.score, len(model.requests)) == (4, 1)
    assert "only 5% of the probability" in report.rationale


async def test_log_probabilities_of_an_unreadable_reply_are_no_score() -> None:
    report, _ = await assess("Hm.", "Hm.", logprobs=True)
    assert (report.outcome, report.score) == (Outcome.UNPARSEABLE, None)


async def test_a_grammar_offers_the_numbers_of_the_scale() -> None:
    _, model = await assess("4", form="grammar")
    assert model.requests[0].decoding.grammar == 'root ::= "1" | "2" | "3" | "4" | "5"'


async def test_a_scale_of_numbers_is_asked_for_in_its_own() -> None:
    model = ScriptedModel("2")
    aspect = replace(ASPECT, scale=Scale(labels=("0", "1", "2")))
    report = await GEval(model=model).assess(segment(), aspect)
    assert report.score == 3
    assert "Which of the numbers 0, 1, 2 is due" in model.requests[0].messages[-1].content


async def test_the_model_writes_its_steps_once_for_each_aspect() -> None:
    model = ScriptedModel(Reply(text=STEPS, usage=SPENT), "4", "3", f"{STEPS} Again.", "2")
    judge = GEval(model=model, steps="auto", repeats=1)
    first = await judge.assess(segment("a"), ASPECT)
    await judge.assess(segment("b"), ASPECT)
    await judge.assess(segment("b"), replace(ASPECT, definition="Names agree."))
    asked = [request.messages[-1].content for request in model.requests]
    assert [STEPS in text for text in asked] == [False, True, True, False, True]
    assert "Again." in asked[4]
    assert segment().output not in asked[0]
    assert first.usage == SPENT


async def test_steps_wanted_by_many_at_once_are_written_once() -> None:
    model = ScriptedModel(STEPS, "4", repeat_last=True)
    judge = GEval(model=model, steps="auto")
    async with anyio.create_task_group() as group:
        for name in "abcd":
            group.start_soon(judge.assess, segment(name), ASPECT)
    assert len(model.requests) == 5


async def test_steps_that_failed_are_asked_for_by_the_next() -> None:
    model = ScriptedModel(ModelTimeoutError("slow"), STEPS, "4")
    judge = GEval(model=model, steps="auto")
    with pytest.raises(ModelTimeoutError):
        await judge.assess(segment(), ASPECT)
    assert (await judge.assess(segment(), ASPECT)).score == 4


@pytest.mark.parametrize(
    ("replies", "outcome", "reason"),
    [
        ((" ", "<think>Hm."), Outcome.UNPARSEABLE, "there are no steps in it"),
        (
            (Reply(text="1. Re", finish=Finish.LENGTH),) * 2,
            Outcome.TRUNCATED,
            "the steps broke off",
        ),
        ((Reply(text="No.", finish=Finish.REFUSAL),), Outcome.REFUSED, "the model declined"),
    ],
)
async def test_without_steps_there_is_no_score(
    replies: tuple[Reply | str, ...], outcome: Outcome, reason: str
) -> None:
    report, _ = await assess(*replies, steps="auto")
    assert (report.outcome, report.score) == (outcome, None)
    assert report.reason.startswith(f"no evaluation steps: {reason}")


async def test_steps_that_were_paid_for_in_vain_are_counted() -> None:
    empty = Reply(text=" ", usage=SPENT)
    report, _ = await assess(empty, empty, steps="auto")
    assert report.usage == SPENT + SPENT
    said = (Reply(text=text, usage=SPENT) for text in (STEPS, "Hm.", "Hm."))
    report, _ = await assess(*said, steps="auto")
    assert report.usage.calls == 3


async def test_a_resumed_run_gets_the_same_steps_back() -> None:
    memory = DictMemory()
    model = ScriptedModel(STEPS, "4", "3")
    for name in "ab":  # the second judge begins with nothing but the memory
        judge = GEval(model=RememberedModel(model, memory), steps="auto")
        await RememberedJudge(judge, memory).assess(segment(name, f"Text {name}."), ASPECT)
    assert [STEPS in asked.messages[-1].content for asked in model.requests] == [False, True, True]


@pytest.mark.parametrize(
    "options",
    [
        {"steps": "auto"},
        {"repeats": 2},
        {"temperature": 0.3},
        {"seed": 1},
        {"max_tokens": 9},
        {"alternatives": 5},
        {"logprobs": False},
        {"form": "schema"},
    ],
)
def test_every_option_is_in_the_signature(options: dict[str, object]) -> None:
    model = ScriptedModel()
    changed = GEval(model=model, **{"logprobs": True, **options})  # type: ignore[arg-type]  # as above
    assert changed.signature != GEval(model=model, logprobs=True).signature
    assert model.signature in changed.signature


@pytest.mark.parametrize(
    "wrong", [{"repeats": 0}, {"alternatives": 0}, {"temperature": -1.0}, {"max_tokens": 0}]
)
def test_an_impossible_option_is_refused_at_once(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        GEval(model=ScriptedModel(), **wrong)  # type: ignore[arg-type]  # as above


@pytest.mark.asyncio_only
async def test_log_probabilities_of_a_real_server_become_an_expected_score() -> None:
    rivals = [{"token": "5", "logprob": -0.2877}, {"token": "3", "logprob": -1.3863}]
    token = {"token": "5", "logprob": -0.2877, "top_logprobs": rivals}
    with LoopbackServer(chat("5", logprobs={"content": [token]})) as server:
        options = ModelOptions(base_url=server.base_url)
        async with open_fast("openai-compatible/loop", options=options) as model:
            report = await GEval(model=model, logprobs=True).assess(segment(), ASPECT)
        assert server.requests[0].body["top_logprobs"] == 20
    assert report.score == pytest.approx(0.75 * 5 + 0.25 * 3, abs=1e-3)
