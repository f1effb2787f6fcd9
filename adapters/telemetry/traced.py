"""Models, judges and panels traced by OpenTelemetry.

Its spans nest as the work does, whatever runs beside it::

    assess ASPECT             a panel; its result is an event, gen_ai.evaluation.result
      judge SEAT              each of its seats (or rescore SEAT)
        chat MODEL            each call, with all its attempts

Texts and explanations are recorded only if OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT
says so: ``true`` (or ``SPAN_AND_EVENT``), ``SPAN_ONLY``, ``EVENT_ONLY``. The result is a log
record with a name, as events are now, and no span event, which OpenTelemetry gives up. The
errors in ``error.type`` are those of `judges.core.errors`, by name, the outcomes, and
whatever a judge's own code raises.
"""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from opentelemetry._logs import Logger, SeverityNumber, get_logger
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, get_tracer

from spanjury.adapters.telemetry.attributes import (
    ERROR_TYPE,
    FINISH_REASONS,
    Attributes,
    about,
    answered,
    answered_text,
    asked,
    asked_text,
    called,
    evaluated,
)
from spanjury.judges.core import (
    VERSION,
    Aspect,
    ChatModel,
    ChatRequest,
    ErrorSpan,
    Judge,
    ModelError,
    Outcome,
    PanelReport,
    Reply,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    kind_of,
)

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_DO_NOTHING = ("opentelemetry.trace", "opentelemetry._logs")
"""Packages of the tracers and loggers that stand in for those of a missing SDK."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A `Tracing` whose spans and events go to OpenTelemetry's `tracer` and `logger`.

    With `texts`, spans hold what is said to models and by them; with `explanations`, events hold
    why a score is what it is.
    """

    tracer: Tracer
    logger: Logger
    texts: bool = False
    explanations: bool = False

    def model(self, model: ChatModel, *, name: str) -> ChatModel:
        """Return `model`, called `name`, with each call of it traced."""
        return TracedModel(model=model, name=name, tracing=self)

    def judge(self, judge: Judge, *, seat: str) -> Judge:
        """Return the judge of `seat` with each assessment of it traced."""
        if isinstance(judge, Rescorable):
            return TracedRescorable(judge=judge, seat=seat, tracing=self)
        return TracedJudge(judge=judge, seat=seat, tracing=self)

    @contextmanager
    def assessment(
        self, segment: Segment, aspect: Aspect
    ) -> Iterator[Callable[[PanelReport], None]]:
        """Tell of the assessment by a panel that is done inside, and of its result."""
        about_it = about(segment, aspect)
        with self.span(f"assess {aspect.name}", about_it) as span:

            def tell(report: PanelReport) -> None:
                _tell_end(span, report)
                result = evaluated(report, aspect, content=self.explanations)
                self.logger.emit(
                    event_name="gen_ai.evaluation.result",
                    timestamp=time.time_ns(),
                    severity_number=SeverityNumber.INFO,
                    attributes={**about_it, **result},
                )

            yield tell

    @contextmanager
    def span(
        self, name: str, attributes: Attributes, *, kind: SpanKind = SpanKind.INTERNAL
    ) -> Iterator[Span]:
        """Tell of what is done inside, and how it fails if it does."""
        with self.tracer.start_as_current_span(
            name,
            kind=kind,
            attributes=attributes,
            record_exception=False,  # the words of any exception may be those of a text
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except Exception as error:
                span.set_attribute(ERROR_TYPE, type(error).__name__)
                # Without its words: a server may repeat what it was sent, and others do.
                description = kind_of(error) if isinstance(error, ModelError) else None
                span.set_status(StatusCode.ERROR, description)
                raise


def find_traced() -> Traced | None:
    """Return what tells the program's OpenTelemetry; None if it has set none up."""
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

    It is asked for as `name`, ``PROVIDER/MODEL``; what is remembered should not come here.
    """

    model: ChatModel
    name: str
    tracing: Traced

    @property
    def signature(self) -> str:
        """The model's own."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raise what it raises."""
        attributes = called(self.name)
        name = f"chat {attributes['gen_ai.request.model']}"
        with self.tracing.span(name, attributes, kind=SpanKind.CLIENT) as span:
            if not span.is_recording():
                return await self.model.complete(request)
            span.set_attributes(asked(request))
            if self.tracing.texts:
                span.set_attributes(asked_text(request))
            try:
                reply = await self.model.complete(request)
            except ModelError:
                span.set_attribute(FINISH_REASONS, ("error",))
                raise
            span.set_attributes(answered(reply))
            if self.tracing.texts:
                span.set_attributes(answered_text(reply))
            return reply


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedJudge:
    """The judge of a seat, whose assessments are traced."""

    judge: Judge
    seat: str
    tracing: Traced

    @property
    def signature(self) -> str:
        """The judge's own."""
        return self.judge.signature

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return what the judge finds; raise what it raises."""
        attributes: Attributes = {**about(segment, aspect), "spanjury.seat": self.seat}
        with self.tracing.span(f"judge {self.seat}", attributes) as span:
            report = await self.judge.assess(segment, aspect)
            _tell_end(span, report)
            return report


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedRescorable(TracedJudge):
    """A rescorable judge, whose rescorings are traced, too."""

    judge: Rescorable

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return what the judge makes of `spans`; raise what it raises."""
        attributes: Attributes = {**about(segment, aspect), "spanjury.seat": self.seat}
        with self.tracing.span(f"rescore {self.seat}", attributes) as span:
            rescoring = await self.judge.rescore(segment, aspect, spans)
            _tell_end(span, rescoring.report)
            return rescoring


def _tell_end(span: Span, report: object) -> None:
    """Tell how an assessment ended; a foreign judge may return anything."""
    if not isinstance(report, Report):
        return
    span.set_attribute("spanjury.outcome", report.outcome.value)
    if report.score is not None:
        span.set_attribute("spanjury.score", report.score)
    elif report.outcome is not Outcome.ABSTAINED:
        span.set_attribute(ERROR_TYPE, report.outcome.value)
        span.set_status(StatusCode.ERROR)
