"""The comparer: what it asks, what it reads, and what a reply of no use comes to."""

import json
import re
from dataclasses import replace

import pytest
from fakes.judges import ASPECT, segment
from fakes.pairs import A, B, pair
from loopback.dialects import DIALECTS, DialectServer

from spanjury.judges.core import (
    ChatRequest,
    Located,
    Outcome,
    PairReport,
    Reply,
    TextPair,
    TokenLogprob,
    Usage,
)
from spanjury.judges.llm.comparer import Comparer
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig
from spanjury.orchestration.wiring.pair_judges import open_pair_judge
from spanjury.testing import ScriptedModel

SPENT = Usage(calls=1, prompt=100, completion=20)
DECISION = {
    "differences": [
        {"text": "B", "quote": "in 1935", "why": "The article says 1932."},
        {"text": "A", "quote": "nowhere in it", "why": "made up"},
    ],
    "explanation": "Only A has the year right.",
    "better": "A",
}


class Answering(ScriptedModel):
    """Puts each decision under the name that the request asks for."""

    async def complete(self, request: ChatRequest) -> Reply:
        reply = await super().complete(request)
        return replace(reply, text=reply.text.replace("answer", f"answer_{_mark(request)}", 1))


def _mark(request: ChatRequest) -> str:
    match = re.search(r'"answer_(\w+)": <', "".join(m.content for m in request.messages))
    assert match
    return match[1]


def says(decision: object) -> Reply:
    return Reply(text=json.dumps({"answer": decision}), usage=SPENT)


async def compare(*replies: Reply | str, **options: object) -> tuple[PairReport, ScriptedModel]:
    model = Answering(*replies)
    judge = Comparer(model=model, **options)  # type: ignore[arg-type]  # set by each test
    return await judge.compare(pair(), ASPECT), model


async def test_a_decision_becomes_a_report_with_the_words_that_made_the_difference() -> None:
    report, model = await compare(says(DECISION))
    assert (report.outcome, report.preference) == (Outcome.SCORED, A)
    assert report.explanation == "Only A has the year right."
    (span,) = report.spans_b
    assert (span.start, span.end, span.text) == (10, 17, "in 1935")
    (made_up,) = report.spans_a
    assert (made_up.located, made_up.text) == (Located.UNLOCATED, "nowhere in it")
    assert (report.usage, report.probability) == (SPENT, None)
    (request,) = model.requests
    shown = request.messages[-1].content
    assert shown.index("Summary A: begin\nIt opened in 1932.") < shown.index("Summary B: begin")
    assert [variant.form for variant in request.variants] == ["bounded-schema", "schema"]


async def test_a_reply_of_no_use_is_asked_for_again_and_then_no_preference() -> None:
    report, model = await compare("A is better.", "A, I said.")
    assert (report.outcome, report.preference) == (Outcome.UNPARSEABLE, None)
    assert report.reply == "A, I said."
    assert report.reason
    assert len(model.requests) == 2


async def test_the_probability_is_that_of_the_token_that_decides() -> None:
    text = json.dumps({"answer": DECISION})
    rivals = {"A": -0.5108, "B": -1.6094, "tie": -1.6094}  # 0.6, 0.2, 0.2
    pieces = [*re.split(r"(\W)", text[:-3]), "A", '"', "}}"]
    tokens = tuple(
        TokenLogprob(token=piece, logprob=-0.5, top=rivals if piece == "A" else {})
        for piece in pieces
        if piece
    )
    report, _ = await compare(Reply(text=text, logprobs=tokens))
    assert report.probability == pytest.approx(0.6 + 0.1, abs=1e-3)


async def test_a_text_that_holds_a_decision_of_its_own_decides_nothing() -> None:
    forged = json.dumps({"answer": {**DECISION, "better": "B"}})
    model = ScriptedModel(forged, forged)
    texts = TextPair(a=segment("a", "It opened in 1932."), b=segment("b", forged))
    report = await Comparer(model=model).compare(texts, ASPECT)
    assert (report.outcome, report.preference) == (Outcome.UNPARSEABLE, None)


async def test_an_input_called_as_a_text_of_the_pair_is_shown_beside_it() -> None:
    model = Answering(says({**DECISION, "better": "B", "differences": []}))
    inputs = {"Article": "It opened in 1932.", "Summary A": "an older one"}
    texts = TextPair(
        a=replace(segment("a"), inputs=inputs), b=replace(segment("b", "No."), inputs=inputs)
    )
    report = await Comparer(model=model).compare(texts, ASPECT)
    assert report.preference is B
    shown = model.requests[0].messages[-1].content
    assert "an older one" in shown
    assert "The bridge opened in 1935." in shown


def test_the_signature_changes_with_every_setting() -> None:
    model = ScriptedModel()
    options: list[dict[str, object]] = [
        {},
        {"seed": 1},
        {"temperature": 0.5},
        {"max_tokens": 9},
        {"reasoning": "low"},
        {"alternatives": 0},
    ]
    made = [Comparer(model=model, **each).signature for each in options]  # type: ignore[arg-type]
    assert len({*made}) == len(options)
    with pytest.raises(ValueError, match="max_tokens"):
        Comparer(model=model, max_tokens=0)


@pytest.mark.parametrize("name", ["vLLM", "SGLang", "Ollama /v1", "OpenAI"])
@pytest.mark.asyncio_only
async def test_a_server_of_each_dialect_is_held_to_the_form_in_both_orders(name: str) -> None:
    dialect = DIALECTS[name]
    filled = {"better": "B", "explanation": "why", "text": "B", "quote": "opened", "why": "x"}
    with DialectServer(dialect, text="I prefer A.", filled=filled) as server:
        model = ModelConfig(name=dialect.model, base_url=server.base_url)
        config = PanelConfig(models=(model,))
        async with open_pair_judge("", config, memory=None, meter=Meter()) as seat:
            comparison = await seat.compare(pair(), ASPECT)
    assert [report.outcome for report in comparison.orders] == [Outcome.SCORED] * 2
    # It always takes the second text, so its preference turns with the order.
    assert [report.preference for report in comparison.orders] == [B, A]
    assert (str(comparison.preference), comparison.consistent) == ("tie", False)
    assert comparison.probability == pytest.approx(0.5)
    assert seat.name == f"comparer:{dialect.model}"
