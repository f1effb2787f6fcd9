"""Small encoders that read windows, for the judge `reader`: run by onnxruntime, exported by torch.

The modules load their libraries when they are used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="train" if name == "export" else "")
