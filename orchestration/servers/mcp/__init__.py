"""The panel as a server of the Model Context Protocol.

The protocol's SDK, whose import takes seconds, is imported on first use.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="mcp")
