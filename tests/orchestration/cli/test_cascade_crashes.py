"""A run with a cascade that is killed: no reply is paid twice, and rows stop where they would."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fakes.command import call, judged_rows, start, without_seconds
from fakes.memory import values_in
from loopback.answers import STALL, Answer, chat
from loopback.chaos import Opinion
from loopback.server import LoopbackServer, Received

ROWS = 24
FIRST, SECOND = "annotator:openai-compatible/first", "annotator:openai-compatible/second"
KILLED_AFTER = (3, 9, 11)
"""Replies that each killed process had."""
PANEL = """
models = [
    {{ name = "openai-compatible/first", base_url = "{url}", max_connections = 3 }},
    {{ name = "openai-compatible/second", base_url = "{url}", max_connections = 3 }},
]
seats = [{{ judge = "annotator" }}]

[cascade]
stages = [["annotator:openai-compatible/first"]]
unsure = [0.0, 0.6]
"""


class GatedServer(LoopbackServer):
    """Reviews texts for two models of opposite opinions, until it has given `left` replies."""

    def __init__(self) -> None:
        super().__init__(STALL)
        self.left = ROWS * 2
        self.paid: Counter[tuple[str, str]] = Counter()
        """Replies by model and text."""
        self.held = threading.Event()
        """A request came that is not answered."""
        self.cut = 0
        """Requests that are never answered."""
        self._counting = threading.Lock()

    def record(self, request: Received) -> Answer:
        """Answer `request` while replies are left, and otherwise have it wait for ever."""
        opinion, model = Opinion.of(json.dumps(request.body)), str(request.body["model"])
        with self._counting:
            if not self.left:
                self.held.set()
                self.cut += 1
                return STALL
            self.left -= 1
            self.paid[model, opinion.word] += 1
        score = opinion.score if model == "first" else 6 - opinion.score
        said = Opinion(word=opinion.word, score=score, severity=opinion.severity)
        return chat(f"{said.review} So says {mark(model, opinion.word)}.")


def mark(model: str, word: str) -> str:
    """Return what stands in one reply only."""
    return f"{model}-{word}"


def kept(memory: Path) -> bytes:
    """Return all that a run remembers, while it goes on."""
    return b"\n".join(values_in(memory).values()) if memory.exists() else b""


def arguments(folder: Path, *flags: str) -> tuple[str, ...]:
    if (folder / "run" / "run.json").exists():
        return ("resume", "run", "--no-progress", "--no-preflight", "--show", "none")
    run = ("--run-dir", "run", "--no-progress", "--no-preflight", "--show", "none")
    return ("evaluate", "rows.jsonl", "--aspect", "fluency", "--panel", "panel.toml", *run, *flags)


def prepared(folder: Path, server: GatedServer) -> Path:
    folder.mkdir(exist_ok=True)
    judged_rows(folder, count=ROWS)
    (folder / "panel.toml").write_text(PANEL.format(url=server.base_url))
    return folder


def finish(folder: Path, *flags: str) -> list[dict[str, Any]]:
    """Run to the end; return the rows without what their seats took."""
    call(folder, *arguments(folder, *flags))
    lines = without_seconds(folder / "run" / "results.jsonl").splitlines()
    return [json.loads(line) for line in lines]


def kill(folder: Path, server: GatedServer, *flags: str, replies: int) -> None:
    """Kill a run that has kept so many replies more, and waits for others."""
    server.left = replies
    server.held.clear()
    process = start(folder, *arguments(folder, *flags))
    memory, tick = folder / "run" / "memory.sqlite3", threading.Event()
    while process.poll() is None and not (server.held.is_set() and all_kept(memory, server)):
        tick.wait(0.01)
    process.kill()
    said, complained = process.communicate()
    assert process.returncode < 0, f"{said}{complained}"
    server.drain()
    server.left = ROWS * 2


def all_kept(memory: Path, server: GatedServer) -> bool:
    values = kept(memory)
    return all(mark(*pair).encode() in values for pair in tuple(server.paid))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    with GatedServer() as server:
        return finish(prepared(tmp_path_factory.mktemp("undisturbed"), server))


def test_rows_of_a_killed_run_stop_where_they_would_and_no_reply_is_paid_twice(
    tmp_path: Path, undisturbed: list[dict[str, Any]]
) -> None:
    with GatedServer() as server:
        folder = prepared(tmp_path, server)
        for replies in KILLED_AFTER:
            kill(folder, server, replies=replies)
        assert server.paid.total() == sum(KILLED_AFTER)
        rows = finish(folder)
    assert rows == undisturbed
    asked = [len(row["seats"]) for row in rows]
    assert ({1, 2}, server.paid.total(), {*server.paid.values()}) == ({*asked}, sum(asked), {1})
    assert [row["unasked"] and row["unasked"]["why"] for row in rows] == [
        "sure" if count == 1 else None for count in asked
    ]


def test_a_budget_of_calls_holds_over_kills_and_resumes(
    tmp_path: Path, undisturbed: list[dict[str, Any]]
) -> None:
    wanted = sum(len(row["seats"]) for row in undisturbed)
    budget = ROWS + 4
    assert wanted > budget
    with GatedServer() as server:
        folder = prepared(tmp_path, server)
        for replies in KILLED_AFTER[:2]:
            kill(folder, server, "--budget", f"{budget}calls", replies=replies)
        rows = finish(folder)
        paid = Counter(server.paid)
        assert finish(folder) == rows
        assert server.paid == paid
    assert ({*paid.values()}, paid.total()) == ({1}, sum(len(row["seats"]) for row in rows))
    unsent = budget - paid.total() - server.cut  # reserved, and killed before they were sent
    assert 0 <= unsent <= 2 * 2 * 3
    assert [row["id"] for row in rows] == [str(number) for number in range(ROWS)]
    short = [row for row in rows if row["unasked"] and row["unasked"]["why"] == "budget"]
    assert sum(len(row["unasked"]["seats"]) for row in short) >= wanted - budget
    assert {row["outcome"] for row in short if not row["seats"]} == {"abstained"}
