"""Prompts and replies of a run with a cascade: of seats that were asked, and why not of others."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fakes.command import call
from fakes.rows import summary
from fakes.viewed_runs import ROWS, TOKEN, open_run, served, write_rows
from loopback.answers import chat
from loopback.server import LoopbackServer

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
"""Rows of `ROWS` in which the rules find an error, and none."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    for name in ("OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer(chat(GOOD)) as server:
        yield server


def judge(folder: Path, server: LoopbackServer, *flags: str, more: str = "") -> Path:
    """Judge two rows, of which the model is asked about the first only."""
    write_rows(folder / "rows.jsonl", ROWS[:2])
    (folder / "panel.toml").write_text(PANEL.format(url=server.base_url, more=more))
    run = ("--panel", "panel.toml", "--run-dir", "run", "--no-preflight", "--show", "none")
    one = ("evaluate", "rows.jsonl", "--aspect", "consistency", "--no-progress")
    call(folder, *one, *run, *flags)
    return folder / "run"


def asked(run: Path) -> list[dict[str, Any]]:
    """Ask the server of the view, over HTTP, about both rows."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with open_run(run) as view, served(view) as url, httpx.Client(headers=headers) as client:
        rows = (client.get(f"{url}/api/asked", params={"number": n}) for n in (UNSURE, SURE))
        return [answer.raise_for_status().json() for answer in rows]


def test_the_calls_of_an_asked_seat_are_shown(tmp_path: Path, server: LoopbackServer) -> None:
    run = judge(tmp_path, server)
    (sent,) = [request.body["messages"] for request in server.requests]
    unsure, _ = asked(run)
    (seat,) = unsure["seats"]
    (made,) = seat["calls"]
    assert (seat["judge"], made["messages"], made["reply"]) == (MODEL, sent, GOOD)
    assert unsure["note"] == ""


def test_a_seat_that_was_not_asked_shows_the_reason(tmp_path: Path, server: LoopbackServer) -> None:
    run = judge(tmp_path, server)
    _, sure = asked(run)
    row = json.loads((run / "results.jsonl").read_text().splitlines()[SURE])
    assert row["unasked"]["why"] == "sure"
    assert sure == {
        "seats": [],
        "note": f"{MODEL}: not asked about this text. {row['unasked']['reason']}",
    }
    assert len(server.requests) == 1


def test_a_budget_that_was_used_up_is_the_reason(tmp_path: Path, server: LoopbackServer) -> None:
    rows = [dict(ROWS[0], id="one"), dict(ROWS[0], id="two", output="It opened in 1935, too.")]
    run = judge(tmp_path, server)  # makes the panel
    write_rows(tmp_path / "rows.jsonl", rows)
    flags = ("--panel", "panel.toml", "--run-dir", "short", "--no-preflight", "--show", "none")
    one = ("evaluate", "rows.jsonl", "--aspect", "consistency", "--no-progress")
    call(tmp_path, *one, *flags, "--budget", "1call")
    first, second = asked(run.with_name("short"))
    assert ([seat["judge"] for seat in first["seats"]], second["seats"]) == ([MODEL], [])
    assert "The budget of 1 call has 0 calls left" in second["note"]


def test_prompts_of_a_later_run_stay_off_other_rows(tmp_path: Path, server: LoopbackServer) -> None:
    run = judge(tmp_path, server)
    before = (run / "results.jsonl").read_bytes()
    whole = (tmp_path / "panel.toml").read_text().partition("[cascade]")[0]
    (tmp_path / "all.toml").write_text(whole)
    flags = ("--panel", "all.toml", "--no-progress", "--show", "none")
    call(tmp_path, "resume", "run", *flags, "-o", "all.jsonl")
    assert len(server.requests) == 2
    (run / "results.jsonl").write_bytes(before)
    _, sure = asked(run)
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
    for answer in asked(tmp_path / "calibrated"):
        assert [seat["judge"] for seat in answer["seats"]] == [MODEL]
