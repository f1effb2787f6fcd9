"""Names become models, each behind a row of wrappers.

From the server upwards, `Models.get` puts before a model

1. `ScrubbedModel`, for each of its servers: no key in replies and errors goes further;
2. `Gateway`: time limit, retries, rates, the choice of a server; with the run's guard a `Circuit`,
   which lets calls through while the model answers;
3. the meter, which counts what calls cost and stops a run at its limits;
4. tracing, which reports each call that is made;
5. `RememberedModel`, where there is a memory: what is remembered passes none of the above;
6. `DefusedModel`, above the memory, so that keys are made of what is sent.

A silent model has a `SilentModel` in place of the first four. `open_model` opens the first two.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from spanjury.adapters.models.circuit import PROBE, Guard
from spanjury.adapters.models.event_loop import Lease
from spanjury.adapters.telemetry.tracing import Tracing, find_tracing
from spanjury.judges.core import ChatModel, Memory, ModelOpener, TokenPrice, address_of
from spanjury.judges.core.lazy import lazily
from spanjury.judges.text import defused
from spanjury.orchestration.engine.memory import RememberedModel, SilentModel
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.replay import Recorder
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.wiring.checks import checked_model
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.plugins import MODELS

with lazily():
    from spanjury.adapters.models import gateway as gateways
    from spanjury.adapters.models import litellm_backend, scrubbed_model

__all__ = [
    "PROBE",
    "Guard",
    "Models",
    "guard_of",
    "listed_price",
    "open_generator",
    "open_model",
    "runs_here",
]

_ANY_MODEL = "litellm"
"""The opener of every model whose name does not begin with another opener's."""
_IN_PROCESS = frozenset({"embedded", "local"})
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


def runs_here(model: ModelConfig) -> bool:
    """Say whether a model runs in this process, and needs no server."""
    return model.name.partition("/")[0] in _IN_PROCESS


def guard_of(policy: FailurePolicy, *, memory: Path | None) -> Guard:
    """Return the guard of a run that begins now, to be made before its memory is opened."""
    return Guard(
        max_outage=policy.max_outage,
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
    """

    stack: AsyncExitStack
    memory: Memory | None
    meter: Meter
    silent: bool
    tracing: Tracing
    guard: Guard | None = None
    recorder: Recorder | None = None
    open: dict[ModelConfig, ChatModel] = field(default_factory=dict)
    prices: dict[ModelConfig, TokenPrice | None] = field(default_factory=dict)

    async def get(self, model: ModelConfig) -> ChatModel:
        """Open `model`, if it is not open; raise `ConfigError` as `open_model` does."""
        if model not in self.open:
            gateway = await self.stack.enter_async_context(open_model(model))
            opened: ChatModel = SilentModel(gateway.signature)
            self.prices[model] = price = model.price or gateway.price
            if not self.silent:
                metered = self.meter.on(
                    self._guarded(gateway, model, price=price), name=model.name, price=price
                )
                opened = self.tracing.model(metered, name=model.name)
            if self.memory is not None:
                is_fresh = self.guard is not None and self.guard.is_fresh
                opened = RememberedModel(opened, self.memory, takes_over=not is_fresh)
            if self.recorder is not None:
                opened = self.recorder.model(opened)
            self.open[model] = defused(opened)  # above the memory, whose keys are what is sent
        return self.open[model]

    def price(self, model: ModelConfig) -> TokenPrice | None:
        """Return the price of a model that is open; None if it is not known."""
        return self.prices[model]

    def _guarded(
        self, gateway: "gateways.Gateway", model: ModelConfig, *, price: TokenPrice | None
    ) -> "gateways.Gateway":
        """Put the guard's circuit before `gateway`, for as long as the model is open."""
        if self.guard is None:
            return gateway
        circuit = self.guard.circuit(model, name=model.name, is_local=runs_here(model))
        self.stack.callback(circuit.detach)
        return gateway.guarded(circuit, spent=partial(self.meter.count, price=price))


@asynccontextmanager
async def open_generator(
    model: ModelConfig, *, memory: Memory | None, meter: Meter, guard: Guard | None = None
) -> AsyncIterator[ChatModel]:
    """Open a model outside of any panel.

    Raise `ConfigError` if nothing can open it, or its cost is limited and its price
    unknown.

    Parameters
    ----------
    model
        Which, and how it is reached.
    memory
        Keeps what it replies, so that it is not asked twice; or None.
    meter
        Counts what it is asked.
    guard
        As in `open_configured_panel`.
    """
    async with AsyncExitStack() as stack:
        models = Models(
            stack=stack,
            memory=memory,
            meter=meter,
            silent=False,
            tracing=find_tracing(),
            guard=guard,
        )
        yield await models.get(model)
