"""Whether anybody listens: OpenTelemetry is touched only where the program has set it up.

A program sets it up by its own code or by being started with ``opentelemetry-instrument``;
spanjury opens no exporter. Its packages take a while to import, so this module does without:
where they are not loaded by the time that a panel is opened, nobody listens.
"""

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pkgutil import resolve_name
from typing import Protocol

from spanjury.judges.core import Aspect, ChatModel, Judge, PanelReport, Segment

__all__ = ["Assessing", "Tracing", "Untraced", "find_tracing"]

_API = "opentelemetry.trace"
_PROVIDERS = ("OTEL_PYTHON_TRACER_PROVIDER", "OTEL_PYTHON_LOGGER_PROVIDER")
"""What names a provider that the packages load by themselves when they are first asked."""


Assessing = AbstractContextManager[Callable[[PanelReport], None]]
"""An assessment of a panel while it goes on; what it takes is the report."""


class Tracing(Protocol):
    """Tell of what models, judges and panels do."""

    def model(self, model: ChatModel, *, name: str) -> ChatModel:
        """Return `model`, called `name`, with each call of it told; retries are one call."""
        ...

    def judge(self, judge: Judge, *, seat: str) -> Judge:
        """Return the judge of `seat` with each assessment of it told."""
        ...

    def assessment(self, segment: Segment, aspect: Aspect) -> Assessing:
        """Tell of the assessment by a panel that is done inside, and of its result."""
        ...


class Untraced:
    """Nobody listens: what is to be traced stays as it is, at no cost."""

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
    """Return what tells OpenTelemetry, or `Untraced` if nobody listens there by now."""
    if _API not in sys.modules and not any(name in os.environ for name in _PROVIDERS):
        return Untraced()
    found: Tracing | None = resolve_name("spanjury.adapters.telemetry.traced:find_traced")()
    return found or Untraced()


def _ignore(report: PanelReport) -> None:
    del report
