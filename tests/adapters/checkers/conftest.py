"""No test of checkers reaches the hub, and tiny models run on one thread: more get in their way."""

import pytest


@pytest.fixture(autouse=True)
def _offline_on_one_thread(offline_hub: None, one_thread: None) -> None:
    pass
