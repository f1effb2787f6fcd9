"""Pictures of findings. The modules load matplotlib, which takes a while, when they are used."""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="plots")
