"""The page on views: its commands run as they stand."""

import re
import shlex
from pathlib import Path

import pytest
from fakes.command import call
from fakes.viewed_runs import ROWS, judge, write_rows

PAGE = (Path(__file__).parents[2] / "docs" / "view.md").read_text("utf-8")
COMMANDS = [
    shlex.split(line, comments=True)
    for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_rows(tmp_path / "rows.jsonl")
    lines = [f"{row['id']},{row['system']},{row['output']!r}" for row in ROWS]
    table = "id,system,summary\n" + "\n".join(line.replace("'", '"') for line in lines) + "\n"
    (tmp_path / "renamed.csv").write_text(table)
    judge(tmp_path, run="other")
    return tmp_path


def test_the_commands_of_the_page_run_as_they_stand(folder: Path) -> None:
    written = []
    for program, *words in COMMANDS:
        assert program == "spanjury"
        if words[0] == "view" and "--html" not in words:  # it would serve until Ctrl-C
            words += ["--html", "served.html"]
        assert "spanjury: " not in call(folder, *words).stderr
        written += [word for word in words if word.endswith(".html")]
    assert all((folder / name).stat().st_size for name in written)
    assert len(set(written)) == 6
