"""Pictures of findings. matplotlib, whose import is slow, is loaded when first used."""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="plots")
