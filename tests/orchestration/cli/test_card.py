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


def test_exams_of_earlier_releases_are_carded_and_compared(spanjury: Spanjury) -> None:
    assert spanjury(*examine("dhp/summarization", "earlier")).exit_code == 0
    path = Path("earlier/findings.json")
    values = json.loads(path.read_text())
    for key in ("decisions", "caught", "false_alarms"):
        del values[key]
    added = ("discernment.caught.", "discernment.false_alarms", "discernment.harmless_disturbed")
    kept = [one for one in values["card"]["measures"] if not one["name"].startswith(added)]
    values["card"]["measures"] = kept
    path.write_text(json.dumps(values))
    scores = Path("earlier/scores.jsonl")
    lines = [json.loads(line) for line in scores.read_text().splitlines()]
    for line in lines:
        line.pop("harmless", None)
    scores.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    done = spanjury("exam", "card", "earlier", "--require", "discernment.average>=1")
    assert done.exit_code == 0, done.output
    unknown = spanjury("exam", "card", "earlier", "--require", "discernment.caught.average>=.5")
    assert unknown.exit_code == 2
    assert "no exam has 'discernment.caught.average'" in unknown.output
    assert spanjury("exam", "compare", "earlier", "earlier", "--draws", "100").exit_code == 0


def test_a_demand_on_what_is_caught_is_held_on_the_card(spanjury: Spanjury) -> None:
    flags = examine("standard", "caught")
    flags[flags.index("8")] = "20"
    assert spanjury(*flags).exit_code == 0
    met = ["--require", "discernment.caught.fabricate-detail>=.2"]
    assert spanjury("exam", "card", "caught", *met).exit_code == 0
    missed = spanjury("exam", "card", "caught", "--require", "discernment.caught.average>1")
    assert missed.exit_code == 5


@pytest.mark.parametrize("findings", [None, "{}", "no JSON", '{"card": {"exam": 1}}'])
def test_a_folder_without_a_whole_exam_is_named(spanjury: Spanjury, findings: str | None) -> None:
    Path("exam").mkdir()
    if findings is not None:
        Path("exam/findings.json").write_text(findings)
    done = spanjury("exam", "card", "exam")
    assert done.exit_code == 1
    assert done.output.startswith("spanjury: exam/findings.json: ")
    assert len(done.output.splitlines()) == 1
