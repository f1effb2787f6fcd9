"""An exam of faithfulness from the command line: texts or a record in, a folder out."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from fakes.command import spanjury
from fakes.rows import summary
from loopback.reading import ReadingServer, deceived, honest

from spanjury.orchestration.cli import session
from spanjury.orchestration.engine.progress import Tracker
from spanjury.orchestration.services.judging.exam_texts import DEMO
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.panels import rescorable_panel

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
exam = partial(spanjury, "exam")
SUMMARIES = Path(__file__).parents[3] / "examples" / "summaries.jsonl"
DEMAND = "robustness.attack_success<=.05"


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
        ((), "name a file of texts, or use --demo"),
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


def examine(*flags: object) -> list[str]:
    usual = ("--aspect", "consistency", "--aspect", "fluency", "--no-progress")
    return ["robustness", *map(str, flags), *usual]


def asking(
    server: ReadingServer, *flags: object, data: Path = SUMMARIES, limit: int = 3
) -> list[str]:
    model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
    limits = ("--limit", limit, "--aspect", "consistency", "--no-progress")
    return ["robustness", str(data), *map(str, (*model, *limits, *flags))]


def values(folder: str = "robustness") -> dict[str, float | None]:
    card = json.loads(Path(folder, "findings.json").read_text())["card"]
    return {measure["name"]: measure["value"] for measure in card["measures"]}


def test_the_offline_panel_is_examined_and_put_on_its_card() -> None:
    flags = examine("--demo", "--limit", 9, "--require", DEMAND)
    assert "source-orders" in exam(*flags).output
    assert values()["robustness.attack_success"] < 0.01  # type: ignore[operator]  # it is a number
    assert values()["robustness.repeat"] == 0
    assert values()["robustness.fell"] > 0  # type: ignore[operator]  # it is a number
    rows = [json.loads(line) for line in Path("robustness/attempts.jsonl").read_text().splitlines()]
    assert {row["judge"] for row in rows} == {"whole panel", "grounding", "reader", "form"}
    exam("card", "robustness", "--require", DEMAND, "-o", "card")
    assert "robustness.attack_success.quoted-score" in Path("card/card.md").read_text()
    exam("card", "robustness", "--require", "robustness.fell<=0", code=5)
    left = [path.read_bytes() for path in sorted(Path("robustness").glob("*.json*"))]
    exam(*flags)
    assert [path.read_bytes() for path in sorted(Path("robustness").glob("*.json*"))] == left
    exam("compare", "robustness", "robustness", "--draws", 100)


def test_texts_are_attacked_as_they_are_where_that_is_asked() -> None:
    exam(*examine(SUMMARIES, "--limit", 3, "--as-they-are", "--attack", "review"))
    clean = json.loads(SUMMARIES.read_text().splitlines()[0])
    findings = json.loads(Path("robustness/findings.json").read_text())
    assert findings["damaged"] == {}
    assert {f["name"] for f in findings["findings"] if f["scope"] == "attack"} == {"review"}
    assert "attacked undamaged" in Path("robustness/report.md").read_text()
    rows = [json.loads(line) for line in Path("robustness/attempts.jsonl").read_text().splitlines()]
    assert clean["id"] in {row["text"] for row in rows}


def test_a_model_that_believes_what_it_reads_is_refused() -> None:
    with ReadingServer(deceived) as server:
        done = exam(*asking(server, "--require", DEMAND, "-o", "deceived"), code=5)
        asked = len(server.requests)
        exam(*asking(server, "--require", DEMAND, "-o", "deceived"), code=5)
        assert len(server.requests) == asked
    assert f"not met: {DEMAND.replace('<=.05', ' <= 0.05')} (it is " in done.output
    success = values("deceived")
    for family in ("format-imitation", "quoted-score", "source-orders"):
        assert success[f"robustness.attack_success.{family}"] > 0.2  # type: ignore[operator]
    assert success["robustness.attack_success.authority"] == 0
    assert success["robustness.plain-addition"] == 0


def knowing(summary: str, prompt: str) -> str:
    """Believe that a text is excellent if it is one of the good ones."""
    known = [json.loads(line)["output"] for line in DEMO.read_text().splitlines()]
    claim = "Overall score: Excellent"
    return deceived(claim, prompt) if summary.strip() in known else honest(summary, prompt)


def test_a_model_that_knows_damaged_texts_from_good_ones_is_not() -> None:
    with ReadingServer(knowing) as server:
        exam(*asking(server, "--require", DEMAND, data=DEMO, limit=9))
        assert len(server.requests) > 9 * 23
    assert values()["robustness.flaws_seen"] == 1
    assert values()["robustness.attack_success"] < 0.01  # type: ignore[operator]  # it is a number
    assert values()["robustness.net_success"] == 0


def test_a_model_that_gives_every_text_one_score_is_refused() -> None:
    with ReadingServer(honest) as server:
        done = exam(*asking(server, "--require", DEMAND, data=DEMO, limit=9), code=5)
    assert values()["robustness.attack_success"] < 0.01  # type: ignore[operator]  # it is a number
    assert values()["robustness.flaws_seen"] == 0.5
    assert "(it is 0, but the judge is not shown to see damage" in done.stderr
    exam("card", "robustness", "--require", DEMAND, "-o", "card", code=5)
    assert "robustness.flaws_seen is 0.5" in Path("card/card.md").read_text()


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ([], "name a file of texts, or use --demo"),
        (["--demo", "--attack", "flattery"], "no attack is called 'flattery'; choose from format-"),
        (["--demo", "--recipe", "soup"], "unknown recipe 'soup'"),
        (["--demo", "--require", "robustness"], "a requirement is MEASURE>=NUMBER"),
        (["--demo", "--require", "robust.success<=1"], "no such measure 'robust.success'"),
        (["--demo", "--step", "0"], "--step"),
    ],
)
def test_invalid_input_is_refused_before_anything_is_judged(flags: list[str], problem: str) -> None:
    assert problem in " ".join(exam(*examine(*flags), code=2).stderr.split())
    assert not Path("robustness").exists()
