"""An exam of repair from the command line: texts in, planted errors counted before and after."""

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from loopback.rewriting import RewritingServer, by_evidence
from typer.testing import CliRunner, Result

from spanjury import exams, read_segments
from spanjury.orchestration.cli.app import app
from spanjury.orchestration.wiring.config import ModelConfig

Spanjury = Callable[..., Result]

RECIPE = """
task = "summarization"
aspects = ["consistency"]

[[items]]
name = "change-number"
perturbation = "change-number"
level = "word"

[[items]]
name = "contractions"
perturbation = "contractions"
level = "word"
"""


@pytest.fixture
def spanjury(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spanjury:
    """Run the command line in a folder with a recipe and two panels."""
    monkeypatch.chdir(tmp_path)
    Path("numbers.toml").write_text(RECIPE)
    Path("rules.toml").write_text('[[seats]]\njudge = "form"\n')
    Path("guide.toml").write_text('[[seats]]\njudge = "grounding"\n')
    return lambda *args: CliRunner().invoke(app, ["exam", "repair", *map(str, args)])


def asking(server: RewritingServer, *flags: object) -> tuple[object, ...]:
    model = ("--repair-model", "openai-compatible/writer", "--repair-base-url", server.base_url)
    usual = ("--demo", "--limit", 3, "--recipe", "numbers.toml", "--judge", "grounding")
    return (*usual, *model, "--no-progress", *flags)


def measures() -> dict[str, float | None]:
    card = json.loads(Path("repair/findings.json").read_text())["card"]
    return {measure["name"]: measure["value"] for measure in card["measures"]}


def test_wrong_numbers_are_corrected_by_a_model_with_the_evidence(spanjury: Spanjury) -> None:
    with RewritingServer(by_evidence) as server:
        flags = asking(server, "--examiner", "rules.toml", "--require", "repair.removed>=1")
        done = spanjury(*flags)
        assert done.exit_code == 0, done.output
        asked = len(server.requests)
        left = Path("repair/attempts.jsonl").read_bytes()
        again = spanjury(*flags)
        assert again.exit_code == 0, again.output
        assert len(server.requests) == asked  # all is remembered
        assert sum("Reported errors" in str(one.body) for one in server.requests) == 3
    assert Path("repair/attempts.jsonl").read_bytes() == left
    assert measures()["repair.restored"] == 1
    assert measures()["repair.changed"] == 0
    assert measures()["repair.clean_altered"] == 0
    assert "delete every span" in done.output
    rows = [json.loads(line) for line in left.splitlines()]
    assert {row["condition"] for row in rows} == {"", "change-number"}  # contractions do no harm
    assert len(rows) == (3 + 3) * 3
    for name in ("report.md", "report.html"):
        assert "Texts that were not changed" in Path("repair", name).read_text()
    card = CliRunner().invoke(app, ["exam", "card", "repair", "-o", "card"])
    assert card.exit_code == 0, card.output
    assert "repair.net_gain" in Path("card/card.md").read_text()


def test_a_model_that_makes_it_worse_is_seen_and_given_up(spanjury: Spanjury) -> None:
    with RewritingServer(lambda _: "907") as server:
        flags = asking(server, "--examiner", "rules.toml", "--require", "repair.removed>=.5")
        done = spanjury(*flags)
    assert done.exit_code == 5, done.output
    assert measures()["repair.removed"] == 0
    ends = json.loads(Path("repair/findings.json").read_text())["stopped"]
    assert ends["no_better"] == {"damaged": 3, "clean": 0}


def test_an_exam_asks_for_its_required_values(spanjury: Spanjury) -> None:
    for flags, said in (
        (("--demo", "--examiner", "rules.toml"), "name it with --repair-model"),
        (("--demo", "--repair-model", "embedded"), "name it with --examiner"),
        (
            (
                *("--demo", "--repair-model", "embedded", "--examiner", "rules.toml"),
                *("--require", "repair.beauty>=1"),
            ),
            "no such measure",
        ),
    ):
        done = spanjury(*flags)
        assert done.exit_code == 2, done.output
        assert said in done.output


def test_the_guide_is_refused_as_its_own_examiner(spanjury: Spanjury) -> None:
    with RewritingServer(by_evidence) as server:
        done = spanjury(*asking(server, "--examiner", "guide.toml"))
        assert not server.requests
    assert done.exit_code == 2, done.output
    assert "name other judges with --examiner" in done.output


def test_the_same_exam_runs_from_python(spanjury: Spanjury) -> None:
    with RewritingServer(by_evidence) as server:
        command = spanjury(*asking(server, "--examiner", "rules.toml"))
        assert command.exit_code == 0, command.output
        report = exams.repair(
            list(islice(read_segments(exams.DEMO), 3)),
            repair_model=ModelConfig(name="openai-compatible/writer", base_url=(server.base_url,)),
            examiner="rules.toml",
            judges="grounding",
            recipe="numbers.toml",
        )
    saved = {path.name: path.read_bytes() for path in report.save("python")}
    assert saved["attempts.jsonl"] == Path("repair/attempts.jsonl").read_bytes()
    assert report.measures["repair.restored"].value == 1
    assert "Texts that were not changed" in report.to_markdown()
    assert "Damaged texts" in " ".join(report.tables)
