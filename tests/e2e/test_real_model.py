"""The whole pipeline on a real model behind llama.cpp's real server.

SmolLM2 has 135 million parameters. What it says is worth nothing; that its nonsense ends
as outcomes and never as made-up scores is the point.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from fakes.command import spanjury
from pydantic import BaseModel, Field

from spanjury import PanelReport, acheck, find_aspect, open_panel, read_segments
from spanjury.adapters.models.embedded import open_embedded
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Decoding,
    Message,
    ModelOptions,
    Outcome,
    Reply,
    SeatReport,
    Segment,
    TextPair,
)
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.llm.answer_tokens import field_token
from spanjury.judges.llm.examples import Examples
from spanjury.judges.llm.typed_reply import ask_for
from spanjury.judges.tasks import Rubric
from spanjury.judges.text import field_mark
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.wiring.config import EMBEDDED, ModelConfig, PanelConfig
from spanjury.orchestration.wiring.models import open_generator
from spanjury.orchestration.wiring.pair_judges import open_pair_judge

pytestmark = [pytest.mark.asyncio_only, pytest.mark.e2e]

EXAMPLES = Path(__file__).parents[2] / "examples"
FLUENCY = find_aspect("summarization", "fluency")
BROKEN = "harbour-bridge/system-c"
"""A text in which `form` finds several errors, whatever the model finds."""
SEGMENT = next(s for s in read_segments(EXAMPLES / "summaries.jsonl") if s.segment_id == BROKEN)


async def assess(*judges: str, consolidate: str = "rules") -> PanelReport:
    panel = open_panel(judges=judges, models=[EMBEDDED], consolidate=consolidate, seed=1)
    async with panel as opened:
        return await opened.assess(SEGMENT, FLUENCY)


def holds_together(seat: SeatReport) -> None:
    """Check what must be true of a report whatever the model wrote."""
    report = seat.report
    assert (report.score is not None) is (report.outcome is Outcome.SCORED)
    assert report.score is None or report.score in FLUENCY.scale
    for span in report.spans:
        if span.interval is not None:
            assert SEGMENT.output[slice(*span.interval)] == span.text


async def test_held_to_a_grammar_its_reply_is_a_report_and_two_state_a_probability() -> None:
    report = await assess("annotator:max_tokens=400,max_errors=2,samples=2")
    (seat,) = report.seats
    holds_together(seat)
    assert seat.report.outcome is Outcome.SCORED, seat.report.reply
    assert report.score == seat.report.score
    assert seat.report.usage.completion > 0
    assert seat.report.usage.calls >= 2
    assert seat.report.error_probability in {0.5 / 3, 1.5 / 3, 2.5 / 3}
    assert report.error_probability == seat.report.error_probability
    assert re.search(r"Overall score \(\w{4}\): ", seat.report.reply)


async def test_held_to_a_schema_its_reply_is_a_report_too() -> None:
    report = await assess("annotator:form=auto,max_tokens=1024,max_errors=1", "geval:form=auto")
    for seat in report.seats:
        holds_together(seat)
        assert seat.report.outcome is Outcome.SCORED, seat.report.reply
        assert json.loads(seat.report.reply)


class Listening:
    """A model that keeps its last reply."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.reply = Reply(text="")

    @property
    def signature(self) -> str:
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        self.reply = await self.model.complete(request)
        return self.reply


async def test_its_verdict_is_a_token_of_its_own_with_log_probabilities() -> None:
    async with open_embedded("embedded", options=ModelOptions()) as model:
        asked = Listening(model)
        judge = Annotator(model=asked, form="grammar", max_errors=1, max_tokens=300)
        report = await judge.assess(SEGMENT, FLUENCY)
    logprobs, text = asked.reply.logprobs, SEGMENT.output
    token = field_token(logprobs, "faulty", mark=field_mark([text]))
    assert token is not None
    assert token.token.strip() in {"yes", "no"}
    assert len(token.top) == 5
    assert len(logprobs) < 60, "those near the verdict and the score are kept, not all"
    # It has no idea: what it would have said without the grammar is neither yes nor no.
    assert report.error_probability is None


async def test_unaided_it_is_asked_again_and_comes_to_an_outcome() -> None:
    report = await assess("annotator:form=text,max_tokens=60", "form")
    annotator, form = report.seats
    holds_together(annotator)
    assert annotator.report.outcome in {Outcome.UNPARSEABLE, Outcome.TRUNCATED}
    assert annotator.report.reason
    assert annotator.report.reply
    assert (annotator.report.usage.calls, report.score) == (2, form.report.score)


async def test_an_agent_consolidator_that_cannot_falls_back_and_says_so() -> None:
    judges = ["annotator:max_tokens=400,max_errors=2", "form"]
    report = await assess(*judges, consolidate="agent:max_tokens=200,retries=1")
    spans = [span for seat in report.seats for span in seat.report.spans]
    assert len(spans) > 1, "there is nothing to consolidate"
    assert report.consolidator == "agent" or report.consolidator.startswith("rules (agent: ")
    assert {name for span in report.spans for name in span.found_by} <= {
        seat.seat for seat in report.seats
    }
    assert report.spans


async def test_an_agent_that_judges_comes_to_an_outcome() -> None:
    report = await assess("searcher:max_tokens=80,retries=1")
    holds_together(report.seats[0])
    assert report.seats[0].report.usage.calls >= 1


def test_the_command_line_judges_with_it(tmp_path: Path) -> None:
    output = tmp_path / "results.jsonl"
    flags = ["--judge", "annotator:max_tokens=150,max_errors=1", "--judge", "form"]
    flags += ["--model", EMBEDDED, "--aspect", "fluency", "--limit", "2", "-o", str(output)]
    spanjury("evaluate", EXAMPLES / "summaries.jsonl", *flags)
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert len(rows) == 2
    for row in rows:
        asked, _ = row["seats"]
        assert asked["signature"].startswith("annotator|model:embedded|weights:SmolLM2")
        assert (asked["score"] is None) is (asked["outcome"] != "scored")


class Grade(BaseModel):
    """A grade of the text."""

    why: str = Field(max_length=80)
    label: Literal["good", "bad"]


async def test_it_compares_two_texts_in_both_orders() -> None:
    inputs = {"Article": "The bridge opened in 1932. It has two lanes."}
    a, b = (
        Segment(segment_id=name, output=output, inputs=inputs, task="summarization")
        for name, output in (("a", "A bridge opened in 1932."), ("b", "Bridge open. Lanes two."))
    )
    pair, config = TextPair(a=a, b=b), PanelConfig(models=(EMBEDDED,), seed=1)
    spec = "comparer:max_tokens=60"
    async with open_pair_judge(spec, config, memory=None, meter=Meter()) as seat:
        comparison = await seat.compare(pair, FLUENCY)
    assert len(comparison.orders) == 2
    for report in comparison.orders:
        assert report.outcome in {Outcome.SCORED, Outcome.TRUNCATED, Outcome.UNPARSEABLE}
        assert report.usage.calls in {1, 2}
        assert report.reply
    assert (comparison.preference is None) == (comparison.outcome is not Outcome.SCORED)
    for text, spans in ((pair.a, comparison.spans_a), (pair.b, comparison.spans_b)):
        located = [span for span in spans if span.interval]
        assert [text.output[slice(*span.interval or ())] for span in located] == [
            span.text for span in located
        ]


async def test_it_checks_claims_and_comes_to_an_outcome() -> None:
    consistency = find_aspect("summarization", "consistency")
    async with open_panel(judges=["claims:max_tokens=60"], models=[EMBEDDED], seed=1) as panel:
        (seat,) = (await panel.assess(SEGMENT, consistency)).seats
    holds_together(seat)
    assert seat.report.outcome in {Outcome.SCORED, Outcome.ABSTAINED, Outcome.TRUNCATED}
    assert seat.report.usage.calls > 0


async def test_it_replies_with_an_object_of_a_type_and_lists_steps_where_it_is_held_to_them() -> (
    None
):
    meter = Meter()
    question = Message(role="user", content=f"Grade this text: {SEGMENT.output}")
    async with open_generator(ModelConfig(name=EMBEDDED), memory=None, meter=meter) as model:
        typed = await ask_for(
            reply_type=Grade, model=model, messages=[question], decoding=Decoding(max_tokens=300)
        )
    assert typed.value is not None, typed.text
    assert typed.value.label in {"good", "bad"}
    report = await assess("geval:form=auto,steps=auto,max_tokens=900")
    assert report.seats[0].report.outcome is Outcome.SCORED


async def test_it_judges_by_a_rubric_and_the_result_follows_from_its_criteria() -> None:
    rubric = Rubric.of(
        {"criteria": [{"text": "It is short.", "must": True}, {"text": "It is kind.", "weight": 3}]}
    )
    async with open_panel(judges=["annotator:max_tokens=300"], models=[EMBEDDED], seed=1) as panel:
        report = await acheck(SEGMENT.output, rubric=rubric, task="summarization", panel=panel)
    *criteria, whole = report.results
    assert [result.aspect.name for result in report.results] == [*rubric.aspects]
    for result in criteria:
        (seat,) = result.report.seats
        holds_together(seat)
    scored = [result for result in criteria if result.report.score is not None]
    assert (whole.report.score is None) <= (len(scored) < len(criteria))
    assert whole.report.seats == ()


async def test_its_assessments_vote_and_it_is_shown_examples() -> None:
    marked = replace(SEGMENT, output="It is is short.", inputs={}, gold=(), meta={"spans": []})
    async with open_embedded(EMBEDDED, options=ModelOptions()) as model:
        judge = Annotator(
            model=model,
            form="grammar",
            max_tokens=300,
            samples=2,
            seed=1,
            examples=Examples([marked]),
        )
        report = await judge.assess(SEGMENT, FLUENCY)
    assert report.usage.calls >= 2
    if report.score is not None:
        assert "assessments find an error." in report.rationale
        assert all("assessments report it.)" in span.explanation for span in report.spans)
