"""Optional tracing through OpenTelemetry, if the program has set that up.

A program sets it up in its own code, or by being started with ``opentelemetry-instrument``;
spanjury opens no exporter. OpenTelemetry's packages are slow to import, so this module does not
import them: if they are not loaded when a panel is opened, nothing is traced.
"""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from spanjury.judges.core import Aspect, ChatModel, Judge, PanelReport, Segment
from spanjury.judges.core.lazy import lazily

with lazily():
    from spanjury.adapters.telemetry import traced

_API = "opentelemetry.trace"
_PROVIDERS = ("OTEL_PYTHON_TRACER_PROVIDER", "OTEL_PYTHON_LOGGER_PROVIDER")
"""Environment variables that name a provider, which the packages load when first used."""


Assessing = AbstractContextManager[Callable[[PanelReport], None]]
"""A panel's assessment in progress; it yields a function that takes the report."""


class Tracing(Protocol):
    """Traces the work of models, judges and panels."""

    def model(self, model: ChatModel, *, name: str) -> ChatModel:
        """Return `model`, called `name`, wrapped so that each call, retries included, is traced."""
        ...

    def judge(self, judge: Judge, *, seat: str) -> Judge:
        """Return the judge of `seat`, wrapped so that each assessment is traced."""
        ...

    def assessment(self, segment: Segment, aspect: Aspect) -> Assessing:
        """Trace a panel's assessment in the context; the yielded function records its report."""
        ...


class Untraced:
    """No tracing: models and judges are returned unchanged, at no cost."""

    def model(self, model: ChatModel, *, name: str) -> ChatModel:
        """Return `model`."""
        del name
        return model

    def judge(self, judge: Judge, *, seat: str) -> Judge:
        """Return `judge`."""
        del seat
        return judge

    def assessment(self, segment: Segment, aspect: Aspect) -> Assessing:
        """Do nothing."""
        del segment, aspect
        return nullcontext(_ignore)


def find_tracing() -> Tracing:
    """Return tracing through OpenTelemetry, or `Untraced` if that is not set up yet."""
    if _API not in sys.modules and not any(name in os.environ for name in _PROVIDERS):
        return Untraced()
    tracing: Tracing | None = traced.find_traced()
    return tracing or Untraced()


def _ignore(report: PanelReport) -> None:
    del report
