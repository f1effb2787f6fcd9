"""OpenTelemetry tracing of models, judges and panels.

Spans are nested like the work, even if other work runs concurrently::

    assess ASPECT             a panel; its result is an event, gen_ai.evaluation.result
      judge SEAT              each of its seats (or rescore SEAT)
        chat MODEL            each call, with all its attempts

Texts and explanations are recorded only if the environment variable
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is ``true`` (or ``SPAN_AND_EVENT``),
``SPAN_ONLY`` or ``EVENT_ONLY``. The result is a named log record, the current form of events,
rather than a span event, which OpenTelemetry is deprecating. ``error.type`` is the name of an error
in `judges.core.errors`, an outcome, or the name of an exception from a judge's own code.

Attributes follow OpenTelemetry's conventions for generative AI [1]_ where these have one; our own
begin with ``spanjury.``.

References
----------
.. [1] https://github.com/open-telemetry/semantic-conventions-genai, 2026, status
   "development": client inference, and the event gen_ai.evaluation.result
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry._logs import Logger, SeverityNumber, get_logger
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, get_tracer

from spanjury.judges.core import (
    VERSION,
    Aspect,
    ChatModel,
    ChatRequest,
    ErrorSpan,
    Judge,
    Message,
    ModelError,
    Outcome,
    PanelReport,
    Reply,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    hide,
    kind_of,
)

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

_DO_NOTHING = ("opentelemetry.trace", "opentelemetry._logs")
"""Packages of the no-op tracers and loggers that are used without an SDK."""

_Attributes = dict[str, str | int | float | Sequence[str]]

_ERROR_TYPE = "error.type"

_FINISH_REASONS = "gen_ai.response.finish_reasons"

_PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""Providers whose name in LiteLLM differs from that in the conventions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A `Tracing` that sends spans and events to OpenTelemetry's `tracer` and `logger`.

    With `texts`, spans include prompts and replies; with `explanations`, events include the
    explanation of a score.
    """

    tracer: Tracer
    logger: Logger
    texts: bool = False
    explanations: bool = False

    def model(self, model: ChatModel, *, name: str) -> ChatModel:
        """Return `model`, called `name`, wrapped so that each call is traced."""
        return TracedModel(model=model, name=name, tracing=self)

    def judge(self, judge: Judge, *, seat: str) -> Judge:
        """Return the judge of `seat`, wrapped so that each assessment is traced."""
        if isinstance(judge, Rescorable):
            return TracedRescorable(judge=judge, seat=seat, tracing=self)
        return TracedJudge(judge=judge, seat=seat, tracing=self)

    @contextmanager
    def assessment(
        self, segment: Segment, aspect: Aspect
    ) -> Iterator[Callable[[PanelReport], None]]:
        """Trace a panel's assessment in the context; the yielded function records its report."""
        about_it = _about(segment, aspect)
        with self.span(f"assess {aspect.name}", about_it) as span:

            def tell(report: PanelReport) -> None:
                _tell_end(span, report)
                result = _evaluated(report, aspect, content=self.explanations)
                self.logger.emit(
                    event_name="gen_ai.evaluation.result",
                    timestamp=time.time_ns(),
                    severity_number=SeverityNumber.INFO,
                    attributes={**about_it, **result},
                )

            yield tell

    @contextmanager
    def span(
        self, name: str, attributes: _Attributes, *, kind: SpanKind = SpanKind.INTERNAL
    ) -> Iterator[Span]:
        """Trace the work in the context, and its failure."""
        with self.tracer.start_as_current_span(
            name,
            kind=kind,
            attributes=attributes,
            record_exception=False,  # any exception's message may quote a text
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute(_ERROR_TYPE, type(error).__name__)
                # Not its message: a server may repeat what it was sent, and others do, too.
                description = kind_of(error) if isinstance(error, ModelError) else None
                span.set_status(StatusCode.ERROR, description)
                raise


def find_traced() -> Traced | None:
    """Return tracing through the program's OpenTelemetry; None if it has set none up."""
    tracer = get_tracer("spanjury", VERSION)
    logger = get_logger("spanjury", VERSION)
    if all(type(part).__module__.startswith(_DO_NOTHING) for part in (tracer, logger)):
        return None
    content = os.environ.get(_CONTENT, "").strip().lower()
    return Traced(
        tracer=tracer,
        logger=logger,
        texts=content in {"true", "span_only", "span_and_event"},
        explanations=content in {"true", "event_only", "span_and_event"},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedModel:
    """A model whose calls are traced, each as one span with all its attempts.

    Its `name` in spans is ``PROVIDER/MODEL``; cached replies should not pass through here.
    """

    model: ChatModel
    name: str
    tracing: Traced

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raise its errors."""
        attributes = _called(self.name)
        name = f"chat {attributes['gen_ai.request.model']}"
        with self.tracing.span(name, attributes, kind=SpanKind.CLIENT) as span:
            if not span.is_recording():
                return await self.model.complete(request)
            span.set_attributes(_asked(request))
            if self.tracing.texts:
                span.set_attributes(_asked_text(request))
            try:
                reply = await self.model.complete(request)
            except ModelError:
                span.set_attribute(_FINISH_REASONS, ("error",))
                raise
            span.set_attributes(_answered(reply))
            if self.tracing.texts:
                span.set_attributes(_answered_text(reply))
            return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedJudge:
    """A seat's judge whose assessments are traced."""

    judge: Judge
    seat: str
    tracing: Traced

    @property
    def signature(self) -> str:
        """The judge's own."""
        return self.judge.signature

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the judge's report; raise its errors."""
        attributes = _about(segment, aspect, seat=self.seat)
        with self.tracing.span(f"judge {self.seat}", attributes) as span:
            report = await self.judge.assess(segment, aspect)
            _tell_end(span, report)
            return report


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRescorable(TracedJudge):
    """A rescorable judge whose rescorings are traced, too."""

    judge: Rescorable

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the judge's rescoring of `spans`; raise its errors."""
        attributes = _about(segment, aspect, seat=self.seat)
        with self.tracing.span(f"rescore {self.seat}", attributes) as span:
            rescoring = await self.judge.rescore(segment, aspect, spans)
            _tell_end(span, rescoring.report)
            return rescoring


def _tell_end(span: Span, report: object) -> None:
    """Record how an assessment ended; a foreign judge may return any type."""
    if not isinstance(report, Report):
        return
    span.set_attribute("spanjury.outcome", report.outcome.value)
    if report.score is not None:
        span.set_attribute("spanjury.score", report.score)
    elif report.outcome is not Outcome.ABSTAINED:
        span.set_attribute(_ERROR_TYPE, report.outcome.value)
        span.set_status(StatusCode.ERROR)


def _present(attributes: Mapping[str, str | float | Sequence[str] | None]) -> _Attributes:
    """Return the attributes that have a value."""
    return {name: value for name, value in attributes.items() if value is not None}


def _called(name: str) -> _Attributes:
    """Return the attributes that all calls of the model `name` have in common."""
    provider, slash, model = name.partition("/")
    return _present(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": model or name,
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider) if slash else None,
        }
    )


def _asked(request: ChatRequest) -> _Attributes:
    """Return the decoding parameters as attributes."""
    return _present(
        {
            "gen_ai.request.temperature": request.decoding.temperature,
            "gen_ai.request.max_tokens": request.decoding.max_tokens,
            "gen_ai.request.seed": request.decoding.seed,
        }
    )


def _answered(reply: Reply) -> _Attributes:
    """Return the finish reason and the usage of a reply."""
    usage = reply.usage
    is_reported = bool(usage.prompt or usage.completion)
    return _present(
        {
            _FINISH_REASONS: (reply.finish.value,),
            "gen_ai.usage.input_tokens": usage.prompt if is_reported else None,
            "gen_ai.usage.output_tokens": usage.completion if is_reported else None,
            "gen_ai.usage.cache_read.input_tokens": usage.cached or None,
            "gen_ai.usage.reasoning.output_tokens": usage.reasoning or None,
        }
    )


def _asked_text(request: ChatRequest) -> _Attributes:
    """Return the full conversation."""
    messages = [
        {"role": message.role, "parts": _message_parts(message)}
        for message in (*request.messages, Message(role="assistant", content=request.prefix))
        if message.content or message.tool_calls
    ]
    return {"gen_ai.input.messages": json.dumps(messages)}


def _answered_text(reply: Reply) -> _Attributes:
    """Return the full reply."""
    thought = [{"type": "reasoning", "content": reply.reasoning}] if reply.reasoning else []
    answer = Message(role="assistant", content=reply.text, tool_calls=reply.tool_calls)
    message = {
        "role": answer.role,
        "parts": [*thought, *_message_parts(answer)],
        "finish_reason": reply.finish.value,
    }
    return {"gen_ai.output.messages": json.dumps([message])}


def _message_parts(message: Message) -> list[Mapping[str, str]]:
    if message.role == "tool":
        response = {"id": message.call_id, "response": message.content}
        return [{"type": "tool_call_response", **response}]
    text = [{"type": "text", "content": message.content}] if message.content else []
    calls = [
        {"type": "tool_call", "id": call.call_id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]
    return [*text, *calls]


def _about(segment: Segment, aspect: Aspect, *, seat: str | None = None) -> _Attributes:
    """Return what an assessment is about as attributes."""
    return _present(
        {
            "spanjury.segment.id": _encodable(segment.segment_id),
            "spanjury.task": aspect.task.name,
            "spanjury.aspect": aspect.name,
            "spanjury.system": _encodable(segment.system) or None,
            "spanjury.seat": seat,
        }
    )


def _evaluated(report: PanelReport, aspect: Aspect, *, content: bool) -> _Attributes:
    """Return a panel's result as attributes; with `content`, include the explanation."""
    explanation = (report.rationale or report.reason) if content else ""
    is_scored = report.score is not None
    return _present(
        {
            "gen_ai.evaluation.name": aspect.name,
            "spanjury.outcome": report.outcome.value,
            "spanjury.signature": report.signature,
            _ERROR_TYPE: None if is_scored else report.outcome.value,
            "gen_ai.evaluation.score.value": report.score,
            "gen_ai.evaluation.score.label": None
            if report.score is None
            else aspect.scale.label(report.score),
            "spanjury.decision": report.decision and report.decision.value,
            "spanjury.error_probability": report.error_probability,
            "gen_ai.evaluation.explanation": _encodable(explanation) or None,
        }
    )


def _encodable(text: str) -> str:
    """Mask keys, and replace lone surrogates, as one would prevent the export of a whole batch."""
    return hide(text).encode("utf-8", "replace").decode()
