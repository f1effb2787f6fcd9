"""`spanjury evaluate --engine ray`: the limits, the manifest and the signals of a whole run."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes.command import spanjury
from fakes.ray_cluster import ON_RAY, SMALL, ray_cluster
from loopback.answers import Answer, Fault, chat
from loopback.server import LoopbackServer

pytestmark = ON_RAY

ROWS = [
    {"id": f"r{number}", "task": "summarization", "output": f"Text of row {number}."}
    for number in range(200)
]
CHUNKS = 4  # of 64 rows
USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
GOOD = chat("No Error\n\nOverall score: Good", usage=USAGE)
HELD = Answer(body=GOOD.body, fault=Fault.HELD)
PRICE = 0.19  # dollars a call: 90 * .001 + 10 * .01
PANEL = """
[[models]]
name = "openai-compatible/judge"
base_url = "{url}"
max_connections = 1
price = {{ prompt = 1e-3, completion = 1e-2 }}
"""
DEADLINE = 240.0


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Start a cluster of two nodes with a core each."""
    with ray_cluster() as cluster:
        for _ in range(2):
            cluster.add_node(num_cpus=1, **SMALL)
        yield cluster.address


@pytest.fixture
def flags(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the flags of a run in an empty folder with a file of rows."""
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    panel = ["--panel", "panel.toml", "--aspect", "fluency"]
    cluster = ["--engine", "ray", "--ray-address", address, "--run-dir", "run"]
    return ["evaluate", "rows.jsonl", *panel, *cluster]


def offer(server: LoopbackServer) -> None:
    """Let the panel ask `server`."""
    Path("panel.toml").write_text(PANEL.format(url=server.base_url))


def asked_rows(server: LoopbackServer) -> Counter[str]:
    """Count the requests about each row; those that only try the model are about none."""
    outputs = {row["output"]: row["id"] for row in ROWS}
    bodies = [json.dumps(request.body) for request in server.requests]
    return Counter(row for body in bodies for text, row in outputs.items() if text in body)


def shard_rows() -> list[dict[str, Any]]:
    shards = sorted(Path("run/shards").glob("*.jsonl"))
    return [json.loads(line) for shard in shards for line in shard.read_text().splitlines()]


def manifest(name: str = "run.json") -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Path("run", name).read_text())
    return read


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        threading.Event().wait(0.02)  # no event reaches us from other processes


LIMIT = 30.0


def test_a_limit_of_cost_holds_for_all_workers_together_and_a_second_go_asks_the_rest(
    flags: list[str],
) -> None:
    with LoopbackServer(HELD, HELD, GOOD) as server:  # until both workers are there

        def release() -> None:
            wait_until(lambda: len(server.requests) >= 2)
            server.released.set()

        offer(server)
        both = threading.Thread(target=release)
        both.start()
        ended = spanjury(*flags, "--max-cost", str(LIMIT), code=4)
        both.join()
        calls = len(server.requests)
        assert 2 < calls <= LIMIT / PRICE  # and what the next call may take is left
        assert f"{calls} calls, {calls * 100:,} tokens, ${calls * PRICE:.2f}" in ended.output
        judged = {row["id"] for row in shard_rows()}
        assert judged == set(asked_rows(server))
        assert len(judged) == calls - 2  # the two others tried the model
        assert f"{len(judged)} results are in run/shards; run the same command" in ended.output
        assert not Path("run/results.jsonl").exists()
        assert not Path("run/done").exists()

        spanjury(*flags, "--max-cost", "1000")
        assert asked_rows(server) == Counter(row["id"] for row in ROWS)  # each of them once
    results = [json.loads(line) for line in Path("run/results.jsonl").read_text().splitlines()]
    assert [row["id"] for row in results] == [row["id"] for row in ROWS]
    assert {row["outcome"] for row in results} == {"scored"}
    assert Path("run/done").exists()


def test_a_limit_of_cost_without_a_price_is_refused_before_a_call(flags: list[str]) -> None:
    with LoopbackServer(GOOD) as server:
        offer(server)
        Path("panel.toml").write_text(Path("panel.toml").read_text().replace("price", "# price"))
        refused = spanjury(*flags, "--max-cost", "1", code=2)
        assert "no price is known for model 'openai-compatible/judge'" in refused.output
        assert server.requests == ()


def test_a_run_keeps_a_manifest_as_any_run_with_its_cluster(flags: list[str]) -> None:
    with LoopbackServer(GOOD) as server:
        offer(server)
        ended = spanjury(*flags)
        assert "200 results are few for a cluster" in ended.output
        spanjury(*flags[:6], "--run-dir", "alone", "--limit", "1")
        first, alone = manifest(), json.loads(Path("alone/run.json").read_text())
        assert first.keys() - alone.keys() == {"cluster"}
        assert alone.keys() - first.keys() == {
            "assessments",  # a cluster counts its rows later
            "template_tokens",  # its workers keep these three
            "reply_forms",
            "log_probabilities",
        }
        assert first["job"]["panel"] == alone["job"]["panel"]
        assert first["job"]["data"] == alone["job"]["data"] == str(Path("rows.jsonl").absolute())
        assert first["packages"] == alone["packages"]
        cluster = first["cluster"]
        assert cluster["shards"] == CHUNKS
        assert (cluster["nodes"], cluster["cores"], cluster["workers"]) == (3, 2, 2)

        spanjury(*flags)
        assert manifest() == first  # as it was begun
        spanjury(*flags, "--limit", "100", "--ray-chunk-rows", "10")
        assert manifest("run-1.json") == first
        assert (manifest()["job"]["limit"], manifest()["cluster"]["shards"]) == (100, 10)

        asked = len(server.requests)
        for command in ("resume", "rescore"):
            refused = spanjury(command, "run", code=2)
            assert "continue it with the command that began it" in refused.output
        other = [flag if flag != "run" else "alone" for flag in flags]
        refused = spanjury(*other, code=1)
        assert "holds a run of one machine" in refused.output
        assert len(server.requests) == asked
    listed = spanjury("runs", ".").output
    assert "2 runs of " in listed
    assert "cannot be" not in listed  # where the data is named


def test_ctrl_c_ends_a_run_as_on_one_machine_without_loss(flags: list[str], tmp_path: Path) -> None:
    with LoopbackServer(*[GOOD] * 30, HELD) as server:
        offer(server)
        command = [sys.executable, "-m", "spanjury", *flags]
        errors = tmp_path / "errors.txt"
        with errors.open("w") as file:
            run = subprocess.Popen(command, stderr=file, env={**os.environ, "COLUMNS": "200"})
        wait_until(lambda: len(server.requests) >= 32)  # each worker waits for its model
        run.send_signal(signal.SIGINT)
        wait_until(lambda: "interrupted: running assessments have" in errors.read_text())
        server.released.set()
        assert run.wait(DEADLINE) == 130, errors.read_text()
        judged = {row["id"] for row in shard_rows()}
        assert judged == set(asked_rows(server))
        assert len(judged) < len(ROWS)
        assert f"interrupted: {len(judged)} results are in run/shards" in errors.read_text()
        spanjury(*flags)
        assert asked_rows(server) == Counter(row["id"] for row in ROWS)
