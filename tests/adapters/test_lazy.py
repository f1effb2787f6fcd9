"""Modules that are loaded when they are first used."""

import subprocess
import sys

import pytest

from spanjury.adapters import plots
from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import library, require

DRAW = """
import sys
from pathlib import Path
from spanjury.orchestration.wiring.plots import discernment, faithfulness, meta
assert "matplotlib" not in sys.modules
meta.draw_ranking(Path(sys.argv[1]), systems=(), measure="x")
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""


def test_matplotlib_is_loaded_when_a_picture_is_drawn_and_pyplot_never(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    picture = tmp_path_factory.mktemp("drawn") / "a.png"
    subprocess.run([sys.executable, "-c", DRAW, str(picture)], check=True)
    assert picture.stat().st_size > 0


@pytest.mark.parametrize("module", ["discernment", "faithfulness", "meta"])
def test_without_the_library_the_extra_to_install_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith(plots.__name__ + ".")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ConfigError, match=r"matplotlib is not .*pip install 'spanjury\[plots\]'"):
        require(plots.__getattr__(module))


def test_whoever_only_looks_at_a_lazy_module_does_not_load_it() -> None:
    lazy = plots.__getattr__("canvas")
    assert not hasattr(lazy, "__wrapped__")
    assert lazy.__name__ == "spanjury.adapters.plots.canvas"


def test_there_is_no_module_of_any_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pictures'"):
        plots.__getattr__("pictures")


def test_a_loaded_library_is_the_library() -> None:
    assert library("json", extra="none") is sys.modules["json"]
