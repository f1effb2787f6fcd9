"""Files and folders that documents name exist, by their paths from the root of the repository."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUOTED = re.compile(r"`([\w*./-]+)`|\]\(([^):#]+)\)")
"""Code without a blank, or the target of a link within the repository."""
PATH = re.compile(r"\w/|\.(c|js|lock|md|py|toml)$")


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
