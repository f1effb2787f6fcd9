"""Tracing, by OpenTelemetry, only where the program has set it up.

A program sets it up by its own code or by being started with ``opentelemetry-instrument``;
spanjury opens no exporter. Its packages take a while to import, so this module does without:
where they are not loaded by the time that a panel is opened, nothing is traced.
"""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from spanjury.adapters.telemetry import traced
from spanjury.judges.core import Aspect, ChatModel, Judge, PanelReport, Segment

_API = "opentelemetry.trace"
_PROVIDERS = ("OTEL_PYTHON_TRACER_PROVIDER", "OTEL_PYTHON_LOGGER_PROVIDER")
"""Variables that name a provider, which the packages load by themselves when first used."""


Assessing = AbstractContextManager[Callable[[PanelReport], None]]
"""An assessment of a panel while it goes on; what it takes is the report."""


class Tracing(Protocol):
    """Traces what models, judges and panels do."""

    def model(self, model: ChatModel, *, name: str) -> ChatModel:
        """Return `model`, called `name`, with each call of it traced; retries are one call."""
        ...

    def judge(self, judge: Judge, *, seat: str) -> Judge:
        """Return the judge of `seat` with each assessment of it traced."""
        ...

    def assessment(self, segment: Segment, aspect: Aspect) -> Assessing:
        """Trace the assessment by a panel that is done inside, and its result."""
        ...


class Untraced:
    """No tracing: models and judges stay as they are, at no cost."""

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
    """Return the tracing by OpenTelemetry, or `Untraced` if it is not set up by now."""
    if _API not in sys.modules and not any(name in os.environ for name in _PROVIDERS):
        return Untraced()
    tracing: Tracing | None = traced.find_traced()
    return tracing or Untraced()


def _ignore(report: PanelReport) -> None:
    del report
