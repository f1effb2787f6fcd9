"""Panels from Python: calibrated, studied, asked in stages and ranked as by the commands."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.command import call

import spanjury
from spanjury import exams
from spanjury.judges.core import ConfigError

Study = Callable[[object], exams.StudyReport[object]]
PEOPLE, RESULTS = "people.jsonl", "results.jsonl"
ROWS = [
    {
        "id": f"{system}-{number}",
        "system": system,
        "inputs": {"Article": f"The bridge opened in {1900 + number}. It has three lanes."},
        "output": f"The bridge opened in {1900 + number + late}.",
        "human": {"consistency": {"ann": 2 if late else 5 - number % 2}},
    }
    for number in range(12)
    for system, late in (("careful", 0), ("hasty", 3))
]
COMMANDS: dict[str, tuple[tuple[str, ...], Study]] = {
    "calibrate": (
        ("calibrate", "--draws", "100", "--rate", "0.3", "-o", "by-command.toml"),
        lambda human: exams.calibrate(
            RESULTS, human=human, draws=100, rate=0.3, output="from-python.toml"
        ),
    ),
    "study": (
        ("panel", "study", "--draws", "20", "--cost", "seconds"),
        lambda human: exams.panel_study(RESULTS, human=human, draws=20, cost="seconds"),
    ),
    "cascade": (
        ("panel", "cascade", "--draws", "0", "--cost", "seconds", "--write", "by-command.toml"),
        lambda human: exams.panel_cascade(
            RESULTS, human=human, draws=0, cost="seconds", output="from-python.toml"
        ),
    ),
    "rank": (("rank",), lambda human: exams.rank(RESULTS, human=human)),
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judge the texts by two offline judges, and keep people's scores beside."""
    folder = tmp_path_factory.mktemp("judged")
    (folder / PEOPLE).write_text("\n".join(map(json.dumps, ROWS)))
    judges = ("grounding", "reader")
    spanjury.evaluate(ROWS, judges=judges, aspects="consistency", output=folder / RESULTS)
    return folder


@pytest.mark.parametrize("name", COMMANDS)
def test_a_study_from_python_is_that_of_the_command(
    name: str, judged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(judged)
    words, study = COMMANDS[name]
    report = study(PEOPLE)
    assert capsys.readouterr() == ("", "")
    done = call(judged, *words, RESULTS, "--human", PEOPLE, "--json")
    assert json.loads(report.to_json()) == json.loads(done.stdout)
    assert all(table.to_dicts() for table in report.tables.values())
    for by_command in judged.glob("by-command.toml"):
        assert by_command.read_text() == Path("from-python.toml").read_text()
        by_command.unlink()
    assert {path.suffix for path in report.save(judged / name)} == {".md", ".html", ".json"}


@pytest.mark.parametrize("name", COMMANDS)
def test_people_may_be_rows(name: str, judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(judged)
    _, study = COMMANDS[name]
    of_file, of_rows = study(PEOPLE).to_json(), study(ROWS).to_json()
    # The digest of a calibration is of where its marks are from, too.
    one, other = (re.sub('"digest": ".*"', "", one) for one in (of_file, of_rows))
    assert other.replace("texts from Python", PEOPLE) == one


def test_a_run_without_marks_explains_how_to_make_them(
    judged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(judged)
    with pytest.raises(ConfigError, match="make some with 'spanjury view results.jsonl'"):
        exams.calibrate(RESULTS, data=PEOPLE)


async def test_each_may_be_awaited(judged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(judged)
    ranked = await exams.arank(RESULTS, human=PEOPLE, aspects="consistency")
    assert [one.aspect for one in ranked.result.aspects] == ["consistency"]
