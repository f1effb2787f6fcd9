"""The mutator changes one thing at a time, and nothing that no test should repeat."""

import ast
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

MUTATOR = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "mutants.py"))
MUTATIONS: Callable[[ast.AST], Iterator[object]] = MUTATOR["mutations"]
MUTANT: Callable[[str, int], tuple[ast.Module, str]] = MUTATOR["mutant"]


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
