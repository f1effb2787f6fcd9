"""The faces hold what they say, and nothing runs that was not asked for."""

import ast
import importlib
import sys
from inspect import isfunction
from pathlib import Path
from typing import get_type_hints

import pytest
from fakes.processes import completed

import spanjury
from spanjury import agents, exams, testing

ROOT = Path(__file__).parents[1]
FOLDERS = ("adapters", "judges", "orchestration", "perturbations", "stats")


@pytest.mark.parametrize(
    "face",
    [
        "spanjury",
        "spanjury.agents",
        "spanjury.exams",
        "spanjury.testing",
        "spanjury.judges.core",
        "spanjury.judges.scoring",
        "spanjury.judges.text",
        "spanjury.judges.tasks",
        "spanjury.orchestration.report",
        "spanjury.perturbations",
        "spanjury.stats",
    ],
)
def test_a_face_holds_what_it_lists_in_order(face: str) -> None:
    module = importlib.import_module(face)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
    assert list(module.__all__) == sorted(module.__all__, key=_isort_key)


def _isort_key(name: str) -> tuple[int, str]:
    kind = 0 if name.isupper() else 1 if name[:1].isupper() else 2
    return kind, name


def test_only_a_module_that_offers_names_of_others_lists_its_names() -> None:
    modules = [*(ROOT / "src" / "spanjury").glob("*.py")]
    modules += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert [str(path.relative_to(ROOT)) for path in modules if _lists_only_its_own(path)] == []


def _lists_only_its_own(path: Path) -> bool:
    """Return whether a module has an ``__all__``, and nothing in it is another module's.

    Another module's name is imported, or loaded by the module's ``__getattr__``.
    """
    source = path.read_text("utf-8")
    if "__all__" not in source:
        return False
    tree = ast.parse(source)
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id == "__all__"
    ]
    if not lists or any(
        isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body
    ):
        return False
    listed = {node.value for node in ast.walk(lists[0]) if isinstance(node, ast.Constant)}
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return not listed & imported


def test_the_annotations_of_every_public_function_can_be_evaluated() -> None:
    # Otherwise its arguments would not be checked.
    for module in (spanjury, agents, exams, testing):
        for function in filter(isfunction, (getattr(module, name) for name in module.__all__)):
            assert get_type_hints(function), function


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = spanjury.nonsense  # type: ignore[attr-defined]  # the point is that it is absent


WATCH = """
import os, sys
seen = []
def hook(event, args):
    writes = event == "open" and isinstance(args[1], str) and set("wax+") & set(args[1])
    if event.startswith("socket.") or writes:
        seen.append((event, str(args[0])))
sys.addaudithook(hook)
sys.dont_write_bytecode = True
import spanjury
heavy = {
    "litellm", "numpy", "openai", "opentelemetry", "pydantic", "pydantic_ai", "ray", "rich",
    "scipy", "structlog", "torch",
}
print(sorted(heavy & sys.modules.keys()), seen)
"""


def test_the_import_is_light_and_touches_neither_network_nor_disk() -> None:
    out = completed([sys.executable, "-c", WATCH])
    assert out.stdout.strip() == "[] []"


def test_the_face_of_the_perturbations_is_light_and_reads_no_word_list() -> None:
    script = (
        "import sys; opened = [];"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])));"
        "import spanjury.perturbations;"
        "print(sorted({'pydantic', 'pydantic_ai', 'litellm', 'scipy'} & sys.modules.keys()),"
        "[path for path in opened if '/lexicon/' in path])"
    )
    out = completed([sys.executable, "-c", script])
    assert out.stdout.strip() == "[] []"
