import hashlib
from dataclasses import replace
from itertools import product

import pytest
from fakes.judges import ASPECT, segment

from spanjury.judges.core import (
    Decoding,
    Finish,
    Located,
    ModelTimeoutError,
    Outcome,
    PermanentModelError,
    Reply,
    Report,
    ToolCall,
    UnusableModelError,
    Usage,
)
from spanjury.judges.core.keys import canonical
from spanjury.judges.llm.annotator import Annotator
from spanjury.testing import ScriptedModel

READABLE = """Error 1:
Location: "in 1935"
Explanation: The article says 1932.
Severity: 4

Overall score: Poor
Explanation of the score: The only fact is wrong.
"""
SPENT = Usage(calls=1, prompt=100, completion=20)


async def assess(
    *replies: Reply | str | Exception, **options: object
) -> tuple[Report, ScriptedModel]:
    model = ScriptedModel(*replies)
    annotator = Annotator(model=model, **options)  # type: ignore[arg-type]  # set by each test
    return await annotator.assess(segment(), ASPECT), model


async def test_a_readable_reply_becomes_a_report_with_located_spans() -> None:
    report, model = await assess(Reply(text=READABLE, usage=SPENT))
    (span,) = report.spans
    assert (report.outcome, report.score) == (Outcome.SCORED, 2)
    assert (span.start, span.end, span.text) == (18, 25, "in 1935")
    assert (span.severity, span.located) == (4, Located.EXACT)
    assert report.rationale == "The only fact is wrong."
    assert report.usage == SPENT
    assert len(model.requests) == 1


@pytest.mark.parametrize("location", ['""', "None (only one error)", "N/A"])
async def test_a_placeholder_is_no_error(location: str) -> None:
    errors, score = READABLE.split("\n\n")
    empty = f"Error 2:\nLocation: {location}\nExplanation: None.\nSeverity: 1"
    report, _ = await assess(f"{errors}\n\n{empty}\n\n{score}")
    assert [span.text for span in report.spans] == ["in 1935"]


async def test_an_unreadable_reply_is_asked_for_once_more_with_what_was_wrong() -> None:
    report, model = await assess(
        Reply(text="I like it.", usage=SPENT), Reply(text=READABLE, usage=SPENT)
    )
    assert report.score == 2
    assert report.usage.calls == 2
    *_, said, asked = model.requests[1].messages
    assert (said.role, said.content) == ("assistant", "I like it.")
    assert asked.role == "user"


async def test_an_unreadable_reply_is_no_score_and_is_kept() -> None:
    report, model = await assess("I like it.", "I really do.")
    assert (report.outcome, report.score) == (Outcome.UNPARSEABLE, None)
    assert report.reply == "I really do."
    assert report.reason
    assert len(model.requests) == 2


async def test_a_reply_without_a_score_says_what_it_is_instead() -> None:
    two = [f'{{"overall_score": "{label}", "errors": []}}' for label in ("Poor", "Good")]
    for text, outcome, reason in (
        ("", Outcome.UNPARSEABLE, "the reply is empty"),
        ("I'm sorry, but I can't help with that.", Outcome.REFUSED, "the model declined to answer"),
        ("\n".join(two), Outcome.UNPARSEABLE, "there is no line with the overall score"),
    ):
        report, _ = await assess(text, text)
        assert (report.outcome, report.reason) == (outcome, reason)


async def test_after_an_empty_reply_the_same_is_asked_once_more_and_sampled() -> None:
    report, model = await assess("\n", READABLE)
    first, second = model.requests
    assert (report.score, second.messages) == (2, first.messages), "servers refuse an empty turn"
    assert second.decoding.temperature > first.decoding.temperature


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(text=""), "the reply is empty"),
        (Reply(text="", reasoning=READABLE), "the reply is empty: the server hands over all of"),
        (
            Reply(
                text="",
                finish=Finish.TOOL_CALLS,
                tool_calls=(ToolCall(call_id="c1", name="json", arguments="{}"),),
            ),
            "the reply calls a tool, 'json'",
        ),
    ],
)
async def test_the_reason_says_what_stands_in_place_of_an_answer(reply: Reply, reason: str) -> None:
    report, _ = await assess(reply, reply)
    assert report.outcome is Outcome.UNPARSEABLE
    assert report.reason.startswith(reason)


async def test_a_reply_that_broke_off_gets_twice_the_room_once() -> None:
    cut = Reply(text='Error 1:\nLocation: "in 1935"\nExpl', finish=Finish.LENGTH)
    report, model = await assess(cut, cut, max_tokens=100)
    assert report.outcome is Outcome.TRUNCATED
    assert [request.decoding.max_tokens for request in model.requests] == [100, 200]
    assert model.requests[0].messages == model.requests[1].messages


async def test_a_reply_that_broke_off_stands_if_the_server_has_no_more_room() -> None:
    spent = Usage(calls=1, prompt=852, completion=1024)
    cut = Reply(text='Error 1:\nLocation: "in 1935"\nExpl', finish=Finish.LENGTH, usage=spent)
    report, _ = await assess(cut, PermanentModelError("maximum context length is 2048 tokens"))
    assert (report.outcome, report.usage) == (Outcome.TRUNCATED, spent)
    assert report.reason == "the reply broke off before the score"
    with pytest.raises(UnusableModelError):
        await assess(cut, UnusableModelError("the key was revoked"))


@pytest.mark.parametrize(
    "cut",
    [
        Reply(text="", reasoning="Hm.", finish=Finish.LENGTH),
        Reply(text="<think>Hm, the bridge", finish=Finish.LENGTH),
        Reply(text="", usage=Usage(calls=1, completion=1024, reasoning=1024), finish=Finish.LENGTH),
    ],
)
async def test_a_model_that_thinks_gets_room_for_three_thousand_tokens_of_thought(
    cut: Reply,
) -> None:
    thought = Reply(text=f"<think>Severity: 5\n\nOverall score: Good</think>\n{READABLE}")
    report, model = await assess(cut, thought)
    assert (report.outcome, report.score, len(report.spans)) == (Outcome.SCORED, 2, 1)
    first, second = (request.decoding.max_tokens for request in model.requests)
    assert second - first > 3_000
    report, _ = await assess(cut, cut)
    used_up, broke_off = "used up its tokens on reasoning", "broke off before the score"
    assert (broke_off if cut.text else used_up) in report.reason


async def test_a_reply_that_broke_off_after_its_score_is_scored() -> None:
    cut = Reply(text=READABLE[:-10], finish=Finish.LENGTH)
    report, model = await assess(cut)
    assert report.score == 2
    assert len(model.requests) == 1


async def test_a_refusal_is_not_asked_again() -> None:
    report, model = await assess(Reply(text="I cannot help.", finish=Finish.REFUSAL))
    assert report.outcome is Outcome.REFUSED
    assert len(model.requests) == 1


async def test_a_refusal_that_imitates_a_score_is_still_a_refusal() -> None:
    report, _ = await assess(Reply(text=READABLE, finish=Finish.REFUSAL))
    assert (report.outcome, report.score) == (Outcome.REFUSED, None)


async def test_a_model_that_fails_is_the_callers_to_judge() -> None:
    with pytest.raises(ModelTimeoutError):
        await assess(ModelTimeoutError("slow"))


async def test_a_quote_that_is_not_in_the_text_is_kept_without_a_place() -> None:
    report, _ = await assess(READABLE.replace("in 1935", "purple elephants everywhere"))
    (span,) = report.spans
    assert span.hallucinated
    assert span.text == "purple elephants everywhere"


async def test_a_place_that_is_only_described_is_not_taken_for_a_made_up_quote() -> None:
    report, _ = await assess(READABLE.replace('"in 1935"', "the whole of the summary"))
    (span,) = report.spans
    assert (span.text, span.hallucinated) == ("", False)
    assert span.explanation == "(the whole of the summary) The article says 1932."


async def test_a_verdict_of_an_error_that_is_not_listed_leaves_the_text_unverified() -> None:
    text = segment().output
    for verdict, unverified in (("yes", [(text, 0.5)]), ("no", [])):
        report, _ = await assess(f"No Error\n\nFaulty: {verdict}\nOverall score: Excellent")
        assert (report.score, report.spans) == (5, ())
        assert [(doubt.text, doubt.probability) for doubt in report.unverified] == unverified
    reply = "No Error\n\nFaulty: yes\nOverall score: Excellent"
    report, _ = await assess(reply, reply, reply, samples=3)
    assert (report.error_probability, report.unverified) == (0.875, ()), "the votes state it"


async def test_options_reach_the_wire() -> None:
    _, model = await assess(READABLE, temperature=0.5, seed=7, max_tokens=50, form="grammar")
    decoding = model.requests[0].decoding
    assert replace(decoding, grammar="") == Decoding(
        temperature=0.5, seed=7, max_tokens=50, logprobs=5
    )
    assert decoding.grammar.startswith("root ::=")


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_errors": 0},
        {"max_tokens": 0},
        {"temperature": -1},
        {"alternatives": -1},
        {"samples": 0},
        {"prompt": 3},
        {"verdict": "none"},
        {"reasoning": "much"},
        {"reasoning": 0},
    ],
)
def test_a_bad_option_is_refused_before_any_segment(wrong: dict[str, object]) -> None:
    names = "logprobs|max_|prompt|reasoning|samples|temperature"
    with pytest.raises(ValueError, match=names):
        Annotator(model=ScriptedModel(), **wrong)  # type: ignore[arg-type]  # it is wrong


def test_the_first_prompt_is_asked_word_for_word_as_before_there_was_a_second() -> None:
    digest = hashlib.sha256()
    options = product(
        ("verbal", "numeric"),
        ("numeric", "verbal"),
        (True, False),
        (True, False),
        ("auto", "schema", "grammar", "text"),
    )
    for score, severity, rules, evidence, form in options:
        annotator = Annotator(
            model=ScriptedModel(),
            score=score,  # type: ignore[arg-type]  # mypy widens what a product yields
            severity=severity,  # type: ignore[arg-type]
            rules=rules,
            evidence=evidence,
            form=form,  # type: ignore[arg-type]
            prompt=1,
        )
        asked = annotator._request(annotator._prompts.write(segment(), ASPECT), ASPECT)
        for request in (asked, *asked.variants):
            digest.update(canonical(request))
    assert digest.hexdigest()[:16] == "73e988839e024e96"
    assert "|prompt:5551d8dbc68c|" in Annotator(model=ScriptedModel(), prompt=1).signature


def test_the_signature_changes_with_each_option() -> None:
    plain = Annotator(model=ScriptedModel())
    changed = [
        replace(plain, **{name: value})  # type: ignore[arg-type]  # every option in turn
        for name, value in [
            ("score", "numeric"),
            ("severity", "verbal"),
            ("rules", False),
            ("max_errors", 3),
            ("temperature", 0.5),
            ("seed", 1),
            ("max_tokens", 10),
            ("form", "schema"),
            ("prompt", 1),
            ("verdict", "before"),
            ("samples", 5),
            ("expected", True),
            ("reasoning", "low"),
        ]
    ]
    assert len({judge.signature for judge in [plain, *changed]}) == len(changed) + 1
