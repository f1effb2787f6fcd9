"""What CONTRIBUTING shows works: a judge of somebody else's, installed and named."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

CONTRIBUTING = Path(__file__).parents[3] / "CONTRIBUTING.md"
PROJECT = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "shouting"
version = "0.3"

[tool.setuptools]
py-modules = ["shouting"]
"""
ROW = {"id": "a", "task": "summarization", "output": "It was LOUD there."}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", CONTRIBUTING.read_text(), re.DOTALL)


def test_a_third_partys_judge_is_installed_and_named_on_the_command_line(tmp_path: Path) -> None:
    package, site = tmp_path / "package", tmp_path / "site"
    package.mkdir()
    (package / "shouting.py").write_text(blocks("python")[0])
    (package / "pyproject.toml").write_text(PROJECT + blocks("toml")[0])
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW))

    install = [os.environ.get("UV", "uv"), "pip", "install", "--quiet", "--python", sys.executable]
    offline = ["--offline", "--no-deps", "--no-build-isolation", "--target", str(site)]
    subprocess.run([*install, *offline, str(package)], check=True)

    def spanjury(*args: str) -> str:
        command = [sys.executable, "-m", "spanjury", *args]
        environment = {**os.environ, "PYTHONPATH": str(site), "COLUMNS": "200"}
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    assert "shouting" in spanjury("plugins")
    assert "Mark words in capitals" in spanjury("judges")
    flags = ["--aspect", "fluency", "--judge", "shouting:min_letters=3", "--json"]
    (row,) = map(json.loads, spanjury("evaluate", "rows.jsonl", *flags).splitlines())
    (span,) = row["spans"]
    assert (row["score"], span["text"], span["start"], span["found_by"]) == (
        4,
        "LOUD",
        7,
        ["shouting"],
    )
    signature, _, version = row["seats"][0]["signature"].partition("|spanjury:")
    assert (signature, bool(version)) == ("shouting|min_letters:3|version:1", True)
