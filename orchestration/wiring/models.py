"""Names become models, each behind a row of wrappers.

From the server upwards, `Models.get` puts before a model

1. `ScrubbedModel`, for each of its servers: no key in replies and errors goes further;
2. `Gateway`: time limit, retries, rates, the choice of a server, and the ledger of the run in
   which each attempt is reserved and settled; with the run's guard a `Circuit`, which lets calls
   through while the model answers;
3. tracing, which reports each call that is made;
4. `RememberedModel`, where there is a memory: what is remembered passes none of the above;
5. `FormingModel`, which chooses the form in which a reply is asked for;
6. `DefusedModel`, above the memory, so that keys are made of what is sent. It knows the model's own
   special tokens by the operator's file, by the memory, or by the model's tokenizer.

A silent model has a `SilentModel` in place of the first three. So has one that batches ask: the
memory then gets its replies by their keys (`orchestration.engine.deferral`). `open_model` opens the
first two.
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
    RunFailedError,
    TemplateTokens,
    TokenPrice,
    address_of,
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
from spanjury.orchestration.wiring.config import EMBEDDED, LOCAL, VLLM, ModelConfig
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
"""The opener of every model whose name does not begin with another opener's."""
_IN_PROCESS = frozenset({EMBEDDED, LOCAL, VLLM})
"""Openers of models that need no server."""
_FAST = "openai-compatible"
"""The opener that is meant by ``client = "lean"``."""
_OPENAI_LIKE = frozenset(
    {_FAST, "hosted_vllm", "litellm_proxy", "llamafile", "lm_studio", "ollama", "openai"}
)
"""LiteLLM's prefixes for models whose servers have OpenAI's interface."""


@asynccontextmanager
async def open_model(model: ModelConfig) -> "AsyncIterator[gateways.Gateway]":
    """Open a model behind the gateway, which bounds, times and retries its calls.

    Raise `ConfigError` if nothing can open a model of that name, or its address is nowhere
    to be read.
    """
    opener, name = _opener(model)
    options = model.options
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(opener(name, options=at))
            for at in (replace(options, base_url=address_of(url)) for url in model.base_urls)
        ]
        first, *replicas = (
            scrubbed_model.ScrubbedModel(checked_model(at_server, model.name))
            for at_server in opened
        )
        lease = Lease()
        stack.callback(lease.end)
        yield gateways.Gateway(first, options=options, replicas=tuple(replicas), lease=lease)


def _opener(model: ModelConfig) -> tuple[ModelOpener, str]:
    """Return what opens the model, and the name under which it does."""
    prefix, _, rest = model.name.partition("/")
    if model.client == "lean":
        served = rest if prefix in _OPENAI_LIKE else model.name
        return MODELS.get(_FAST), f"{_FAST}/{served}"
    return MODELS.get(prefix if prefix in MODELS.names() else _ANY_MODEL), model.name


def listed_price(model: ModelConfig) -> TokenPrice | None:
    """Return the price by which calls of `model` are counted if its description names none.

    None if it is not known. Nothing is opened: the price is that of LiteLLM's list of models, and
    a model that runs here costs nothing.
    """
    prefix = model.name.partition("/")[0]
    if runs_here(model):
        return TokenPrice(prompt=0.0, completion=0.0)
    if model.client == "lean" or (prefix in MODELS.names() and prefix != _ANY_MODEL):
        return None
    return litellm_backend.listed_price(model.name, base_url=model.base_urls[0])


def require_key(model: ModelConfig) -> None:
    """Raise `RunFailedError` if a model has no key, and its provider demands one.

    Nothing is loaded for it. An address of one's own may need none.
    """
    provider = model.name.partition("/")[0]
    is_theirs = model.client is None and model.base_urls == (None,)
    if is_theirs and provider not in MODELS.names() and (missing := missing_key(provider)):
        raise RunFailedError(f"model {model.name} cannot be used: {missing}")


def runs_here(model: ModelConfig) -> bool:
    """Say whether a model runs in this process, and needs no server."""
    return model.name.partition("/")[0] in _IN_PROCESS


async def file_tokens(model: ModelConfig) -> TemplateTokens | None:
    """Return the special tokens in the file that `model` names; None if it names none.

    Raise `ConfigError` if the file cannot be read.
    """
    if model.tokenizer is None:
        return None
    return await to_thread.run_sync(token_files.read_template_tokens, model.tokenizer)


def guard_of(policy: FailurePolicy, *, memory: Path | None) -> Guard:
    """Return the guard of a run that begins now, to be made before its memory is opened."""
    return Guard(
        max_outage=policy.max_outage,
        new_share=partial(UsableShare, least=policy.min_usable, window=policy.usable_window),
        preflight=policy.preflight,
        is_fresh=memory is None or not memory.exists(),
    )


@dataclass(slots=True, kw_only=True)
class Models:
    """The models of a panel: each is opened once, however many seats ask it.

    Parameters
    ----------
    silent
        They are asked nothing: what they replied before is all there is.
    guard
        Has them asked only while they answer; None to let each call fail by itself.
    recorder
        Notes each call and its reply, a remembered one too; None to note nothing.
    deferral
        Has batches answer what is not remembered; None to ask the models.
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
        """Open `model`, if it is not open; raise `ConfigError` as `open_model` does.

        Raise `RunFailedError` if a new run lacks the key.
        """
        if model not in self.open:
            is_asked = not self.silent and self.deferral is None
            if is_asked and self.guard is not None and self.guard.is_fresh:
                require_key(model)  # a run that goes on may ask for nothing
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
                behind = RememberedModel(
                    opened,
                    self.memory,
                    takes_over=not is_fresh,
                    by_key=self._deferred(model, gateway, price=price),
                )
                opened, recalls = behind, behind.recalls
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
        """Return the price of a model, or that of its batches.

        A file may go to a server of one's own: then a price that is given is the price of that.
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
        """Return the price of a model that is open; None if it is not known."""
        return self.prices[model]

    def _note_forms(self, name: str, forms: Mapping[str, Form]) -> None:
        if self.guard is not None:
            self.guard.forms[name] = dict(forms)

    def _note_logprobs(self, name: str, state: Logprobs) -> None:
        if self.guard is not None:
            self.guard.log_probabilities[name] = state

    async def _tokens(self, gateway: "gateways.Gateway", model: ModelConfig) -> RememberedTokens:
        """Return what finds out the special tokens of `model` before it is asked first."""
        file = await file_tokens(model)

        async def ask() -> TemplateTokens | None:
            if file is not None or self.silent:
                return file
            if self.deferral is not None and not self.deferral.asks_tokenizers:
                return None
            if self.guard is not None and self.guard.is_fresh:  # it will be asked for sure
                await gateway.ready()
            return await gateway.template_tokens()

        def note(source: str) -> None:
            if self.guard is not None:
                self.guard.tokenizers[model.name] = source

        memory = self.memory if file is None else None
        return RememberedTokens(ask, memory=memory, signature=gateway.signature, note=note)

    def _circuit(self, model: ModelConfig) -> Circuit | None:
        """Return the guard's circuit for as long as the model is open; None without a guard."""
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

    With a `memory`, nothing is asked twice.

    Raise `ConfigError` if nothing can open it, or its cost is limited and its price
    unknown.
    """
    async with AsyncExitStack() as stack:
        models = Models(stack=stack, memory=memory, meter=meter, guard=guard)
        yield AskedBy(await models.get(model), "writer")
