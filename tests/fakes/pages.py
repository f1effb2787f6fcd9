"""Pages of the documentation: their blocks, their commands, and their Python run as printed."""

import ast
import inspect
import re
import shlex
from pathlib import Path

import anyio

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def read_page(name: str) -> str:
    """Return the text of a page, without its ending, in `docs`."""
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


def section(page: str, heading: str) -> str:
    """Return the text below a heading, which begins with its number signs."""
    level = heading.partition(" ")[0]
    return page.partition(f"\n{heading}\n")[2].partition(f"\n{level} ")[0]


def fenced(text: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block."""
    return _BLOCK.findall(text)


def blocks(text: str, language: str) -> list[str]:
    """Return the blocks in one language; the empty one is of those that name none."""
    return [block for kind, block in fenced(text) if kind == language]


def commands(block: str) -> list[list[str]]:
    """Return the words of each line of a shell block, with the program as the first."""
    lines = block.replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


def run_code(code: str, names: dict[str, object]) -> dict[str, object]:
    """Run code that may await with `names`, and return these with the names that it leaves."""
    names.setdefault("__name__", "page")
    compiled = compile(code, "page", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    if not compiled.co_flags & inspect.CO_COROUTINE:
        exec(compiled, names)
        return names

    async def run() -> None:
        await eval(compiled, names)

    anyio.run(run)
    return names


def run_agents_block(heading: str, names: dict[str, object]) -> dict[str, object]:
    """Run the Python block of a section of the page on agents."""
    (code,) = blocks(section(read_page("agents"), f"## {heading}"), "python")
    return run_code(code, names)
