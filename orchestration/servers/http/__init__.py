"""The service over HTTP: checks one at a time, batches, and what an operator needs to watch it.

The modules need FastAPI, uvicorn and the client of Prometheus, which come with the extra `serve`.
"""

from types import ModuleType

from spanjury.judges.core.lazy import lazy_module


def __getattr__(name: str) -> ModuleType:
    return lazy_module(__name__, name, extra="serve")
