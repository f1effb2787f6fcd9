"""Blocks of the page on agents, run as they are printed."""

import re
import textwrap
from pathlib import Path

import anyio

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"


def run_page_block(section: str, names: dict[str, object]) -> dict[str, object]:
    """Run the Python block of a section with `names`, and return the names that it leaves."""
    text = PAGE.read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return run_code(code, names)


def run_code(code: str, names: dict[str, object]) -> dict[str, object]:
    """Run code that may await with `names`, and return the names that it leaves."""
    body = textwrap.indent(code, "    ") + "\n    return locals()"
    held: dict[str, object] = {"__name__": "agents_page", **names}
    exec(f"async def example():\n{body}", held)
    left: dict[str, object] = anyio.run(
        held["example"]  # type: ignore[arg-type]  # exec hides what it defines
    )
    return left
