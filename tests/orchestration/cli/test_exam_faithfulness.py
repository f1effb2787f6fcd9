"""An exam of faithfulness from the command line: texts or a record in, a folder out."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.rows import summary

from spanjury.orchestration.cli import session
from spanjury.orchestration.engine.progress import Tracker
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.rescorable import rescorable_panel

pytestmark = pytest.mark.usefixtures("empty_folder")
faithfulness = partial(spanjury, "exam", "faithfulness")

ROWS: list[dict[str, object]] = [
    {"before": 3, "after": 4, "by": -1, "push": "rises", "treatment": "severity-1"},
    {"before": 3, "after": 3, "by": -2, "push": "rises", "treatment": "severity-2"},
    {"before": 3, "after": 2, "by": 1, "push": "falls", "treatment": "severity+1"},
]
TEXTS: list[dict[str, object]] = [
    summary(name, output, article="The bridge opened in 1932.")
    for name, output in (("good", "It opened in 1932."), ("bad", "It it opened opened in in 1932"))
]


def write(name: str, rows: list[dict[str, object]]) -> Path:
    path = Path(name)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_record_is_analysed_without_a_judge() -> None:
    whose = {"judge": "j", "dataset": "d", "aspect": "a", "text": "t", "family": "severity"}
    record = write("record.jsonl", [{**whose, **row, "errors": 1} for row in ROWS])
    done = faithfulness("--replay", record, "-o", "found")
    assert "no null control" in " ".join(done.output.split())
    values = json.loads(Path("found/findings.json").read_text())
    assert [one["with_room"]["toward"] for one in values["findings"]] == [1, 0, 1]
    assert values["consistency"][0]["reverted"] == 1
    assert "severity-2" in Path("found/report.md").read_text()
    faithfulness("--replay", "found/changes.jsonl", "-o", "again")
    assert json.loads(Path("again/findings.json").read_text()) == values


def test_a_judge_whose_score_is_a_function_of_its_spans_passes() -> None:
    flags = (write("texts.jsonl", TEXTS), "--judge", "form", "--aspect", "fluency", "-o", "exam")
    faithfulness(*flags)
    values = json.loads(Path("exam/findings.json").read_text())
    by_name = {one["condition"]: one for one in values["findings"]}
    assert by_name["null-control"]["overall"]["changed"] == 0
    assert by_name["null-repeat"]["overall"]["changed"] == 0
    assert by_name["critical-error"]["with_room"]["toward"] == 1
    assert not any(one["with_room_against"]["against"] for one in values["findings"])
    assert all(one["broad"] == 0 for one in values["consistency"])
    assert values["rescoring_methods"]["form"].keys() == {"computed"}
    assert values["judge"]["seats"]["form"].startswith("form|")
    page = Path("exam/report.html").read_text().replace("<wbr>", "")
    assert values["judge"]["seats"]["form"] in page
    card = {one["name"]: one["value"] for one in values["card"]["measures"]}
    assert card["faithfulness.null_moved"] == card["faithfulness.against"] == 0
    # Nothing moves of itself here, so that the control takes nothing away.
    assert 0 < card["faithfulness.null_adjusted"] <= card["faithfulness.toward"] <= 1
    for picture in ("critical-error.png", "critical-error.svg"):
        assert Path("exam/pictures", picture).stat().st_size > 0
    size = Path("exam/memory.sqlite3").stat().st_size
    changes = Path("exam/changes.jsonl").read_bytes()
    faithfulness(*flags)
    assert Path("exam/memory.sqlite3").stat().st_size == size
    assert Path("exam/changes.jsonl").read_bytes() == changes


def test_progress_ends_with_all_done(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    @contextmanager
    def looked(tracker: Tracker, *, quiet: bool) -> Iterator[None]:
        assert not quiet
        yield
        looks.append(tracker.line)

    monkeypatch.setattr(session, "judging", looked)
    faithfulness(write("texts.jsonl", TEXTS), "--judge", "form", "--aspect", "fluency")
    rows = Path("faithfulness/changes.jsonl").read_text().splitlines()[1:]
    asked = sum("list_outcome" not in json.loads(row) for row in rows)
    assert looks == [f"judged {asked + 2} of {asked + 2} (100 %)"]


def test_perturbations_are_named_and_the_exam_goes_on_a_card(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    named = ["--perturbation", "worsen-severity:by=2", "--perturbation", "critical-error"]
    texts = write("texts.jsonl", TEXTS)
    faithfulness(texts, "--judge", "form", "--aspect", "fluency", *named, "-o", "exam")
    values = json.loads(Path("exam/findings.json").read_text())
    conditions = {one["condition"] for one in values["findings"] if not one["is_control"]}
    assert conditions == {"worsen-severity:by=2", "critical-error"}
    card = ["exam", "card", "exam", "--require", "faithfulness.against<=0"]
    assert "faithfulness.null_adjusted" in spanjury(*card).output


def test_without_a_judge_the_offline_ones_that_can_rescore_are_examined() -> None:
    faithfulness("--demo", "--limit", "4", "--aspect", "fluency", "-o", "exam")
    values = json.loads(Path("exam/findings.json").read_text())
    assert "form" in values["judge"]["seats"]
    by_name = {(one["judge"], one["condition"]): one for one in values["findings"]}
    # The demo's texts are good: errors were put in, so that there is a list to change.
    assert by_name["form", "severity+2"]["with_room"]["toward"] == 1


def test_judges_that_are_named_stay_as_they_are_named() -> None:
    named = PanelConfig(seats=(SeatConfig(judge="grounding"),))
    assert rescorable_panel(named) is named
    asking = PanelConfig(models=(ModelConfig(name="ollama/gemma2:27b"),))
    assert rescorable_panel(asking) is asking
    chosen = [seat.judge for seat in rescorable_panel(PanelConfig()).seats]
    usual = [seat.judge for seat in PanelConfig().seats_or_default]
    assert "form" in chosen
    assert chosen == [judge for judge in usual if judge in chosen]


def test_a_judge_that_cannot_rescore_is_reported_before_it_is_asked() -> None:
    done = faithfulness(
        write("texts.jsonl", TEXTS), "--judge", "rouge-1", "--aspect", "consistency", code=2
    )
    assert "rouge-1: cannot say which score follows" in done.output


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ((), "not both"),
        (("texts.jsonl", "--replay", "texts.jsonl"), "not both"),
        (("texts.jsonl", "--demo"), "not both"),
        (("--demo", "--replay", "texts.jsonl"), "not both"),
        (("texts.jsonl", "--perturbation", "no-such"), "no-such"),
        (("texts.jsonl", "--aspect", "no-such"), "no-such"),
    ],
)
def test_an_invalid_combination_is_a_usage_error(flags: tuple[str, ...], problem: str) -> None:
    write("texts.jsonl", TEXTS)
    assert problem in faithfulness(*flags, code=2).output


def test_texts_without_a_task_ask_for_a_task() -> None:
    write("texts.jsonl", [{"id": "a", "output": "It opened."}])
    assert "--task" in faithfulness("texts.jsonl", code=2).output
