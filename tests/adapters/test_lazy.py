"""Modules that are loaded when they are first used."""

import inspect
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from spanjury.adapters import plots
from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily, library, require

DRAW = """
import sys
from pathlib import Path
from spanjury.orchestration.wiring.plots import discernment, faithfulness, meta
assert "matplotlib" not in sys.modules
meta.draw_ranking(Path(sys.argv[1]), systems=(), measure="x")
assert "matplotlib" in sys.modules
assert "matplotlib.pyplot" not in sys.modules
"""


@pytest.mark.heavy
def test_pyplot_is_never_loaded_for_a_picture(tmp_path_factory: pytest.TempPathFactory) -> None:
    picture = tmp_path_factory.mktemp("drawn") / "a.png"
    subprocess.run([sys.executable, "-c", DRAW, str(picture)], check=True)
    assert picture.stat().st_size > 0


@pytest.mark.parametrize("module", ["discernment", "faithfulness", "meta"])
def test_a_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for name in [name for name in sys.modules if name.startswith(plots.__name__ + ".")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ConfigError, match=r"matplotlib is not .*pip install 'spanjury\[plots\]'"):
        require(plots.__getattr__(module))


def test_inspecting_a_lazy_module_does_not_load_it() -> None:
    lazy = plots.__getattr__("canvas")
    assert not hasattr(lazy, "__wrapped__")
    assert lazy.__name__ == "spanjury.adapters.plots.canvas"


def test_there_is_no_module_of_any_other_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'pictures'"):
        plots.__getattr__("pictures")


def test_a_loaded_library_is_the_library() -> None:
    assert library("json", extra="none") is sys.modules["json"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules are imported, and forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in ("waits", "fails_once"):
        sys.modules.pop(name, None)


def imported_lazily(name: str) -> ModuleType:
    with lazily():
        return import_module(name)


def test_a_module_waits_however_often_it_is_imported(folder: Path) -> None:
    (folder / "waits.py").write_text("import sys\nsys.waits_ran = True\nvalue = 1\n")
    imported_lazily("waits")
    waiting = imported_lazily("waits")
    # As who lists the files of all modules.
    assert not inspect.isclass(waiting)
    assert (waiting.__name__, waiting.__file__) == ("waits", str(folder / "waits.py"))
    assert not hasattr(sys, "waits_ran")
    try:
        assert waiting.value == 1
        assert type(waiting) is ModuleType
    finally:
        del sys.waits_ran  # type: ignore[attr-defined]  # the module has just made it


def test_threads_that_use_a_waiting_module_together_find_it_whole(folder: Path) -> None:
    (folder / "waits.py").write_text(
        "import threading\nfirst = 1\nthreading.Event().wait(0.2)\nlast = 2\n"
    )
    waiting = imported_lazily("waits")
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda _: waiting.last, range(4))) == [2] * 4


def test_a_module_that_failed_is_executed_again_at_the_next_use(folder: Path) -> None:
    (folder / "fails_once.py").write_text(
        "import sys\nif not hasattr(sys, 'failed_once'):\n"
        "    sys.failed_once = True\n    raise RuntimeError('at first')\nvalue = 3\n"
    )
    failing = imported_lazily("fails_once")
    try:
        with pytest.raises(RuntimeError, match="at first"):
            _ = failing.value
        assert failing.value == 3
    finally:
        del sys.failed_once  # type: ignore[attr-defined]  # as above
