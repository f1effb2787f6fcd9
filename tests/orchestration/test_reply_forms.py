"""A reply is held to its form on every server, and what a server refuses is not asked twice."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
import pytest
from fakes.judges import ASPECT, segment
from fakes.logs import capture_logs
from fakes.memory import DictMemory
from loopback.answers import Answer, chat, failure
from loopback.dialects import DIALECTS, P_YES, Dialect, DialectServer
from loopback.server import LoopbackServer, Received

from spanjury.adapters.models.circuit import ALIKE, Guard
from spanjury.judges.core import Memory, Outcome, Report
from spanjury.orchestration.services.judging.panels import panel_config
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.panels import open_configured_panel

pytestmark = pytest.mark.asyncio_only

SAID = {"location": "in 1935", "explanation": "It was 1932.", "overall_score": "Poor"}
IN_LINES = """Error 1:
Location: "in 1935"
Explanation: It was 1932.
Severity: 4

Overall score: Poor
"""
REFUSED = failure(400, "This model does not support response_format json_schema")


async def assessed(
    judge: str,
    model: str,
    *,
    server: LoopbackServer,
    texts: Sequence[str] = ("The bridge opened in 1935.",),
    memory: Memory | None = None,
    base_url: str | None = None,
) -> list[Report]:
    config = ModelConfig(name=model, base_url=base_url or server.base_url, attempts=1)
    panel = panel_config(judges=[judge], models=[config])
    async with open_configured_panel(panel, memory=memory) as opened:
        seats = [(await opened.assess(segment(output=text), ASPECT)).seats for text in texts]
    return [seat.report for (seat,) in seats]


def forms(server: LoopbackServer) -> list[str]:
    """Return by which field each request asked for a form."""
    fields = ("response_format", "structured_outputs", "grammar")
    return [
        next((name for name in fields if name in request.body), "") for request in server.requests
    ]


@pytest.mark.parametrize("name", DIALECTS)
async def test_twenty_texts_are_scored_by_a_schema_on_every_server(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{provider}_API_KEY", "key-of-the-test-0123456789")
    dialect = DIALECTS[name]
    texts = [f"The bridge opened in 1935, says source {number}." for number in range(20)]
    with DialectServer(dialect, text="I like it.", filled=SAID) as server:
        reports = await assessed("annotator", dialect.model, server=server, texts=texts)
        schemas = [dialect.schema(request.body) for request in server.requests]
    assert {report.outcome for report in reports} == {Outcome.SCORED}, reports[0].reason
    for text, report in zip(texts, reports, strict=True):
        (span,) = report.spans
        assert text[slice(*span.interval or ())] == span.text == "in 1935"
        assert (report.score, span.severity, span.explanation) == (2, 5, "It was 1932.")
        likely = P_YES if dialect.gives_logprobs else None
        assert report.error_probability == (likely and pytest.approx(likely))
    refused = len(schemas) - len(texts)
    assert refused == (name == "OpenAI"), "at an address of one's own it is asked with bounds first"
    assert all(schema is not None for schema in schemas)


@pytest.mark.parametrize("name", DIALECTS)
async def test_claims_are_checked_by_a_schema_on_every_server(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{provider}_API_KEY", "key-of-the-test-0123456789")
    dialect = DIALECTS[name]
    checked = {"claim": "1", "evidence": "in 1932", "words": "1935", "verdict": "contradicted"}
    with DialectServer(dialect, text="I like it.", filled=checked) as server:
        (report,) = await assessed("claims", dialect.model, server=server)
    (span,) = report.spans
    assert (report.score, span.text, span.evidence[0].text) == (1, "1935", "in 1932")
    assert report.error_probability == (1.0 if dialect.gives_logprobs else None)


async def test_openai_itself_is_sent_no_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-test-0123456789")
    with DialectServer(DIALECTS["OpenAI"], text="I like it.", filled=SAID) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        config = ModelConfig(name="openai/gpt-4o", attempts=1)
        async with open_configured_panel(
            panel_config(judges=["annotator"], models=[config])
        ) as panel:
            report = await panel.assess(segment(), ASPECT)
    assert report.score == 2
    sent = server.requests[0].body["response_format"]
    assert isinstance(sent, Mapping)
    assert sent["json_schema"]["strict"] is True
    assert "max" not in json.dumps(sent)


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_a_refused_schema_is_asked_for_once_and_the_next_form_answers(status: int) -> None:
    refused = failure(status, "response_format: extra inputs are not permitted")
    answers = (refused, refused, failure(400, "no grammar"), chat(IN_LINES))
    with LoopbackServer(*answers) as server:
        reports = await assessed(
            "annotator", "openai/m", server=server, texts=["It opened in 1935.", "It is in 1935."]
        )
    assert [report.score for report in reports] == [2, 2]
    assert forms(server) == ["response_format", "response_format", "grammar", "", ""]


async def test_a_form_that_a_run_came_to_is_remembered_with_it() -> None:
    memory = DictMemory()
    with LoopbackServer(REFUSED, REFUSED, REFUSED, chat(IN_LINES)) as server:
        await assessed("annotator", "openai/m", server=server, memory=memory)
        await assessed("annotator", "openai/m", server=server, memory=memory, texts=["In 1935."])
    assert forms(server) == ["response_format", "response_format", "grammar", "", ""]


async def test_a_run_that_was_begun_in_words_goes_on_in_words_and_pays_nothing_twice() -> None:
    memory = DictMemory()
    with LoopbackServer(chat(IN_LINES)) as server:
        for judge in ("annotator:form=text", "annotator"):
            await assessed(judge, "openai/m", server=server, memory=memory)
        await assessed("annotator", "openai/m", server=server, memory=memory, texts=["In 1935."])
    assert forms(server) == ["", ""]


async def test_a_server_that_has_taken_a_schema_before_and_refuses_now_is_asked_otherwise() -> None:
    memory = DictMemory()
    with DialectServer(DIALECTS["SGLang"], text="", filled=SAID) as server:
        await assessed("annotator", "openai/m", server=server, memory=memory)
    with LoopbackServer(REFUSED, REFUSED, REFUSED, chat(IN_LINES)) as other:
        (report,) = await assessed(
            "annotator", "openai/m", server=other, memory=memory, texts=["It was in 1935."]
        )
    assert report.score == 2


async def test_refusals_of_a_form_do_not_stop_a_run_of_many_calls_at_once() -> None:
    words = Dialect(
        model="openai/m",
        schema=lambda _: None,
        refused={"response_format": REFUSED, "grammar": REFUSED},
    )
    many = 2 * ALIKE
    config = ModelConfig(name="openai/m", max_connections=many, attempts=1)
    with DialectServer(words, text=IN_LINES, filled={}) as server:
        config = replace(config, base_url=server.base_url)
        reports: list[Report] = []
        async with (
            open_configured_panel(
                panel_config(judges=["annotator"], models=[config]), guard=Guard(preflight=False)
            ) as panel,
            anyio.create_task_group() as group,
        ):

            async def assess(number: int) -> None:
                judged = segment(output=f"It opened in 1935, says source {number}.")
                reports.append(await panel.assess(judged, ASPECT))

            for number in range(many):
                group.start_soon(assess, number)
    assert [report.score for report in reports] == [2] * many
    assert forms(server).count("") == many, "nor is the model tried for them"


@pytest.mark.parametrize(
    "failed",
    [
        failure(400, "This model's maximum context length is 8 tokens"),
        failure(404, "The model `m` does not exist"),
        failure(401, "Incorrect API key"),
    ],
)
async def test_refusals_for_other_reasons_are_not_retried_in_another_form(failed: Answer) -> None:
    with LoopbackServer(failed) as server:
        (report,) = await assessed("annotator", "openai/m", server=server)
    assert report.outcome is Outcome.BACKEND_FAILED
    assert forms(server) == ["response_format"]


@pytest.mark.parametrize(
    ("form", "sent"),
    [("schema", ["response_format"] * 2), ("grammar", ["grammar"]), ("text", [""])],
)
async def test_a_form_that_is_named_is_the_only_one_asked_for(form: str, sent: list[str]) -> None:
    with LoopbackServer(REFUSED) as server:
        (report,) = await assessed(f"annotator:form={form}", "openai/m", server=server)
    assert report.outcome is Outcome.BACKEND_FAILED
    assert forms(server) == sent


async def test_lines_in_place_of_an_object_are_read_as_lines() -> None:
    with LoopbackServer(chat(IN_LINES)) as server:
        (report,) = await assessed("annotator", "openai/m", server=server)
    assert report.score == 2
    assert forms(server) == ["response_format"]


async def test_an_unclear_reply_is_requested_once_more_in_the_same_form() -> None:
    with LoopbackServer(chat("I like it."), chat(IN_LINES)) as server:
        (report,) = await assessed("annotator", "openai/m", server=server)
    assert (report.score, report.usage.calls) == (2, 2)
    assert forms(server) == ["response_format", "response_format"]
    messages: Any = server.requests[1].body["messages"]
    assert "JSON object" in messages[-1]["content"]


async def test_geval_is_held_to_a_number_by_a_schema() -> None:
    filled = {"score": "4"}
    with DialectServer(DIALECTS["vLLM"], text="I like it.", filled=filled) as server:
        (report,) = await assessed("geval", "hosted_vllm/m", server=server)
    assert (report.score, report.reply[:8]) == (4, '{"score_')
    assert forms(server) == ["response_format"]


NO_LOGPROBS = failure(400, "'logprobs' is not supported with this model.")
BAD = failure(400, "Invalid request")


def wishes(server: LoopbackServer) -> list[bool]:
    """Return whether each request asked for log-probabilities."""
    return ["logprobs" in request.body for request in server.requests]


@pytest.mark.parametrize("judge", ["annotator", "annotator:form=schema", "geval:logprobs=true"])
async def test_a_server_refusing_log_probabilities_is_asked_without_them_later(judge: str) -> None:
    dialect = replace(DIALECTS["SGLang"], refused={"logprobs": NO_LOGPROBS}, model="openai/m")
    memory, texts = DictMemory(), ["It opened in 1935.", "It is in 1935."]
    with (
        DialectServer(dialect, text="2", filled={**SAID, "score": "2"}) as server,
        capture_logs() as logs,
    ):
        reports = await assessed(judge, "openai/m", server=server, texts=texts, memory=memory)
        again = await assessed(judge, "openai/m", server=server, texts=["In 1935."], memory=memory)
    assert [(one.score, one.error_probability) for one in (*reports, *again)] == [(2, None)] * 3
    assert wishes(server) == [True, False, False, False]
    absent = [entry for entry in logs if entry["event"] == "logprobs.absent"]
    assert [entry["refused"] for entry in absent] == [True], "it is said once"


async def test_a_bad_request_without_a_reason_is_tried_in_all_forms_before_log_probabilities() -> (
    None
):
    dialect = Dialect(
        model="openai/m",
        schema=DIALECTS["SGLang"].schema,
        grammar="grammar",
        refused={"logprobs": BAD},
    )
    with DialectServer(dialect, text="", filled=SAID) as server:
        texts = ["It opened in 1935.", "It is in 1935."]
        reports = await assessed("annotator", "openai/m", server=server, texts=texts)
    assert [report.score for report in reports] == [2, 2]
    assert wishes(server) == [*[True] * 4, *[False] * 3]
    assert forms(server)[-3:] == ["", "response_format", "response_format"]


async def test_a_model_that_leaves_log_probabilities_out_is_named_once() -> None:
    dialect = replace(DIALECTS["SGLang"], gives_logprobs=False)
    guard = Guard(preflight=False)
    with DialectServer(dialect, text="", filled=SAID) as server, capture_logs() as logs:
        config = ModelConfig(name="openai/m", base_url=server.base_url, attempts=1)
        panel = panel_config(judges=["annotator"], models=[config])
        async with open_configured_panel(panel, guard=guard) as opened:
            for output in ("It opened in 1935.", "It is in 1935."):
                await opened.assess(segment(output=output), ASPECT)
    assert guard.log_probabilities == {"openai/m": "none"}
    absent = [entry for entry in logs if entry["event"] == "logprobs.absent"]
    assert [(entry["refused"], entry["log_level"]) for entry in absent] == [(False, "warning")]


async def test_samples_state_a_probability_where_the_server_gives_none() -> None:
    dialect = replace(DIALECTS["SGLang"], gives_logprobs=False)
    filled = {**SAID, "faulty": "yes"}
    with DialectServer(dialect, text="", filled=filled) as server:
        (report,) = await assessed("annotator:samples=5", "openai/m", server=server)
    assert report.error_probability == pytest.approx(5.5 / 6)
    assert report.usage.calls == 5
    assert wishes(server) == [True, *[False] * 4]
    drawn = [request.body["temperature"] for request in server.requests]
    assert drawn == [0.0, *[1.0] * 4]


async def test_only_the_log_probabilities_near_the_verdict_and_the_score_are_kept() -> None:
    memory = DictMemory()
    filled = {**SAID, "explanation": "It was 1932. " * 200}
    with DialectServer(DIALECTS["vLLM"], text="", filled=filled) as server:
        (report,) = await assessed("annotator", "hosted_vllm/m", server=server, memory=memory)
    assert report.error_probability == pytest.approx(P_YES)
    kept = max(len(value) for value in memory.values.values())
    assert kept < 3 * len(report.reply), "a reply is not a thousand tokens with their rivals"


async def test_a_server_that_gave_log_probabilities_and_refuses_them_now_is_asked_without() -> None:
    memory = DictMemory()
    with DialectServer(DIALECTS["SGLang"], text="", filled=SAID) as server:
        await assessed("annotator", "openai/m", server=server, memory=memory)
    refusing = replace(DIALECTS["SGLang"], refused={"logprobs": NO_LOGPROBS})
    with DialectServer(refusing, text="", filled=SAID) as other:
        texts = ["It opened in 1935.", "It is in 1935."]
        reports = await assessed("annotator", "openai/m", server=other, memory=memory, texts=texts)
        read_again = "annotator:rescoring=restate"  # another report of the same requests
        (kept,) = await assessed(read_again, "openai/m", server=other, memory=memory)
    assert [report.score for report in (*reports, kept)] == [2, 2, 2]
    assert wishes(other) == [True, False, False], "the reply from before is not paid for again"


GROUPED = {
    **SAID,
    "members": "s1",
    "quote": "in 1935",
    "severity": "4",
    "id": "s2",
    "reason": "It is s1.",
}


@pytest.mark.parametrize("takes_schemas", [True, False])
async def test_a_consolidating_model_is_held_to_a_schema_if_taken(*, takes_schemas: bool) -> None:
    words = json.dumps(
        {
            "groups": [
                {"members": ["s1", "s2"], "quote": "in 1935", "explanation": "No.", "severity": 4}
            ]
        }
    )
    refused = {} if takes_schemas else {"response_format": REFUSED, "grammar": REFUSED}
    dialect = replace(DIALECTS["SGLang"], refused=refused)
    with (
        DialectServer(dialect, text=IN_LINES, filled=GROUPED) as seats,
        DialectServer(dialect, text=words, filled=GROUPED) as merging,
    ):
        merger = ModelConfig(name="openai/merger", base_url=merging.base_url, attempts=1)
        asked = ModelConfig(name="openai/m", base_url=seats.base_url, attempts=1)
        panel = panel_config(judges=["annotator", "annotator:seed=1"], models=[asked])
        panel = replace(panel, consolidate="agent:max_spans=1", consolidate_model=merger)
        async with open_configured_panel(panel) as opened:
            report = await opened.assess(segment(), ASPECT)
    assert report.consolidator == "agent"
    (span,) = report.spans
    assert (span.text, span.severity) == ("in 1935", 4)
    assert forms(merging) == (
        ["response_format"] if takes_schemas else ["response_format"] * 2 + [""]
    )


@pytest.mark.parametrize(("inputs", "held"), [((), "response_format"), (None, "")])
async def test_a_searcher_is_held_to_a_schema_where_it_has_nothing_to_look_up(
    inputs: tuple[str, ...] | None, held: str
) -> None:
    filled = {**GROUPED, "label": "Poor", "rationale": "The only fact is wrong."}
    report = json.dumps({"errors": [], "rationale": "Good.", "label": "Poor"})
    with DialectServer(DIALECTS["SGLang"], text=report, filled=filled) as server:
        config = ModelConfig(name="openai/m", base_url=server.base_url, attempts=1)
        async with open_configured_panel(
            panel_config(judges=["searcher"], models=[config])
        ) as panel:
            (seat,) = (await panel.assess(segment(), replace(ASPECT, inputs=inputs))).seats
    assert seat.report.score == 2, seat.report.reason
    assert forms(server) == [held]


@pytest.mark.parametrize(
    ("judge", "held"), [("geval:steps=auto", True), ("geval:steps=auto,form=text", False)]
)
async def test_the_steps_of_geval_are_held_to_a_list(judge: str, *, held: bool) -> None:
    filled = {"steps": "Read the text.", "score": "4"}
    with DialectServer(DIALECTS["vLLM"], text="4", filled=filled) as server:
        (report,) = await assessed(judge, "hosted_vllm/m", server=server)
    assert report.score == 4
    assert forms(server) == ["response_format" if held else ""] * 2
    messages: Any = server.requests[1].body["messages"]
    assert ("1. Read the text." in messages[-1]["content"]) is held


class ThinkingServer(DialectServer):
    """A server whose model thinks for 3,000 tokens before it replies, whatever room it has."""

    def record(self, request: Received) -> Answer:
        """Break off in thought, or answer as its namesake would."""
        answer = super().record(request)
        room: Any = request.body["max_tokens"]
        if room > 3_000:
            return answer
        spent = {"completion_tokens": room, "completion_tokens_details": {"reasoning_tokens": room}}
        thought = {"reasoning_content": "Severity (a3f9): 5. " * 100}
        return chat("", finish="length", message=thought, usage={"prompt_tokens": 7, **spent})


@pytest.mark.parametrize("model", ["openai-compatible/m", "openai/m", "hosted_vllm/m"])
async def test_a_reply_whose_first_three_thousand_tokens_are_thought_is_scored(model: str) -> None:
    dialect = replace(DIALECTS["vLLM"], model=model)
    with ThinkingServer(dialect, text="", filled=SAID) as server:
        (report,) = await assessed("annotator", model, server=server)
    assert (report.outcome, report.score) == (Outcome.SCORED, 2)
    assert len(report.spans) == 1, "thought is read as no field"
    assert (report.usage.calls, report.usage.reasoning) == (2, 1024)


@pytest.mark.parametrize(
    ("name", "reasoning", "sent"),
    [
        ("vLLM", "low", {"reasoning_effort": "low", "max_tokens": 2048}),
        ("vLLM", "none", {"chat_template_kwargs": {"enable_thinking": False}, "max_tokens": 1024}),
        ("SGLang", "3000", {"reasoning_effort": "medium", "max_tokens": 4024}),
        ("Ollama /v1", "high", {"reasoning_effort": "high", "max_tokens": 1024 + 16384}),
        ("Ollama /v1", "none", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("Anthropic", "3000", {"thinking": {"type": "enabled", "budget_tokens": 3000}}),
        ("Anthropic", "3000", {"temperature": 1.0, "max_tokens": 4024}),
    ],
)
async def test_thought_is_asked_for_in_the_words_of_each_server(
    name: str, reasoning: str, sent: Mapping[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-test-0123456789")
    dialect = DIALECTS[name]
    judge = f"annotator:reasoning={reasoning}"
    with DialectServer(dialect, text="I like it.", filled=SAID) as server:
        (report,) = await assessed(judge, dialect.model, server=server)
    assert report.score == 2, report.reason
    body = server.requests[0].body
    assert {field: body.get(field) for field in sent} == sent
    assert ("reasoning_effort" in body) is ("reasoning_effort" in sent)


async def test_nothing_is_said_of_thought_unless_it_is_asked_for() -> None:
    with DialectServer(DIALECTS["vLLM"], text="", filled=SAID) as server:
        await assessed("annotator", "hosted_vllm/m", server=server)
        await assessed("geval:reasoning=low", "hosted_vllm/m", server=server)
    first, second = [request.body for request in server.requests]
    assert not {"reasoning_effort", "chat_template_kwargs", "thinking"} & {*first}
    assert (first["max_tokens"], second["max_tokens"]) == (1024, 2048)
    assert second["reasoning_effort"] == "low"
