"""Prompts and replies of a row, from the memory of its run and from nowhere else."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fakes.command import call
from fakes.rows import summary
from fakes.viewed_runs import ROWS, TOKEN, judge, open_run, served, write_rows
from loopback.answers import chat
from loopback.server import LoopbackServer

from spanjury.orchestration.wiring.runs import SqliteMemory

REPLY = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
UNREADABLE = "I like it."
GOOD = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
MODEL = "annotator:openai-compatible/judge"
PANEL = """
models = [{{ name = "openai-compatible/judge", base_url = "{url}", max_connections = 1 }}]
seats = [{{ judge = "grounding" }}, {{ judge = "annotator" }}]
{more}
[cascade]
stages = [["grounding"]]
unsure = [0.0, 0.5]
"""
UNSURE, SURE = 0, 1


def judged_by_a_model(folder: Path, *flags: str) -> LoopbackServer:
    """Judge two rows in the run ``run``; return the server, which is gone by then."""
    write_rows(folder / "rows.jsonl", ROWS[:2])
    with LoopbackServer(chat(UNREADABLE), chat(REPLY)) as server:
        model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
        run = ("--run-dir", "run", "--no-progress", "--show", "none", "--no-preflight")
        one = ("--aspect", "fluency", "--max-connections", "1", "--judge", "annotator")
        call(folder, "evaluate", "rows.jsonl", *model, *run, *one, *flags)
    return server


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def asked(run: Path, number: int) -> dict[str, Any]:
    with open_run(run) as view:
        answer: dict[str, Any] = json.loads(json.dumps(view.asked(number)))
        return answer


def test_every_call_is_shown_word_for_word_as_it_went_over_the_wire(tmp_path: Path) -> None:
    server = judged_by_a_model(tmp_path, "--judge", "form")
    sent = [json.dumps(request.body["messages"]) for request in server.requests]
    shown = [asked(tmp_path / "run", number) for number in (0, 1)]
    calls = [made for answer in shown for seat in answer["seats"] for made in seat["calls"]]
    pairs = [json.loads(json.dumps(made)) for made in calls]
    assert sorted(json.dumps(made["messages"]) for made in pairs) == sorted(sent)
    assert sorted(made["reply"] for made in pairs) == sorted((UNREADABLE, REPLY, REPLY))
    assert {seat["judge"] for answer in shown for seat in answer["seats"]} == {
        "annotator:openai-compatible/judge"
    }
    assert len(server.requests) == 3  # the first reply was of no use, and asked for once more
    assert shown[0]["note"] == ""


def test_the_head_says_whether_there_are_replies(tmp_path: Path) -> None:
    judged_by_a_model(tmp_path)
    with open_run(tmp_path / "run") as view:
        assert view.head()["has_replies"] is True
    judge(tmp_path, run="offline")
    with open_run(tmp_path / "offline") as view:
        assert view.head()["has_replies"] is False


def test_prompts_are_shown_while_the_run_holds_its_memory(tmp_path: Path) -> None:
    judged_by_a_model(tmp_path)
    with SqliteMemory(tmp_path / "run" / "memory.sqlite3"):
        assert asked(tmp_path / "run", 0)["seats"]


def test_nothing_is_written_to_the_memory(tmp_path: Path) -> None:
    judged_by_a_model(tmp_path)
    memory = tmp_path / "run" / "memory.sqlite3"
    before = memory.read_bytes()
    assert asked(tmp_path / "run", 0)["seats"]
    assert memory.read_bytes() == before


def test_a_run_whose_judges_ask_no_model_says_so(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl")
    answer = asked(judge(tmp_path), 0)
    assert answer == {
        "seats": [],
        "note": "prompts and replies cannot be shown: its judges ask no model",
    }


def test_a_bare_file_says_that_there_is_no_memory(tmp_path: Path) -> None:
    judged_by_a_model(tmp_path)
    bare = shutil.copy(tmp_path / "run" / "results.jsonl", tmp_path / "bare.jsonl")
    assert "keeps no memory" in str(asked(Path(bare), 0)["note"])


def test_replies_that_are_not_remembered_are_not_asked_for(tmp_path: Path) -> None:
    server = judged_by_a_model(tmp_path)
    memory = tmp_path / "run" / "memory.sqlite3"
    memory.unlink()
    with SqliteMemory(memory):
        pass
    count = len(server.requests)
    answer = asked(tmp_path / "run", 0)
    assert answer["seats"] == []
    assert "holds no reply" in str(answer["note"])
    assert len(server.requests) == count


def test_a_damaged_memory_costs_the_prompts_only(tmp_path: Path) -> None:
    judged_by_a_model(tmp_path)
    (tmp_path / "run" / "memory.sqlite3").write_bytes(b"no database at all, but as long as one")
    for log in (tmp_path / "run").glob("memory.sqlite3-*"):
        log.unlink()
    with open_run(tmp_path / "run") as view:
        assert view.rows == 2
        assert "cannot be shown" in str(view.asked(0)["note"])


"""Rows of `ROWS` in which the rules find an error, and none."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    for name in ("OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer(chat(GOOD)) as server:
        yield server


def judge_in_stages(folder: Path, server: LoopbackServer, *flags: str, more: str = "") -> Path:
    """Judge two rows, of which the model is asked about the first only."""
    write_rows(folder / "rows.jsonl", ROWS[:2])
    (folder / "panel.toml").write_text(PANEL.format(url=server.base_url, more=more))
    run = ("--panel", "panel.toml", "--run-dir", "run", "--no-preflight", "--show", "none")
    one = ("evaluate", "rows.jsonl", "--aspect", "consistency", "--no-progress")
    call(folder, *one, *run, *flags)
    return folder / "run"


def asked_in_stages(run: Path) -> list[dict[str, Any]]:
    """Ask the server of the view, over HTTP, about both rows."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with open_run(run) as view, served(view) as url, httpx.Client(headers=headers) as client:
        rows = (client.get(f"{url}/api/asked", params={"number": n}) for n in (UNSURE, SURE))
        return [answer.raise_for_status().json() for answer in rows]


def test_the_calls_of_an_asked_seat_are_shown(tmp_path: Path, server: LoopbackServer) -> None:
    run = judge_in_stages(tmp_path, server)
    (sent,) = [request.body["messages"] for request in server.requests]
    unsure, _ = asked_in_stages(run)
    (seat,) = unsure["seats"]
    (made,) = seat["calls"]
    assert (seat["judge"], made["messages"], made["reply"]) == (MODEL, sent, GOOD)
    assert unsure["note"] == ""


def test_a_seat_that_was_not_asked_shows_the_reason(tmp_path: Path, server: LoopbackServer) -> None:
    run = judge_in_stages(tmp_path, server)
    _, sure = asked_in_stages(run)
    row = json.loads((run / "results.jsonl").read_text().splitlines()[SURE])
    assert row["unasked"]["why"] == "sure"
    assert sure == {
        "seats": [],
        "note": f"{MODEL}: not asked about this text. {row['unasked']['reason']}",
    }
    assert len(server.requests) == 1


def test_a_budget_that_was_used_up_is_the_reason(tmp_path: Path, server: LoopbackServer) -> None:
    rows = [dict(ROWS[0], id="one"), dict(ROWS[0], id="two", output="It opened in 1935, too.")]
    run = judge_in_stages(tmp_path, server)  # makes the panel
    write_rows(tmp_path / "rows.jsonl", rows)
    flags = ("--panel", "panel.toml", "--run-dir", "short", "--no-preflight", "--show", "none")
    one = ("evaluate", "rows.jsonl", "--aspect", "consistency", "--no-progress")
    call(tmp_path, *one, *flags, "--budget", "1call")
    first, second = asked_in_stages(run.with_name("short"))
    assert ([seat["judge"] for seat in first["seats"]], second["seats"]) == ([MODEL], [])
    assert "The budget of 1 call has 0 calls left" in second["note"]


def test_prompts_of_a_later_run_stay_off_other_rows(tmp_path: Path, server: LoopbackServer) -> None:
    run = judge_in_stages(tmp_path, server)
    before = (run / "results.jsonl").read_bytes()
    whole = (tmp_path / "panel.toml").read_text().partition("[cascade]")[0]
    (tmp_path / "all.toml").write_text(whole)
    flags = ("--panel", "all.toml", "--no-progress", "--show", "none")
    call(tmp_path, "resume", "run", *flags, "-o", "all.jsonl")
    assert len(server.requests) == 2
    (run / "results.jsonl").write_bytes(before)
    _, sure = asked_in_stages(run)
    assert sure["seats"] == []
    assert "not asked about this text" in sure["note"]


def test_the_calls_of_a_calibrated_panel_are_shown(tmp_path: Path, server: LoopbackServer) -> None:
    years = (1932, 1935)
    texts = [
        summary(
            f"text-{number}",
            f"The bridge No. {number + 20} was opened in {years[number % 2]}.",
            article=f"The bridge No. {number + 20} was opened in 1932.",
            human={"consistency": 5 - 3 * (number % 2)},
        )
        for number in range(24)
    ]
    write_rows(tmp_path / "texts.jsonl", texts)
    panel = PANEL.format(url=server.base_url, more="").partition("[cascade]")[0]
    (tmp_path / "panel.toml").write_text(panel)
    one = ("evaluate", "texts.jsonl", "--panel", "panel.toml", "--aspect", "consistency")
    quietly = ("--no-preflight", "--show", "none", "--no-progress", "--run-dir")
    for command in (
        (*one, *quietly, "run"),
        ("calibrate", "run", "--human", "texts.jsonl", "--draws", "100"),
        (*one, "--calibration", "calibration.toml", *quietly, "calibrated"),
    ):
        call(tmp_path, *command)
    for answer in asked_in_stages(tmp_path / "calibrated"):
        assert [seat["judge"] for seat in answer["seats"]] == [MODEL]
