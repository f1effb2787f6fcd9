"""Fixtures for tests with the embedded model."""

from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal

from spanjury.adapters.models.embedded import open_embedded
from spanjury.judges.core import ModelOptions


@pytest.fixture(scope="module", autouse=True)
def _one_server() -> Iterator[None]:
    """Keep the model served while the tests of a file run, each of which would load it again."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_embedded("embedded", options=ModelOptions())),
    ):
        yield
