"""Checkers in the form of Hugging Face's checkpoints, run by onnxruntime or by torch.

The modules load their libraries when they are used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module

_EXTRAS = {"export": "train", "torch_model": "neural"}


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra=_EXTRAS.get(name, ""))
