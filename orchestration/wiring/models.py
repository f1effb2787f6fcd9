"""Models by name, each behind a stack of wrappers.

From the server upwards, `Models.get` wraps a model in these layers:

1. `ScrubbedModel`, one for each of its servers, removes keys from replies and errors.
2. `Gateway` applies the time limit, retries and rates, chooses a server, and reserves and settles
   each attempt in the ledger of the run. With the run's guard it has a `Circuit`, which lets calls
   through only while the model answers.
3. Tracing reports each call that is made.
4. `RememberedModel`, if there is a memory, answers remembered requests, which reach none of the
   layers 1 to 3.
5. `FormingModel` chooses the form in which a reply is requested.
6. `DefusedModel` escapes special tokens. It is above the memory, so that keys depend on the text
   that is sent. It gets the model's own special tokens from the operator's file, the memory, or the
   model's tokenizer.

A silent model has a `SilentModel` instead of the first three layers. So has a model whose requests
go to batches: the memory then gets its replies by their keys (`orchestration.engine.deferral`).
`open_model` opens the first two layers.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.adapters.causal import attention
from spanjury.adapters.models.circuit import PROBE, Circuit, Guard
from spanjury.adapters.models.event_loop import Lease
from spanjury.adapters.models.outage import UsableShare
from spanjury.adapters.models.server_address import missing_key
from spanjury.adapters.telemetry.tracing import Tracing, find_tracing
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Form,
    Memory,
    ModelOpener,
    PluginError,
    RunFailedError,
    TemplateTokens,
    TokenPrice,
    address_of,
    failing_as,
    without_secrets,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.text import defused
from spanjury.orchestration.engine.deferral import Deferral, DeferredModel
from spanjury.orchestration.engine.forms import FormingModel, Logprobs
from spanjury.orchestration.engine.memory import (
    LIST_ALONE,
    RememberedModel,
    RememberedTokens,
    SilentModel,
)
from spanjury.orchestration.engine.metering import AskedBy, Meter
from spanjury.orchestration.engine.replay import Recorder
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.wiring.checks import checked_model
from spanjury.orchestration.wiring.config import EMBEDDED, LOCAL, TUNED, VLLM, ModelConfig
from spanjury.orchestration.wiring.plugins import MODELS

with lazily():
    from spanjury.adapters.models import gateway as gateways
    from spanjury.adapters.models import litellm_backend, scrubbed_model, token_files
    from spanjury.orchestration.wiring import batch_files

__all__ = [
    "LIST_ALONE",
    "PROBE",
    "Guard",
    "Models",
    "attention",
    "file_tokens",
    "guard_of",
    "listed_price",
    "open_generator",
    "open_model",
    "require_key",
    "runs_here",
]

_ANY_MODEL = "litellm"
"""The opener of every model whose name begins with no other opener's prefix."""
_IN_PROCESS = frozenset({EMBEDDED, LOCAL, TUNED, VLLM})
"""Openers of models that need no server."""
_FAST = "openai-compatible"
"""The opener selected by ``client = "lean"``."""
_OPENAI_LIKE = frozenset(
    {_FAST, "hosted_vllm", "litellm_proxy", "llamafile", "lm_studio", "ollama", "openai"}
)
"""LiteLLM's prefixes for models on servers with OpenAI's interface."""


@asynccontextmanager
async def open_model(model: ModelConfig) -> "AsyncIterator[gateways.Gateway]":
    """Open a model behind the gateway, which limits, times and retries its calls.

    Raise `ConfigError` if nothing can open a model of that name, its address cannot be found, or
    its backend fails to open it.
    """
    opener, name = _opener(model)
    options = model.options
    async with AsyncExitStack() as stack:
        addressed = [replace(options, base_url=address_of(url)) for url in model.base_urls]
        with failing_as(
            lambda error: PluginError(f"model {model.name!r} cannot be opened: {error!r}")
        ):
            opened = [
                await stack.enter_async_context(opener(name, options=server))
                for server in addressed
            ]
        first, *replicas = (
            scrubbed_model.ScrubbedModel(checked_model(at_server, model.name))
            for at_server in opened
        )
        lease = Lease()
        stack.callback(lease.end)
        yield gateways.Gateway(first, options=options, replicas=tuple(replicas), lease=lease)


def _opener(model: ModelConfig) -> tuple[ModelOpener, str]:
    """Return the opener of a model, and the model's name for this opener."""
    prefix, _, rest = model.name.partition("/")
    if model.client == "lean":
        served = rest if prefix in _OPENAI_LIKE else model.name
        return MODELS.get(_FAST), f"{_FAST}/{served}"
    return MODELS.get(prefix if prefix in MODELS.names() else _ANY_MODEL), model.name


def listed_price(model: ModelConfig) -> TokenPrice | None:
    """Return the default price of calls to `model`, used if its configuration names none.

    None if it is unknown. Nothing is opened: the price comes from LiteLLM's list of models, and a
    model that runs here costs nothing.
    """
    prefix = model.name.partition("/")[0]
    if runs_here(model):
        return TokenPrice(prompt=0.0, completion=0.0)
    if model.client == "lean" or (prefix in MODELS.names() and prefix != _ANY_MODEL):
        return None
    return litellm_backend.listed_price(model.name, base_url=model.base_urls[0])


def require_key(model: ModelConfig) -> None:
    """Raise `RunFailedError` if a model has no key but its provider requires one.

    Nothing is loaded. A custom address may require no key.
    """
    provider = model.name.partition("/")[0]
    at_provider = model.client is None and model.base_urls == (None,)
    if at_provider and provider not in MODELS.names() and (missing := missing_key(provider)):
        raise RunFailedError(f"model {model.name} cannot be used: {missing}")


def runs_here(model: ModelConfig) -> bool:
    """Return whether a model runs in this process, and needs no server."""
    return model.name.partition("/")[0] in _IN_PROCESS


async def file_tokens(model: ModelConfig) -> TemplateTokens | None:
    """Return the special tokens in the file that `model` names; None if it names none.

    Raise `ConfigError` if the file cannot be read.
    """
    if model.tokenizer is None:
        return None
    return await to_thread.run_sync(token_files.read_template_tokens, model.tokenizer)


def guard_of(policy: FailurePolicy, *, memory: Path | None) -> Guard:
    """Return the guard of a run that begins now; call this before its memory is opened."""
    return Guard(
        max_outage=policy.max_outage,
        new_share=partial(UsableShare, least=policy.min_usable, window=policy.usable_window),
        preflight=policy.preflight,
        is_fresh=memory is None or not memory.exists(),
    )


@dataclass(slots=True, kw_only=True)
class Models:
    """The models of a panel: each is opened once, however many seats use it.

    `silent` models are never called: only remembered replies are available. `guard` allows calls
    only while models answer; without it each call fails by itself. `recorder` records each call and
    its reply, including remembered ones. With a `deferral`, batches answer requests without
    remembered replies.
    """

    stack: AsyncExitStack
    memory: Memory | None
    meter: Meter
    silent: bool = False
    tracing: Tracing = field(default_factory=find_tracing)
    guard: Guard | None = None
    recorder: Recorder | None = None
    deferral: Deferral | None = None
    open: dict[ModelConfig, ChatModel] = field(default_factory=dict)
    prices: dict[ModelConfig, TokenPrice | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.memory is not None and not self.silent:
            self.stack.enter_context(self.meter.kept_in(self.memory))

    async def get(self, model: ModelConfig) -> ChatModel:
        """Open `model` unless it is open; raise the `ConfigError` of `open_model`.

        Raise `RunFailedError` if a new run lacks the key.
        """
        if model not in self.open:
            is_asked = not self.silent and self.deferral is None
            if is_asked and self.guard is not None and self.guard.is_fresh:
                require_key(model)  # a resumed run may need no call
            gateway = await self.stack.enter_async_context(open_model(model))
            opened: ChatModel = SilentModel(gateway.signature)
            recalls: Callable[[ChatRequest], bool] = _recalls_nothing
            self.prices[model] = price = self._price(model, gateway)
            if is_asked:
                circuit = self._circuit(model)
                gateway.account = self.meter.account(
                    name=model.name, price=price, judged=circuit.judged if circuit else None
                )
                if circuit is not None:
                    gateway.guard(circuit)
                self.meter.attach(gateway)
                opened = self.tracing.model(gateway, name=model.name)
            if self.memory is not None:
                is_fresh = self.guard is not None and self.guard.is_fresh
                remembered = RememberedModel(
                    opened,
                    self.memory,
                    takes_over=not is_fresh,
                    by_key=self._deferred(model, gateway, price=price),
                )
                opened, recalls = remembered, remembered.recalls
            if self.recorder is not None:
                opened = self.recorder.model(opened)
            forming = FormingModel(
                opened,
                takes=gateway.forms,
                memory=self.memory,
                recalls=recalls,
                note=partial(self._note_forms, model.name),
                note_logprobs=partial(self._note_logprobs, model.name),
            )
            tokens = await self._tokens(gateway, model)
            self.open[model] = defused(forming, tokens=tokens.get)
        return self.open[model]

    def _price(self, model: ModelConfig, gateway: "gateways.Gateway") -> TokenPrice | None:
        """Return the price of a model's calls, or of its batches.

        A configured price has no batch discount if the run only writes files, which may go to your
        own server.
        """
        price = model.price or gateway.price
        if price is None or self.deferral is None:
            return price
        return price.in_batch() if self.deferral.reserves or model.price is None else price

    def _deferred(
        self, model: ModelConfig, gateway: "gateways.Gateway", *, price: TokenPrice | None
    ) -> DeferredModel | None:
        if self.deferral is None or self.silent:
            return None
        batched = batch_files.batch_model(gateway, model)
        account = self.meter.account(name=model.name, price=price)
        return DeferredModel(self.deferral, model.name, batched, account)

    def price(self, model: ModelConfig) -> TokenPrice | None:
        """Return the price of an open model; None if it is unknown."""
        return self.prices[model]

    def _note_forms(self, name: str, forms: Mapping[str, Form]) -> None:
        if self.guard is not None:
            self.guard.forms[name] = dict(forms)

    def _note_logprobs(self, name: str, state: Logprobs) -> None:
        if self.guard is not None:
            self.guard.log_probabilities[name] = state

    async def _tokens(self, gateway: "gateways.Gateway", model: ModelConfig) -> RememberedTokens:
        """Return an object that finds the special tokens of `model` before its first call."""
        file = await file_tokens(model)

        async def ask() -> TemplateTokens | None:
            if file is not None or self.silent:
                return file
            if self.deferral is not None and not self.deferral.asks_tokenizers:
                return None
            if self.guard is not None and self.guard.is_fresh:  # a new run certainly calls it
                await gateway.ready()
            return await gateway.template_tokens()

        def note(source: str) -> None:
            if self.guard is not None:
                self.guard.tokenizers[model.name] = source

        memory = self.memory if file is None else None
        return RememberedTokens(ask, memory=memory, signature=gateway.signature, note=note)

    def _circuit(self, model: ModelConfig) -> Circuit | None:
        """Return the guard's circuit while the model is open; None without a guard."""
        if self.guard is None:
            return None
        addresses = ", ".join(without_secrets(url) for url in model.base_urls if url)
        where = f"{model.name} at {addresses}" if addresses else model.name
        circuit = self.guard.circuit(model, name=model.name, where=where, is_local=runs_here(model))
        self.stack.callback(circuit.detach)
        return circuit


def _recalls_nothing(_: ChatRequest) -> bool:
    return False


@asynccontextmanager
async def open_generator(
    model: ModelConfig, *, memory: Memory | None, meter: Meter, guard: Guard | None = None
) -> AsyncIterator[ChatModel]:
    """Open a model outside of any panel.

    With a `memory`, no request is sent twice.

    Raise `ConfigError` if nothing can open it, or its cost is limited and its price is unknown.
    """
    async with AsyncExitStack() as stack:
        models = Models(stack=stack, memory=memory, meter=meter, guard=guard)
        yield AskedBy(await models.get(model), "writer")
