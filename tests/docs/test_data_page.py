"""The page on data: what its section on passages shows is so."""

import json
import re
from pathlib import Path

from spanjury.adapters.files.reading.rows import parse_row
from spanjury.judges.core.passages import COLLECTIONS

PAGE = Path(__file__).parents[2] / "docs" / "data.md"
SECTION = PAGE.read_text("utf-8").partition("### Passages\n")[2].partition("\n### ")[0]


def block(language: str) -> str:
    (shown,) = re.findall(rf"^```{language}\n(.*?)^```", SECTION, re.DOTALL | re.MULTILINE)
    return str(shown)


def test_the_row_is_read_as_the_page_says() -> None:
    segment = parse_row(json.loads(block("json")), line=1)
    assert [*segment.inputs] == ["Question", "Context [1]", "Context [2]"]


def test_the_python_runs_as_it_stands() -> None:
    exec(compile(block("python"), str(PAGE), "exec"), {})


def test_every_header_of_a_collection_is_named() -> None:
    named = SECTION.replace("\n", " ").replace("context(s)", "context`, `retrieved contexts")
    assert {header for header in COLLECTIONS if f"`{header}`" not in named} == set()
