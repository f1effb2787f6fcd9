"""Paths that documents name exist, and the mutator changes one thing at a time."""

import ast
import re
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUOTED = re.compile(r"`([\w*./-]+)`|\]\(([^):#]+)\)")
PATH = re.compile(r"\w/|\.(c|js|lock|md|py|toml)$")
MUTATOR = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "mutants.py"))
MUTATIONS: Callable[[ast.AST], Iterator[object]] = MUTATOR["mutations"]
MUTANT: Callable[[str, int], tuple[ast.Module, str]] = MUTATOR["mutant"]


"""Code without a blank, or the target of a link within the repository."""


def missing(text: str) -> list[str]:
    """Return the paths in a document that lead nowhere; NAME stands for any name."""
    return [path for path in paths(text) if not any(ROOT.glob(path.replace("NAME", "*")))]


def paths(text: str) -> Iterator[str]:
    for match in QUOTED.finditer(text):
        if PATH.search(path := match[1] or match[2]):
            yield path.rstrip("/")


@pytest.mark.parametrize("document", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md"])
def test_every_path_in_a_document_exists(document: str) -> None:
    assert missing((ROOT / document).read_text("utf-8")) == []


def test_a_path_is_found_from_the_root_only() -> None:
    whole = "`orchestration/engine/panel.py`, `judges/rules/`, `stats/*.py`, [it](docs/judges.md)"
    assert missing(whole) == []
    assert missing("`engine/panel.py`, `panel.py`, `judges/rule/`, [it](judges.md)") == [
        "engine/panel.py",
        "panel.py",
        "judges/rule",
        "judges.md",
    ]


def test_only_paths_are_taken_for_paths() -> None:
    names = "`spanjury.exams`, `exam_report`, `results.jsonl`, `just test`, `/readyz`"
    assert missing(f"{names}, [a site](https://docs.litellm.ai/docs)") == []


def mutants(source: str) -> list[str]:
    count = len([*MUTATIONS(ast.parse(source))])
    return [ast.unparse(MUTANT(source, number)[0]) for number in range(count)]


def test_every_operator_condition_number_and_call_is_changed_once() -> None:
    assert mutants("f(a < b or not c)") == [
        "None",
        "f(a < b and (not c))",
        "f(a <= b or not c)",
        "f(a < b or not not c)",
    ]
    assert mutants("x = [min(y) + 2 for y in z if y]") == [
        "x = [min(y) - 2 for y in z if y]",
        "x = [max(y) + 2 for y in z if y]",
        "x = [min(y) + 3 for y in z if y]",
        "x = [min(y) + 2 for y in z if not y]",
    ]


def test_messages_annotations_and_choices_are_left_alone() -> None:
    assert mutants("LIMIT = 3\nx: Literal[1]\nassert x > 0\nraise E(f'{x + 1}')") == []
    assert mutants("zip(a, b, strict=True)") == ["None"]


def test_a_mutant_says_where_it_differs() -> None:
    assert MUTANT("x = 1 + 1\ny = a == b", 3)[1] == "2: a == b -> a != b"
