"""Clusters of machines. Ray, whose import takes seconds, is loaded at the first use."""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="ray")
