"""Fixtures for tests of adapters."""

import pytest
from loopback.lanes import EACH_LANE, KEY, KEYS, Lane


@pytest.fixture(params=EACH_LANE)
def lane(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Lane:
    """Run a test on every way to an OpenAI-compatible server, with its key in the environment."""
    for variable in KEYS:
        monkeypatch.setenv(variable, KEY)
    assert isinstance(request.param, Lane)
    return request.param
