"""Fixtures for training: a model of 0.8 million weights, one thread, and no network."""

import pytest
from fakes.tiny_chat import save_chat_model


@pytest.fixture(autouse=True)
def _offline_on_one_thread(offline_hub: None, one_thread: None) -> None:
    pass


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a random model that can be trained to converse."""
    return save_chat_model(tmp_path_factory.mktemp("base"))
