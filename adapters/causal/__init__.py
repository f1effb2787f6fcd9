"""Causal language models: find and load them, apply their chat template, and generate text.

PyTorch and transformers are imported only when a module is first used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="train")
