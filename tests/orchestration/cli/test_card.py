"""`spanjury exam card` on the folders that exams leave."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from spanjury.orchestration.cli.app import app

Spanjury = Callable[..., Result]


@pytest.fixture
def spanjury(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spanjury:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, [str(arg) for arg in args])


def examine(recipe: str, folder: str) -> list[str]:
    flags = ["--recipe", recipe, "--aspect", "consistency", "--limit", "8", "-o", folder]
    return ["exam", "discernment", "--demo", *flags]


def test_exams_of_one_panel_make_a_page_and_are_held_against_demands(spanjury: Spanjury) -> None:
    assert spanjury(*examine("dhp/summarization", "seen")).exit_code == 0
    assert spanjury(*examine("invariance", "steady")).exit_code == 0
    demands = ["--require", "discernment.average>=1", "--require", "retest.moved<=0"]
    done = spanjury("exam", "card", "seen", "steady", *demands, "-o", "card")
    assert done.exit_code == 0, done.output
    for name in ("discernment.average", "localisation.hits", "invariance.steady"):
        assert name in done.output
    data = json.loads(Path("card/card.json").read_text())
    assert [gate["passed"] for gate in data["gates"]] == [True, True]
    values = {one["name"]: one["value"] for one in data["exams"][0]["measures"]}
    findings = json.loads(Path("seen/findings.json").read_text())
    assert values["discernment.average"] == findings["overall"]["average"]
    assert "| discernment.average >= 1 |" in Path("card/card.md").read_text()
    missed = spanjury("exam", "card", "seen", "--require", "discernment.average>=1e3")
    assert missed.exit_code == 2  # no number as people write them
    missed = spanjury("exam", "card", "seen", "--require", "discernment.average>=1000")
    assert missed.exit_code == 5
    assert "not met: discernment.average >= 1000" in missed.output


@pytest.mark.parametrize("findings", [None, "{}", "no JSON", '{"card": {"exam": 1}}'])
def test_a_folder_without_a_finished_exam_is_named(
    spanjury: Spanjury, findings: str | None
) -> None:
    Path("exam").mkdir()
    if findings is not None:
        Path("exam/findings.json").write_text(findings)
    done = spanjury("exam", "card", "exam")
    assert done.exit_code == 1
    assert done.output.startswith("spanjury: exam/findings.json: ")
    assert len(done.output.splitlines()) == 1
