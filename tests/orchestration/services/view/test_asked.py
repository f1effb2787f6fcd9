"""Prompts and replies of a row, from the memory of its run and from nowhere else."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from fakes.command import call
from fakes.viewed_runs import ROWS, judge, open_run, write_rows
from loopback.answers import chat
from loopback.server import LoopbackServer

from spanjury.orchestration.wiring.runs import open_memory

REPLY = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
UNREADABLE = "I like it."


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
    with open_memory(tmp_path / "run" / "memory.sqlite3"):
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
    with open_memory(memory):
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
