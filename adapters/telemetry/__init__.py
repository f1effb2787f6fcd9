"""Traces of judges and models. OpenTelemetry is imported only if the program has set it up."""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name)
