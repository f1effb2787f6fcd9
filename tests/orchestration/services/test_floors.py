"""Services are low: from any of them a reader comes to the last in five steps at most."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3] / "orchestration" / "services"
PACKAGE = "spanjury.orchestration.services"
FLOORS = 6


def modules(root: Path, package: str) -> Mapping[str, Path]:
    """Return name -> file of every module below `root`."""
    files = (file for file in root.rglob("*.py") if file.stem != "__init__")
    return {
        ".".join((package, *file.relative_to(root).with_suffix("").parts)): file for file in files
    }


def imported(file: Path, names: Mapping[str, Path]) -> Iterator[str]:
    """Yield which of `names` a module imports, wherever it does so."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                if each in names:
                    yield each


def longest_chain(root: Path, package: str) -> tuple[str, ...]:
    """Return the longest chain of imports within a package, from the top down."""
    names = modules(root, package)

    @cache
    def below(name: str) -> tuple[str, ...]:
        chains = (below(each) for each in imported(names[name], names))
        return (name, *max(chains, key=len, default=()))

    return max(map(below, names), key=len)


def test_services_have_six_floors_at_most() -> None:
    chain = longest_chain(ROOT, PACKAGE)
    assert len(chain) <= FLOORS, " > ".join(name.removeprefix(f"{PACKAGE}.") for name in chain)


def test_a_chain_is_counted_from_the_module_that_no_one_imports(tmp_path: Path) -> None:
    for name, text in (
        ("top", "from p import middle"),
        ("middle", "def f():\n    from p.low import x"),
        ("low", "x = 1"),
        ("other", "from p.low import x"),
    ):
        (tmp_path / f"{name}.py").write_text(text)
    assert longest_chain(tmp_path, "p") == ("p.top", "p.middle", "p.low")
