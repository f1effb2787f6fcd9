"""Fixtures for every test."""

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of collected data sets, or skip: they are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the collected data sets are not beside this checkout")
    return SHARED_DATA


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run every async test on both event loops, unless a module says otherwise."""
    backend: str = request.param
    return backend
