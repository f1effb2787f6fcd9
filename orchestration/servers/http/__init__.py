"""The HTTP service: single checks, batches, and endpoints for operators.

The modules need FastAPI, uvicorn and the Prometheus client, which the extra `serve` installs.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="serve")
