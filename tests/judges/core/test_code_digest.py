"""The digest of a judge's rules changes with them, and with nothing else."""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from spanjury.judges.core import code_digest as module
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.rules.form import FormJudge
from spanjury.judges.rules.grounding import GroundingJudge

FILES = {
    "rulebook/__init__.py": "",
    "rulebook/judge.py": (
        "from rulebook.table import COSTS\n"
        "from .words import WORDS\n"
        "from json import dumps\n"
        'PACKAGE = "rulebook.data"\n'
        'NO_PACKAGE = ("no.package", "rulebook.gone", "rulebook.table")\n'
    ),
    "rulebook/table.py": "COSTS = (1, 2)\n",
    "rulebook/words.py": "WORDS = ('a',)\n",
    "rulebook/other.py": "OTHER = 1\n",
    "rulebook/data/__init__.py": "",
    "rulebook/data/lists/words.txt": "one\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Lay out a package of rules that can be imported."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("rulebook.judge")
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "rulebook"]:
        del sys.modules[name]


def fresh(*modules: str) -> str:
    """Return the digest as a new process would."""
    return code_digest.__wrapped__(*modules)


@pytest.mark.parametrize(
    "name", [name for name in FILES if "other" not in name and "__init__" not in name]
)
def test_a_change_of_anything_that_is_imported_or_read_counts(folder: Path, name: str) -> None:
    before = fresh("rulebook.judge")
    assert fresh("rulebook.judge") == before
    with (folder / name).open("a") as file:
        file.write("\n# or so\n")
    assert fresh("rulebook.judge") != before


def test_a_change_of_anything_else_does_not_count(folder: Path) -> None:
    before = fresh("rulebook.judge")
    (folder / "rulebook/other.py").write_text("OTHER = 2\n")
    (folder / "rulebook/notes.txt").write_text("two")
    assert fresh("rulebook.judge") == before


def test_without_source_the_version_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    find: Callable[[str], ModuleSpec | None] = importlib.util.find_spec

    def without_source(name: str) -> ModuleSpec | None:
        spec = find(name)
        return ModuleSpec(name, None) if spec and name == "rulebook.table" else spec

    monkeypatch.setattr(module, "find_spec", without_source)
    before = fresh("rulebook.table")
    monkeypatch.setattr(module, "VERSION", "9.9.9")
    assert fresh("rulebook.table") != before


def test_a_loader_without_a_way_to_the_source_changes_no_digest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fresh("rulebook.judge")
    find: Callable[[str], ModuleSpec | None] = importlib.util.find_spec

    def rewriting(name: str) -> ModuleSpec | None:  # as pytest has one for plugins
        spec = find(name)
        if spec and spec.origin and name == "rulebook.table":
            other = ModuleSpec(name, None, origin=spec.origin)
            other.has_location = True
            return other
        return spec

    monkeypatch.setattr(module, "find_spec", rewriting)
    assert fresh("rulebook.judge") == before


def test_the_two_offline_judges_have_rules_of_their_own() -> None:
    digests = {judge.signature.rpartition(":")[2] for judge in (FormJudge(), GroundingJudge())}
    assert len(digests) == 2


def test_the_version_changes_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("spanjury.judges.rules.form", "spanjury.judges.rules.grounding")
    before = [fresh(name) for name in names]
    monkeypatch.setattr(module, "VERSION", "9.9.9")
    assert [fresh(name) for name in names] == before


def test_other_costs_make_another_form_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    before = FormJudge().signature
    monkeypatch.setattr("spanjury.judges.rules.form._COSTS", (0.0, 2.5, 10.0, 25.0, 50.0, 100.0))
    assert FormJudge().signature != before
