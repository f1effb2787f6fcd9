"""Change one thing at a time in a module and see whether the tests beside it fail.

Every change is of the syntax tree, in a process of its own that imports the changed module; no
file is written. A mutant is killed if a test fails or takes too long. The command prints each one
that survives, and fails where fewer than 90 % of all are killed.
"""

import argparse
import ast
import importlib
import json
import os
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
MODULES: dict[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("mutants.toml").read_text("utf-8")
)["modules"]
LEAST_KILLED = 0.9
LONGEST = 60
"""Seconds that tests may take at least; ten times what they take unchanged, if that is more."""

SWAPPED_OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
SWAPPED_NAMES = {"min": "max", "any": "all", "find": "rfind", "startswith": "endswith"}
SWAPPED_NAMES |= {new: old for old, new in SWAPPED_NAMES.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """A node of a syntax tree, and a function that changes it in place."""

    node: ast.expr | ast.stmt | ast.comprehension
    change: Callable[[], None]


def mutations(tree: ast.AST) -> Iterator[Mutation]:
    """Yield what can be changed below `tree`, in the order of the source."""
    if isinstance(tree, (ast.Assert, ast.Raise, ast.FormattedValue)) or _is_choice(tree):
        return  # for type checkers, or a message
    if isinstance(tree, (ast.expr, ast.stmt, ast.comprehension)):
        yield from (Mutation(node=tree, change=change) for change in _changes(tree))
    for field, value in ast.iter_fields(tree):
        if field not in {"annotation", "returns", "decorator_list"}:
            for node in value if isinstance(value, list) else [value]:
                if isinstance(node, ast.AST):
                    yield from mutations(node)


def _is_choice(node: ast.AST) -> bool:
    """Return whether no test should repeat `node`: a number with a name, or ``strict=True``."""
    match node:
        case ast.Assign(value=ast.Constant()) | ast.AnnAssign(value=ast.Constant()):
            return True
        case ast.keyword(arg="strict"):
            return True
    return False


def _changes(node: ast.AST) -> Iterator[Callable[[], None]]:
    match node:
        case ast.Compare(ops=ops):
            for place, old in enumerate(ops):
                yield partial(ops.__setitem__, place, SWAPPED_OPERATORS[type(old)]())
        case ast.BoolOp(op=old) | ast.BinOp(op=old) | ast.AugAssign(op=old):
            if new := SWAPPED_OPERATORS.get(type(old)):
                yield partial(setattr, node, "op", new())
        case ast.Constant(value=bool(value)):
            yield partial(setattr, node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield partial(setattr, node, "value", value + 1)
        case ast.Expr(value=ast.Call()):
            yield partial(setattr, node, "value", ast.Constant(None))
        case _:
            yield from _reversals(node)


def _reversals(node: ast.AST) -> Iterator[Callable[[], None]]:
    """Yield what negates a condition or takes the opposite of a function."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
            yield partial(setattr, node, "test", _negated(test))
        case ast.comprehension(ifs=tests):
            for place, test in enumerate(tests):
                yield partial(tests.__setitem__, place, _negated(test))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield partial(setattr, node, "operand", _negated(operand))
        case ast.Name(id=name) if name in SWAPPED_NAMES:
            yield partial(setattr, node, "id", SWAPPED_NAMES[name])
        case ast.Attribute(attr=name) if name in SWAPPED_NAMES:
            yield partial(setattr, node, "attr", SWAPPED_NAMES[name])


def _negated(test: ast.expr) -> ast.expr:
    return ast.UnaryOp(op=ast.Not(), operand=test)


def mutant(source: str, number: int) -> tuple[ast.Module, str]:
    """Return the tree of `source` with one mutation, and a line that says which."""
    tree = ast.parse(source)
    mutation = [*mutations(tree)][number]
    node = mutation.node.target if isinstance(mutation.node, ast.comprehension) else mutation.node
    before = ast.unparse(mutation.node)
    mutation.change()
    after = ast.unparse(mutation.node)
    return ast.fix_missing_locations(tree), f"{node.lineno}: {_short(before)} -> {_short(after)}"


def _short(code: str) -> str:
    line = " ".join(code.split())
    return line if len(line) <= 70 else f"{line[:67]}..."  # noqa: PLR2004


@dataclass(frozen=True, slots=True)
class Replacing(MetaPathFinder, Loader):
    """Import one module from code that was compiled already."""

    name: str
    path: Path
    code: CodeType

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        """Return where the module is, if it is the one that is replaced."""
        del path, target
        return (
            spec_from_file_location(fullname, self.path, loader=self)
            if self.matches(fullname)
            else None
        )

    def matches(self, fullname: str) -> bool:
        """Return whether `fullname` is the module that is replaced."""
        return fullname == self.name

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed code."""
        exec(self.code, module.__dict__)  # noqa: S102  our own code, with one change


def run_tests(path: str, tree: ast.Module, tests: Sequence[str], *, seconds: int) -> bool:
    """Return whether all `tests` pass over `tree` in place of the module at `path`."""
    child = os.fork()
    if not child:
        signal.alarm(seconds)
        _run_and_leave(path, tree, tests)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _run_and_leave(path: str, tree: ast.Module, tests: Sequence[str]) -> None:
    with suppress(BaseException), Path(os.devnull).open("w") as nowhere:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere.fileno(), stream.fileno())
        file = ROOT / "src" / "spanjury" / path
        name = ".".join(("spanjury", *Path(path).with_suffix("").parts))
        sys.meta_path.insert(0, Replacing(name, file, compile(tree, str(file), "exec")))
        options = [
            "-x",
            "-q",
            "--assert=plain",
            "-p",
            "no:cacheprovider",
            "-W",
            "ignore::pytest.PytestWarning",
        ]
        status = pytest.main([*options, *tests])
        if listing := os.environ.get("MUTANTS_LISTING"):
            Path(listing).write_text(json.dumps([*sys.modules]), "utf-8")
        os._exit(status)
    os._exit(1)


def load_libraries(path: str, tree: ast.Module, tests: Sequence[str]) -> int:
    """Import what `tests` need of other packages; return the seconds that a mutant may take."""
    begun = time.monotonic()
    with TemporaryDirectory() as folder:
        listing = Path(folder, "modules.json")
        os.environ["MUTANTS_LISTING"] = str(listing)
        if not run_tests(path, tree, tests, seconds=3600):
            raise SystemExit(f"{path}: its tests fail as it is: {' '.join(tests)}")
        del os.environ["MUTANTS_LISTING"]
        seconds = max(LONGEST, round(10 * (time.monotonic() - begun)))
        own = ("spanjury", "tests", "fakes", "loopback", "conftest", "_", "xdist")
        for name in json.loads(listing.read_text("utf-8")):
            if not name.startswith(own):
                with suppress(Exception):
                    importlib.import_module(name)
    return seconds


def survivors(path: str, tests: Sequence[str], *, sample: int, seed: int) -> tuple[int, list[str]]:
    """Return how many mutants of the module at `path` were run, and which passed all tests."""
    source = (ROOT / path).read_text("utf-8")
    seconds = load_libraries(path, ast.parse(source), tests)
    number = len([*mutations(ast.parse(source))])
    drawn = sorted(np.random.default_rng(seed).permutation(number)[:sample].tolist())
    passed = []
    for n in drawn:
        tree, change = mutant(source, n)
        if run_tests(path, tree, tests, seconds=seconds):
            passed.append(f"{path}:{change}")
            print(f"  survived: {passed[-1]}", flush=True)
    return len(drawn), passed


def main() -> int:
    """Print killed mutants of each module; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", help="paths of modules; all that are listed without")
    parser.add_argument("--sample", type=int, default=20, help="mutants of each module")
    parser.add_argument("--seed", type=int, default=29, help="which mutants are drawn")
    options = parser.parse_args()
    os.chdir(ROOT)
    total = alive = 0
    for path in options.modules or MODULES:
        count, passed = survivors(path, MODULES[path], sample=options.sample, seed=options.seed)
        print(f"{path}: {count - len(passed)} of {count} killed", flush=True)
        total, alive = total + count, alive + len(passed)
    print(f"all: {total - alive} of {total} killed ({1 - alive / total:.0%})")
    return int(alive > (1 - LEAST_KILLED) * total)


if __name__ == "__main__":
    sys.exit(main())
