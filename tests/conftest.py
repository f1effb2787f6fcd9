"""Fixtures for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.logs import forget_handlers
from hypothesis import settings

# How long an example takes says how busy the machine is; what needs many says so itself.
settings.register_profile("spanjury", deadline=None, max_examples=40)
settings.load_profile("spanjury")

SHARED_DATA = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of collected data sets, or skip: they are not part of the project."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the collected data sets are not beside this checkout")
    return SHARED_DATA


@pytest.fixture(autouse=True)
def _runs_kept_in_a_folder_of_the_test(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPANJURY_RUNS", str(tmp_path_factory.getbasetemp() / "runs"))
    # For commands that are run without our variables.
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "data"))


@pytest.fixture(autouse=True)
def _log_as_configured_by_default() -> Iterator[None]:
    """Undo what a command of the command line sets for its process."""
    yield
    forget_handlers()


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Run every async test on both event loops, unless a module says otherwise."""
    backend: str = request.param
    return backend
