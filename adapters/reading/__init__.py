"""Window readers for the judge `reader`: small models run by onnxruntime and exported by torch.

The libraries are imported only when a module is first used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="train" if name == "export" else "")
