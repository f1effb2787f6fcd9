"""Fixtures for tests of adapters."""

import pytest
from loopback.lanes import KEY, KEYS, LANES, Lane


@pytest.fixture(params=LANES, ids=lambda lane: lane.name.partition("/")[0])
def lane(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """Run a test on every way to an OpenAI-compatible server, with its key in the environment."""
    for variable in KEYS:
        monkeypatch.setenv(variable, KEY)
    assert isinstance(request.param, Lane)
    return request.param
