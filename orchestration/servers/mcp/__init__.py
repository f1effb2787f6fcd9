"""The panel for other programs over the Model Context Protocol.

The modules load the protocol's SDK, which takes seconds, when they are used.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="mcp")
