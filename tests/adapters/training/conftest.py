"""Fixtures for training: a model of 0.8 million weights, one thread, and no network."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from fakes.tiny_chat import save_chat_model


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """For models this small, threads cost more than they bring."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of a random model that can be trained to converse."""
    return save_chat_model(tmp_path_factory.mktemp("base"))
