"""The first page and the guides work as they stand: commands, files, and what they print."""

import re
import shlex
from pathlib import Path

import pytest
from fakes.command import call
from loopback.answers import chat
from loopback.server import LoopbackServer

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r'^```(\w*)(?: title="([^"\n]*)")?\n(.*?)^```', re.DOTALL | re.MULTILINE)
ENDS = re.compile(r"  # exits with (\d)$")
REVIEW = "No Error\n\nOverall score: Good\nExplanation of the score: Nothing is wrong."
PAGES = [DOCS / "start.md", *sorted((DOCS / "guides").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_walked_as_it_stands(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    printed = ""
    with LoopbackServer(chat(REVIEW)) as server:
        for language, name, text in BLOCK.findall(page.read_text("utf-8")):
            here = text.replace("http://localhost:8000/v1", server.base_url)
            if name:
                (tmp_path / name).write_text(here, "utf-8")
            elif language == "sh":
                printed += "".join(output(tmp_path, line) for line in here.splitlines())
            elif language == "python":
                exec(compile(here, str(page), "exec"), {})
                printed += capsys.readouterr().out
            elif language == "text":
                assert [line for line in text.splitlines() if line not in printed] == []
    assert printed


def output(folder: Path, line: str) -> str:
    """Run a command of a page, which ends as the page says, and return all that it prints."""
    code = ENDS.search(line)
    program, *words = shlex.split(ENDS.sub("", line))
    assert program == "spanjury"
    done = call(folder, *words, code=int(code[1]) if code else 0)
    return done.stdout + done.stderr


def test_every_command_of_a_page_exists() -> None:
    """Also those that are not run, since they need a model, a cluster or a browser."""
    for page in PAGES:
        for _, name, text in BLOCK.findall(page.read_text("utf-8")):
            lines = [] if name else text.splitlines()
            for line in (line for line in lines if line.startswith("spanjury ")):
                words = shlex.split(line, comments=True)[1:]
                flags = {word for word in words if word.startswith("--")}
                command = words[: 2 if words[0] in {"exam", "bench", "marks", "panel"} else 1]
                helped = call(Path(), *command, "--help-all", code=None)
                text_of_help = helped.stdout or ""
                if helped.exit_code:
                    text_of_help = call(Path(), *command, "--help").stdout
                assert {flag for flag in flags if flag not in text_of_help} == set(), line


def test_the_table_of_costs_follows_from_the_measured_parts() -> None:
    scale = (DOCS / "scale.md").read_text("utf-8")
    guide = (DOCS / "guides" / "million-rows.md").read_text("utf-8")
    rules, model = (
        float(re.search(rf"^\| {part} \|.*? \| ([\d.]+) ms", scale, re.MULTILINE)[1])  # type: ignore[index]
        for part in ("c₂", "c₁")
    )
    assert f"about {round(rules * 1_000 / 3_600)} hour |" in guide
    assert f"about {round(model * 1_000 / 60)} minutes" in guide
