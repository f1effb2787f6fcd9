"""Names become models, behind gateway, meter and memory."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace

from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.models.scrubbed_model import ScrubbedModel
from spanjury.adapters.telemetry.tracing import Tracing
from spanjury.judges.core import ChatModel, Memory, ModelOpener, address_of
from spanjury.judges.text import defused
from spanjury.orchestration.config import ModelConfig
from spanjury.orchestration.memory import RememberedModel, SilentModel
from spanjury.orchestration.metering import Meter
from spanjury.orchestration.wiring.checks import checked_model
from spanjury.orchestration.wiring.plugins import MODELS

__all__ = ["Models", "open_model"]

_ANY_MODEL = "litellm"
"""The opener of every model whose name does not begin with another opener's."""
_FAST = "openai-compatible"
"""The opener that is meant by ``via = "fast"``."""
_OPENAI_LIKE = frozenset(
    {_FAST, "hosted_vllm", "litellm_proxy", "llamafile", "lm_studio", "ollama", "openai"}
)
"""What LiteLLM puts before the names of models whose servers have OpenAI's interface."""


@asynccontextmanager
async def open_model(model: ModelConfig) -> AsyncIterator[Gateway]:
    """Open a model behind the gateway, which bounds, times and retries its calls.

    Raises
    ------
    ConfigError
        If nothing can open a model of that name, or its address is nowhere to be read.
    """
    opener, name = _opener(model)
    options = model.options
    async with AsyncExitStack() as stack:
        opened = [
            await stack.enter_async_context(opener(name, options=at))
            for at in (replace(options, base_url=address_of(url)) for url in model.base_urls)
        ]
        first, *replicas = (
            ScrubbedModel(checked_model(at_server, model.name)) for at_server in opened
        )
        yield Gateway(first, options=options, replicas=tuple(replicas))


def _opener(model: ModelConfig) -> tuple[ModelOpener, str]:
    """Return what opens the model, and the name under which it does."""
    prefix, _, rest = model.name.partition("/")
    if model.via == "fast":
        served = rest if prefix in _OPENAI_LIKE else model.name
        return MODELS.get(_FAST), f"{_FAST}/{served}"
    return MODELS.get(prefix if prefix in MODELS.names() else _ANY_MODEL), model.name


@dataclass(slots=True, kw_only=True)
class Models:
    """The models of a panel: each is opened once, however many seats ask it.

    Parameters
    ----------
    stack
        Closes them.
    memory
        Keeps what they reply, so that they are not asked twice; or None.
    meter
        Counts what they are asked.
    silent
        They are asked nothing: what they replied before is all there is.
    tracing
        Tells of what they are asked.
    """

    stack: AsyncExitStack
    memory: Memory | None
    meter: Meter
    silent: bool
    tracing: Tracing
    open: dict[ModelConfig, ChatModel] = field(default_factory=dict)

    async def get(self, model: ModelConfig) -> ChatModel:
        """Open `model`, if it is not open; raise `ConfigError` as `open_model` does."""
        if model not in self.open:
            gateway = await self.stack.enter_async_context(open_model(model))
            opened: ChatModel = SilentModel(gateway.signature)
            if not self.silent:
                price = model.price or gateway.price
                metered = self.meter.on(gateway, name=model.name, price=price)
                opened = self.tracing.model(metered, name=model.name)
            known = RememberedModel(opened, self.memory) if self.memory else opened
            self.open[model] = defused(known)  # above the memory, whose keys are what is sent
        return self.open[model]
