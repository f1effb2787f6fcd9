"""Checkers in the form of Hugging Face's checkpoints, run by onnxruntime or by torch.

The modules load their libraries when they are used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="neural" if name == "torch_model" else "")
