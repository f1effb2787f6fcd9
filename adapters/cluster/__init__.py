"""Clusters of machines. The module loads Ray, which takes seconds, when it is used."""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="ray")
