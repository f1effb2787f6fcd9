"""Traces of a run by OpenTelemetry, and none where the program has not set it up."""

import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import pytest
from fakes.clock import FakeClock
from fakes.judges import ASPECT, FixedJudge, panel_of
from fakes.processes import completed
from loopback.answers import Answer, chat, failure
from loopback.server import LoopbackServer
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

from spanjury.adapters.models.fast_model import open_fast
from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.telemetry.traced import Traced
from spanjury.judges.core import (
    ChatRequest,
    Decoding,
    Finish,
    JudgeError,
    Message,
    ModelOptions,
    ModelTimeoutError,
    Outcome,
    Reply,
    Report,
    Rescorable,
    Segment,
    ToolCall,
    Usage,
)
from spanjury.judges.llm.annotator import Annotator
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.testing import ScriptedModel

pytestmark = pytest.mark.asyncio_only

SECRET = "The purple cow of the treasury"
REPLY = f"No Error\n\nOverall score: Good\nExplanation of the score: {SECRET}."
REQUEST = ChatRequest(messages=(Message(role="user", content=SECRET),))
EVENT = "gen_ai.evaluation.result"


class Listener:
    """A program's OpenTelemetry, which keeps what it receives."""

    def __init__(self, *, content: bool = False, sampled: bool = True) -> None:
        self._spans = InMemorySpanExporter()
        self._logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]  # the SDK's lapse
        tracers = TracerProvider() if sampled else TracerProvider(sampler=ALWAYS_OFF)
        tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        loggers = LoggerProvider()
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self._logs))
        self.tracing = Traced(
            tracer=tracers.get_tracer("test"),
            logger=loggers.get_logger("test"),
            texts=content,
            explanations=content,
        )

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._spans.get_finished_spans()

    @property
    def events(self) -> tuple[ReadableLogRecord, ...]:
        return self._logs.get_finished_logs()

    @property
    def everything(self) -> str:
        spans = [span.to_json() for span in self.spans]
        return "\n".join([*spans, *(event.to_json() for event in self.events)])


def segment(name: str) -> Segment:
    return Segment(
        segment_id=name, output=f"{SECRET} sings.", inputs={"Article": "x"}, system="bart"
    )


def attributes(record: ReadableSpan | ReadableLogRecord) -> dict[str, object]:
    providers = (
        record.attributes if isinstance(record, ReadableSpan) else record.log_record.attributes
    )
    return dict(providers or {})


def named(spans: Sequence[ReadableSpan], beginning: str) -> list[ReadableSpan]:
    return [span for span in spans if span.name.startswith(beginning)]


def panel(listener: Listener, **judges: object) -> Panel:
    traced = [
        listener.tracing.judge(judge, seat=name)  # type: ignore[arg-type]  # some are broken
        for name, judge in judges.items()
    ]
    return panel_of(*traced, names=[*judges], observer=listener.tracing.assessment)


@asynccontextmanager
async def real_panel(listener: Listener, *answers: Answer) -> AsyncIterator[Panel]:
    """Open a panel of two annotators that ask a real server."""
    clock = FakeClock()
    options = ModelOptions()
    with LoopbackServer(*answers) as server:
        where = ModelOptions(base_url=server.base_url)
        async with open_fast("openai-compatible/org/loop", options=where) as model:
            gateway = Gateway(model, options=options, sleep=clock.sleep)
            asked = listener.tracing.model(gateway, name="openai-compatible/org/loop")
            yield panel(listener, one=Annotator(model=asked), two=Annotator(model=asked, seed=1))


async def test_spans_nest_as_the_work_does_whatever_runs_beside_it() -> None:
    listener = Listener()
    async with real_panel(listener, chat(REPLY)) as jury, anyio.create_task_group() as tasks:
        for number in range(8):
            tasks.start_soon(jury.assess, segment(f"s{number}"), ASPECT)
    spans = {span.context.span_id: span for span in listener.spans if span.context}
    panels = named(listener.spans, "assess consistency")
    seats = named(listener.spans, "judge ")
    chats = named(listener.spans, "chat org/loop")
    assert (len(panels), len(seats), len(chats)) == (8, 16, 16)
    assert {span.parent for span in panels} == {None}
    for call in chats:
        assert call.parent is not None
        seat = spans[call.parent.span_id]
        assert seat.name == f"judge {attributes(seat)['spanjury.seat']}"
        assert seat.parent is not None
        above = spans[seat.parent.span_id]
        assert above.name == "assess consistency"
        assert attributes(above)["spanjury.segment.id"] == attributes(seat)["spanjury.segment.id"]
        assert ("gen_ai.request.seed" in attributes(call)) == (seat.name == "judge two")


async def test_the_result_of_a_panel_is_an_event_within_its_span() -> None:
    listener = Listener()
    async with real_panel(listener, chat(REPLY)) as jury:
        report = await jury.assess(segment("s7"), ASPECT)
    [event] = listener.events
    assert event.log_record.event_name == EVENT
    assert attributes(event) == {
        "gen_ai.evaluation.name": "consistency",
        "gen_ai.evaluation.score.value": 4.0,
        "gen_ai.evaluation.score.label": "Good",
        "spanjury.segment.id": "s7",
        "spanjury.task": "summarization",
        "spanjury.aspect": "consistency",
        "spanjury.system": "bart",
        "spanjury.outcome": "scored",
        "spanjury.signature": report.signature,
        "spanjury.decision": report.decision,
    }
    [above] = named(listener.spans, "assess")
    assert above.context is not None
    assert event.log_record.span_id == above.context.span_id
    assert attributes(above)["spanjury.score"] == 4.0


async def test_a_call_is_described_in_the_words_of_the_conventions() -> None:
    listener = Listener()
    usage = Usage(calls=1, prompt=70, cached=40, completion=30, reasoning=20)
    model = ScriptedModel(Reply(text="x", finish=Finish.LENGTH, usage=usage), "")
    asked = listener.tracing.model(model, name="bedrock/meta/llama")
    assert asked.signature == model.signature
    decoding = Decoding(temperature=0.5, seed=7, max_tokens=64)
    await asked.complete(ChatRequest(messages=(), decoding=decoding))
    [span] = listener.spans
    assert (span.name, span.kind) == ("chat meta/llama", SpanKind.CLIENT)
    assert attributes(span) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "aws.bedrock",
        "gen_ai.request.model": "meta/llama",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 64,
        "gen_ai.request.seed": 7,
        "gen_ai.response.finish_reasons": ("length",),
        "gen_ai.usage.input_tokens": 70,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.reasoning.output_tokens": 20,
    }
    await listener.tracing.model(model, name="gpt-4o").complete(REQUEST)
    assert "gen_ai.provider.name" not in attributes(listener.spans[1])
    assert "gen_ai.usage.input_tokens" not in attributes(listener.spans[1])


async def test_one_call_is_one_span_with_all_its_attempts() -> None:
    listener = Listener()
    async with real_panel(listener, failure(503), failure(503), chat(REPLY)) as jury:
        await jury.assess(segment("s"), ASPECT)
    assert len(named(listener.spans, "chat")) == 2


async def test_a_call_that_fails_says_how() -> None:
    listener = Listener()
    asked = listener.tracing.model(ScriptedModel(ModelTimeoutError("5 s are over")), name="o/m")
    with pytest.raises(ModelTimeoutError):
        await asked.complete(REQUEST)
    [span] = listener.spans
    assert attributes(span)["error.type"] == "ModelTimeoutError"
    assert attributes(span)["gen_ai.response.finish_reasons"] == ("error",)
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "ModelTimeoutError"


@pytest.mark.parametrize(
    ("says", "of_the_seat", "of_the_panel"),
    [
        (JudgeError(SECRET), "JudgeError", "backend_failed"),
        (ModelTimeoutError("late"), "ModelTimeoutError", "timed_out"),
        (ZeroDivisionError(SECRET), "ZeroDivisionError", "backend_failed"),
        (Report(outcome=Outcome.REFUSED, reason=SECRET), "refused", "refused"),
        (SECRET, None, "backend_failed"),
    ],
)
async def test_no_score_is_an_error_traced_without_its_words(
    says: object, of_the_seat: str | None, of_the_panel: str
) -> None:
    listener = Listener()
    report = await panel(listener, only=FixedJudge(says=says)).assess(segment("s"), ASPECT)
    assert report.score is None
    [seat], [above] = named(listener.spans, "judge"), named(listener.spans, "assess")
    assert attributes(seat).get("error.type") == of_the_seat
    assert attributes(above)["error.type"] == of_the_panel
    assert above.status.status_code is StatusCode.ERROR
    [event] = listener.events
    assert attributes(event)["error.type"] == of_the_panel
    assert "gen_ai.evaluation.score.value" not in attributes(event)
    assert SECRET not in listener.everything


async def test_abstaining_is_not_an_error_of_a_judge() -> None:
    listener = Listener()
    idle = FixedJudge(says=Report(outcome=Outcome.ABSTAINED, reason="not mine"))
    await panel(listener, only=idle).assess(segment("s"), ASPECT)
    assert {span.status.status_code for span in listener.spans} == {StatusCode.UNSET}
    assert attributes(listener.events[0])["error.type"] == "abstained"


async def test_a_rescoring_is_traced_and_only_a_rescorable_judge_stays_one() -> None:
    listener = Listener()
    tracing, fixed = listener.tracing, FixedJudge(says=Report(score=4))
    assert not isinstance(tracing.judge(fixed, seat="fixed"), Rescorable)
    judge = tracing.judge(FormJudge(), seat="form")
    assert isinstance(judge, Rescorable)
    fluency = Catalogue.load().aspect("summarization", "fluency")
    text = replace(segment("s"), output="It is is fine.")
    report = await judge.assess(text, fluency)
    rescoring = await judge.rescore(text, fluency, report.spans)
    assert rescoring.report.score == report.score
    assert [span.name for span in listener.spans] == ["judge form", "rescore form"]
    assert attributes(listener.spans[1])["spanjury.score"] == report.score


async def test_texts_and_explanations_are_traced_only_if_they_are_wanted() -> None:
    for content in (False, True):
        listener = Listener(content=content)
        async with real_panel(listener, chat(REPLY)) as jury:
            await jury.assess(segment("s"), ASPECT)
        assert (SECRET in listener.everything) == content
        [event] = listener.events
        assert ("gen_ai.evaluation.explanation" in attributes(event)) == content
        for call in named(listener.spans, "chat"):
            assert ("gen_ai.input.messages" in attributes(call)) == content
            assert ("gen_ai.output.messages" in attributes(call)) == content


async def test_a_conversation_with_tools_is_traced_word_for_word() -> None:
    listener = Listener(content=True)
    wish = ToolCall(call_id="c1", name="look", arguments='{"at": "it"}')
    request = ChatRequest(
        messages=(
            Message(role="user", content="Look \ud800."),
            Message(role="assistant", content="", tool_calls=(wish,)),
            Message(role="tool", content="Nothing.", call_id="c1"),
        ),
        prefix="Well,",
    )
    reply = Reply(text="Done.", reasoning="Hm.", tool_calls=(wish,), finish=Finish.TOOL_CALLS)
    await listener.tracing.model(ScriptedModel(reply), name="o/m").complete(request)
    found_attributes = attributes(listener.spans[0])
    called = {"type": "tool_call", "id": "c1", "name": "look", "arguments": '{"at": "it"}'}
    answer = {"type": "tool_call_response", "id": "c1", "response": "Nothing."}
    assert json.loads(str(found_attributes["gen_ai.input.messages"])) == [
        {"role": "user", "parts": [{"type": "text", "content": "Look \ud800."}]},
        {"role": "assistant", "parts": [called]},
        {"role": "tool", "parts": [answer]},
        {"role": "assistant", "parts": [{"type": "text", "content": "Well,"}]},
    ]
    assert json.loads(str(found_attributes["gen_ai.output.messages"])) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "Hm."},
                {"type": "text", "content": "Done."},
                called,
            ],
            "finish_reason": "tool_calls",
        }
    ]
    str(found_attributes["gen_ai.input.messages"]).encode()  # as an exporter does


async def test_traced_values_can_be_encoded() -> None:
    listener = Listener(content=True)
    report = Report(score=3, rationale="half \udc00")
    await panel(listener, only=FixedJudge(says=report)).assess(segment("\ud83d"), ASPECT)
    recorded = [*map(attributes, listener.spans), *map(attributes, listener.events)]
    for value in (value for each in recorded for value in each.values()):
        assert str(value).encode()


async def test_unsampled_assessments_are_judged_all_the_same() -> None:
    listener = Listener(sampled=False)
    async with real_panel(listener, chat(REPLY)) as jury:
        assert (await jury.assess(segment("s"), ASPECT)).score == 4
    assert listener.spans == ()


LISTEN = """
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import set_tracer_provider
set_tracer_provider(TracerProvider())
"""
FIND = """
import os, sys
import spanjury, spanjury.orchestration.wiring.panels
from spanjury.adapters.telemetry.tracing import find_tracing
found = type(find_tracing()).__name__
print(found, any(name.partition(".")[0] == "opentelemetry" for name in sys.modules))
"""
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
VALUES = ("", "NO_CONTENT", "true", "SPAN_AND_EVENT", "SPAN_ONLY", "event_only")
ASK_FOR_CONTENT = f"""
for value in {VALUES!r}:
    os.environ[{CONTENT!r}] = value
    found = find_tracing()
    print(found.texts, found.explanations)
"""


def found_by(program: str, **environment: str) -> list[str]:
    """Return what a process prints that runs `program` with no more of OpenTelemetry's names."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    command = [sys.executable, "-c", program]
    variables = {**ours, **environment}
    done = completed(command, env=variables)
    return done.stdout.splitlines()


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("before", "environment", "providers"),
    [
        ("", {"OTEL_SERVICE_NAME": "x"}, "Untraced False"),
        ("import opentelemetry.trace, opentelemetry._logs", {}, "Untraced True"),
        (LISTEN, {"OTEL_SDK_DISABLED": "true"}, "Untraced True"),
        ("", {"OTEL_PYTHON_TRACER_PROVIDER": "sdk_tracer_provider"}, "Traced True"),
    ],
)
def test_nothing_is_touched_unless_the_program_has_set_it_up(
    before: str, environment: dict[str, str], providers: str
) -> None:
    assert found_by(before + FIND, **environment) == [providers]


@pytest.mark.heavy
def test_content_is_taken_where_the_environment_asks_for_it() -> None:
    first, *lines = found_by(LISTEN + FIND + ASK_FOR_CONTENT)
    assert first == "Traced True"
    assert lines == [
        "False False",
        "False False",
        "True True",
        "True True",
        "True False",
        "False True",
    ]
