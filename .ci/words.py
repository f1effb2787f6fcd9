"""Find the words of words.toml in the project, and say what stands in their place."""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
RULES = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
WORDS: dict[str, str] = RULES["words"]
NAMES: dict[str, str] = RULES["names"]
WORD = re.compile(rf"(?<![a-z])({'|'.join(WORDS)})(?![a-z])", re.IGNORECASE)
DOCSTRING = re.compile(rf'^\s*r?"""({"|".join(RULES["docstrings"]["begin"])})\b')
FOLDERS = ("adapters", "benchmarks", "docs", "judges", "orchestration", "perturbations", "stats")
SPARED = ("CHANGELOG.md", "test_words.py")  # what was renamed, and the test of this file
KINDS = (".py", ".md", ".html", ".js", ".css")


def hits(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and what to say instead, for every word that may not stand at `path`."""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := DOCSTRING.match(line):
            yield number, found[1], "begin with a verb or a noun"
        for found in WORD.finditer(line):
            word = found[1].lower()
            if not path.startswith(tuple(RULES["allowed"].get(word, ()))):
                yield number, word, WORDS[word]


def name_hits(path: str, text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the same for every name that a module binds and that says nothing of what it holds."""
    for line, bound in _bound(text):
        name = bound.strip("_").lower()
        allowed = (*RULES["unchecked"], *RULES["allowed_names"].get(name, ()))
        if name in NAMES and not path.startswith(allowed):
            yield line, name, NAMES[name]


def _bound(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of variables, parameters, fields, functions and classes."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg


def files() -> Iterator[tuple[str, str]]:
    """Yield path and text of all that people read."""
    inside = (file for folder in (*FOLDERS, "tests") for file in sorted((ROOT / folder).rglob("*")))
    for file in (*sorted(ROOT.glob("*.md")), ROOT / "justfile", *inside):
        if file.name == "justfile" or (file.suffix in KINDS and file.name not in SPARED):
            yield file.relative_to(ROOT).as_posix(), file.read_text("utf-8")


def main(*flags: str) -> int:
    """Print every hit, or with ``--counts`` how many there are of each word and folder."""
    counts: Counter[tuple[str, str]] = Counter()
    for path, text in files():
        of_names = name_hits(path, text) if path.endswith(".py") else ()
        for line, word, instead in (*hits(path, text), *of_names):
            counts[word, path.partition("/")[0]] += 1
            if "--counts" not in flags:
                print(f"{path}:{line}: {word!r}: {instead}")
    if "--counts" in flags:
        print("\n".join(f"{n:5} {word:12} {room}" for (word, room), n in sorted(counts.items())))
    return int(bool(counts))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
