"""A panel that is replayed from a run's memory, with all calls to its models."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.replay import Call, Recorder
from spanjury.orchestration.wiring.checking import asks_model
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.plugins import CONSOLIDATORS, JUDGES, parameters
from spanjury.orchestration.wiring.runs import open_kept_memory

__all__ = ["Call", "Recorder", "asking_seats", "open_replayed_panel"]


def asking_seats(config: PanelConfig) -> tuple[SeatConfig, ...]:
    """Return the seats whose judges use a model; raise `ConfigError` if a judge is unknown."""
    return tuple(filter(_asks, config.seats_or_default))


@asynccontextmanager
async def open_replayed_panel(
    config: PanelConfig, *, memory: Path, recorder: Recorder
) -> AsyncIterator[Panel]:
    """Open a panel whose models repeat their remembered replies, without any call.

    Judges without a model are left out, unless a model consolidates their reports. Cascade and
    calibration are then left out, too, since they involve all judges, and a seat that was not asked
    has no reply to repeat. Raise the `ConfigError` of `open_configured_panel`, and `StoreError` if
    the memory cannot be read.
    """
    name = config.consolidate.partition(":")[0]
    if "model" not in parameters(CONSOLIDATORS.get(name)):
        config = replace(config, seats=asking_seats(config), cascade=None, calibration=None)
    with open_kept_memory(memory) as kept:
        async with open_configured_panel(
            config, memory=kept, silent=True, again=frozenset(), recorder=recorder
        ) as panel:
            yield panel


def _asks(seat: SeatConfig) -> bool:
    if not isinstance(seat.judge, str):  # a judge that is already built includes its model
        return False
    return seat.judge in JUDGES.names() and asks_model(seat.judge, seat.options)
