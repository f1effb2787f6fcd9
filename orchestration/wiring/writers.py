"""A name becomes a model that writes for an exam, asked, counted and remembered as a judge's is."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from spanjury.adapters.telemetry.tracing import find_tracing
from spanjury.judges.core import ChatModel, Memory
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.wiring.config import ModelConfig
from spanjury.orchestration.wiring.models import Guard, Models

__all__ = ["open_writer"]


@asynccontextmanager
async def open_writer(
    model: ModelConfig, *, memory: Memory | None, meter: Meter, guard: Guard | None = None
) -> AsyncIterator[ChatModel]:
    """Open a model outside of any panel.

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

    Raises
    ------
    ConfigError
        If nothing can open it, or its cost is limited and its price unknown.
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
