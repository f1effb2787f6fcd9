"""Checkers in Hugging Face's checkpoint format, run by onnxruntime or torch.

The libraries are imported only when a module is first used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module

_EXTRAS = {"export": "train", "torch_model": "neural"}


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra=_EXTRAS.get(name, ""))
