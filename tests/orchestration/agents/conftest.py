"""Fixtures for tests of agents."""

from collections.abc import AsyncIterator

import pytest

from spanjury import open_panel
from spanjury.orchestration.engine.panel import Panel


@pytest.fixture
async def panel() -> AsyncIterator[Panel]:
    """Open a panel that compares texts with their source."""
    async with open_panel(judges=["grounding"]) as opened:
        yield opened
