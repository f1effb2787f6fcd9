"""Causal language models: found, loaded, spoken to through their chat template, and continued.

The modules load PyTorch and its like when they are used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="train")
