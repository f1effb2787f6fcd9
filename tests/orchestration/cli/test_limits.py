"""A run ends before its end by what it may cost, and goes on from there."""

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from fakes.command import spanjury
from loopback.answers import STALL, chat
from loopback.server import LoopbackServer, Received
from loopback.worded import WordedServer

from spanjury.orchestration.engine import stopping as braking
from spanjury.orchestration.wiring.runs import RunFolder

ROWS = [
    {"id": str(number), "task": "summarization", "output": f"Text {number}."}
    for number in range(40)
]
USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}
GOOD = chat("No Error\n\nOverall score: Good", usage=USAGE)

LIMIT = 1234  # seconds that no test waits for
ONE_AT_A_TIME = ["--max-connections", "1", "--no-preflight"]  # every request is a row's


PANEL = """
[[models]]
name = "openai-compatible/judge"
base_url = "{url}"
max_connections = 1
price = {{ prompt = 1e-3, completion = 1e-2 }}
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANJURY_RUNS", "home")
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))


def judge(server: LoopbackServer) -> list[str]:
    model = ["--model", "openai-compatible/judge", "--model-base-url", server.base_url]
    return ["evaluate", "rows.jsonl", "--aspect", "fluency", *model, *ONE_AT_A_TIME]


def priced(server: LoopbackServer) -> list[str]:
    Path("panel.toml").write_text(PANEL.format(url=server.base_url))
    return ["evaluate", "rows.jsonl", "--aspect", "fluency", "--panel", "panel.toml"]


def count(path: str) -> int:
    return len(Path(path).read_text().splitlines())


def test_a_limit_of_tokens_ends_the_run_and_a_resume_goes_on() -> None:
    with LoopbackServer(GOOD) as server:
        first = spanjury(*judge(server), "--max-tokens-total", "3500", code=4)
        asked = len(server.requests)
        assert 10 <= asked <= 30  # less the most that another call may take
        assert count("results.jsonl.part") == asked
        assert "tokens are spent, and 3500 is the limit" in first.output
        (run,) = Path("home").iterdir()
        assert f"continue with: spanjury resume {run.name}" in first.output
        spanjury("resume", run.name, code=4)  # within the limit that it was begun with
        spanjury("resume", run.name, "--max-tokens-total", "100000")
        assert len(server.requests) == len(ROWS)
    assert count("results.jsonl") == len(ROWS)
    assert not Path("results.jsonl.part").exists()


def test_a_memory_in_a_file_of_your_own_answers_later_runs_on_other_rows() -> None:
    memory = ("--memory", "kept.sqlite3", "-o", "out.jsonl")
    with LoopbackServer(GOOD) as server:
        first = spanjury(*judge(server), *memory, "--max-tokens-total", "3500", code=4)
        assert "run the same command to continue: kept.sqlite3 has the answers" in first.output
        spanjury(*judge(server), *memory)
        assert len(server.requests) == len(ROWS)
        more = {"id": "new", "task": "summarization", "output": "A new text."}
        Path("rows.jsonl").write_text("\n".join(map(json.dumps, [more, *ROWS[1:]])))
        spanjury(*judge(server), *memory)
        assert len(server.requests) == len(ROWS) + 1
    assert count("out.jsonl") == len(ROWS)
    assert not Path("home").exists()


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        (["--run-dir", "run"], "--memory cannot be combined with --run-dir"),
        (["--no-memory"], "--memory cannot be combined with --no-memory"),
        (["--batch-api"], "--memory cannot be combined with batches"),
        (["--engine", "ray", "--run-dir", "run"], "--memory cannot be combined with --run-dir"),
        (["--engine", "ray"], "--engine ray cannot be combined with --memory"),
    ],
)
def test_a_memory_in_a_file_of_your_own_belongs_to_no_run(flags: list[str], problem: str) -> None:
    refused = spanjury("evaluate", "rows.jsonl", "--memory", "kept.sqlite3", *flags, code=2)
    assert problem in refused.output


def stopped(server: LoopbackServer) -> RunFolder:
    """Return a run that ended at a limit, with an unreadable reply about the first text."""
    spanjury(*judge(server), "--max-tokens-total", "3500", code=4)
    (run,) = map(RunFolder, Path("home").iterdir())
    assert run.rows_at_stop == count("results.jsonl.part")
    assert count("results.jsonl.part") > 10
    return run


def test_a_resume_that_ends_before_an_earlier_session_did_keeps_the_results_of_that_one() -> None:
    unreadable = {"Text 0.": chat("I like it.", usage=USAGE)}
    with WordedServer(unreadable, otherwise=GOOD) as server:
        run = stopped(server)
        parts = [Path("results.jsonl.part"), run.path / "results.jsonl.part"]
        before = [part.read_bytes() for part in parts]
        rows = count("results.jsonl.part")
        # The first text is due before any remembered row, and no call is allowed.
        none = ("--retry-failed", "--max-tokens-total", "1")
        again = spanjury("resume", run.path.name, *none, code=4)
        assert f"{rows} of 40 results are in {parts[0].absolute()}\n" in again.output
        assert [part.read_bytes() for part in parts] == before
        assert run.rows_at_stop == rows
    with LoopbackServer(GOOD) as server:
        url = ("--model-base-url", server.base_url)
        spanjury("resume", run.path.name, "--retry-failed", "--max-tokens-total", "99999", *url)
    assert count("results.jsonl") == count(f"{run.path}/results.jsonl") == 40
    assert not [*Path().glob("*.part*"), *run.path.glob("*.part*")]


def test_a_run_that_goes_on_with_another_aspect_counts_its_own_results_alone() -> None:
    with LoopbackServer(GOOD) as server:
        run = stopped(server)
        former = run.rows_at_stop
        other = ("--aspect", "coherence", "--max-tokens-total", "2900")
        again = spanjury("resume", run.path.name, *other, code=4)
    rows = count("results.jsonl.part")
    assert former is not None
    assert 0 < rows < former
    assert f"{rows} of 40 results are in " in again.output
    assert run.rows_at_stop == rows
    written = map(json.loads, Path("results.jsonl.part").read_text().splitlines())
    assert {row["aspect"] for row in written} == {"coherence"}


def test_a_limit_of_cost_goes_by_the_price_in_the_panel_file() -> None:
    with LoopbackServer(GOOD) as server:  # 90 * .001 + 10 * .01 = .19 dollars a call
        ended = spanjury(*priced(server), "--max-cost", "15", code=4)
        assert 10 <= len(server.requests) <= 78
        assert "and $15 is the limit" in ended.output


def test_a_limit_of_cost_without_a_price_is_refused_before_a_call() -> None:
    with LoopbackServer(GOOD) as server:
        refused = spanjury(*judge(server), "--max-cost", "1", code=2)
        assert "no price is known for model 'openai-compatible/judge'" in refused.output
        assert server.requests == ()


@pytest.fixture
def time_is_over_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[LoopbackServer, int], None]:
    """Let the time of a run be over when the server has been sent so many requests."""
    sleep = anyio.sleep

    def at(server: LoopbackServer, requests: int) -> None:
        async def wait(seconds: float) -> None:
            while seconds == LIMIT and len(server.requests) < requests:
                await sleep(0.01)
            await sleep(0 if seconds == LIMIT else seconds)

        monkeypatch.setattr(anyio, "sleep", wait)

    monkeypatch.setattr(braking, "GRACE", 0.1)
    return at


def test_a_limit_of_time_drops_what_takes_longer_than_the_grace(
    time_is_over_at: Callable[[LoopbackServer, int], None],
) -> None:
    with LoopbackServer(*[GOOD] * 5, STALL) as server:
        time_is_over_at(server, 6)
        ended = spanjury(*judge(server), "--max-seconds", str(LIMIT), code=4)
    assert f"{LIMIT} seconds are over: 5 of 40 results" in ended.output
    assert count("results.jsonl.part") == 5


@pytest.mark.heavy
def test_a_limit_of_time_ends_an_exam_and_the_same_command_goes_on(
    time_is_over_at: Callable[[LoopbackServer, int], None],
) -> None:
    with LoopbackServer(*[GOOD] * 5, STALL, GOOD) as server:
        time_is_over_at(server, 6)
        exam = [
            "exam",
            "discernment",
            "--demo",
            "--recipe",
            "standard",
            "--limit",
            "2",
            *judge(server)[2:],
            "-o",
            "exam",
        ]
        ended = spanjury(*exam, "--max-seconds", str(LIMIT), code=4)
        assert f"{LIMIT} seconds are over: 5 assessments are kept" in ended.output
        assert not Path("exam/report.md").exists()
        spanjury(*exam)
        assert Path("exam/report.md").exists()


def test_a_dry_run_asks_nothing_and_needs_no_server() -> None:
    with LoopbackServer(GOOD) as server:
        flags = priced(server)
        done = spanjury(*flags, "--dry-run")
        assert len(server.requests) == 0
        assert not Path("home").exists()
        assert not list(Path().glob("results*"))
        spanjury(*flags, "--limit", "1", "--no-preflight")
        (prompt,) = map(prompt_bytes, server.requests)
    lines = figures(done.output)
    assert cells(lines["calls"]) == ["calls", "40", "40"]
    tokens, longest = (int(cell.replace(",", "")) for cell in cells(lines["tokens"])[1:])
    assert abs(tokens - 40 * (prompt / 4 + 200)) <= 40
    assert longest >= 40 * (prompt / 3 + 1024)
    assert "seconds" not in lines
    assert "no model was asked" in done.output
    assert "replies of 200 tokens" in done.output
    assert "--dry-run=live" in done.output


def prompt_bytes(request: Received) -> int:
    messages = request.body["messages"]
    assert isinstance(messages, list)
    return sum(len(message["content"].encode()) for message in messages)


def test_a_dry_run_without_key_address_or_paid_judge_says_what_it_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_COMPATIBLE_API_KEY", raising=False)
    with LoopbackServer(GOOD) as server:
        done = spanjury(*judge(server), "--judge", "searcher", "--dry-run")
        assert server.requests == ()
    assert (
        "the number of calls of searcher:openai-compatible/judge depends on its replies"
        in done.output
    )
    assert "no price is known for openai-compatible/judge" in done.output
    assert cells(figures(done.output)["dollars"]) == ["dollars", "unknown", "unknown"]
    free = spanjury("evaluate", "rows.jsonl", "--judge", "form", "--dry-run")
    assert cells(figures(free.output)["calls"]) == ["calls", "0", "0"]
    assert cells(figures(free.output)["dollars"]) == ["dollars", "0.0000", "0.0000"]


def test_a_dry_run_with_an_unpriced_model_calls_its_dollars_a_minimum() -> None:
    with LoopbackServer(GOOD) as server:
        command = priced(server)
        unpriced = f'[[models]]\nname = "openai-compatible/b"\nbase_url = "{server.base_url}"\n'
        Path("panel.toml").write_text(Path("panel.toml").read_text() + unpriced)
        for flag in ("--dry-run", "--dry-run=live"):
            dollars = cells(figures(spanjury(*command, flag).output)["dollars"])
            assert dollars[1].startswith("over "), flag


def test_a_dry_run_of_a_shard_without_rows_costs_nothing() -> None:
    with LoopbackServer(GOOD) as server:
        for flag in ("--dry-run", "--dry-run=live"):
            done = spanjury(*judge(server), "--limit", "1", "--shard", "2/2", flag)
            assert cells(figures(done.output)["calls"])[1] == "0"
        assert server.requests == ()


def test_a_live_dry_run_says_what_it_pays_for_and_leaves_nothing() -> None:
    with LoopbackServer(GOOD) as server:
        done = spanjury(*priced(server), "--dry-run=live")
        assert len(server.requests) == 20
    price = "20 of 40 assessments are made now. They cost 20 calls, about "
    assert done.output.startswith(price)
    assert " if replies are long)" in done.output.splitlines()[0]
    lines = figures(done.output)
    assert "40 to 40" in lines["calls"]
    assert "4,000 to 4,000" in lines["tokens"]
    assert "7.6" in lines["dollars"]
    assert "20 of 40 assessments: 20 scored" in done.output
    assert not Path("home").exists()
    assert not list(Path().glob("results*"))


def figures(output: str) -> dict[str, str]:
    """Return the lines of a table by their first word."""
    return {line.split()[1]: line for line in output.splitlines() if line.startswith("│")}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_a_rescore_asks_no_model_even_where_none_replied() -> None:
    with LoopbackServer(GOOD) as server:
        spanjury(*judge(server), "--max-tokens-total", "3000", "--run-dir", "run", code=4)
        asked = len(server.requests)
        spanjury("rescore", "run", "-o", "again.jsonl", "--aggregate", "median")
        assert len(server.requests) == asked
        rows = [json.loads(line) for line in Path("again.jsonl").read_text().splitlines()]
        assert [row["outcome"] for row in rows].count("scored") == asked
        assert {row["aggregation"] for row in rows if row["score"] is not None} == {"median"}
        unscored = [row["reason"] for row in rows if row["score"] is None]
        assert len(unscored) == len(ROWS) - asked
        assert all("is not asked" in reason for reason in unscored)
        spanjury("resume", "run", "--max-tokens-total", "99999")
        assert len(server.requests) == len(ROWS)


def test_runs_are_listed_by_the_names_that_resume_takes() -> None:
    spanjury("evaluate", "rows.jsonl", "--judge", "form")
    (run,) = Path("home").iterdir()
    listed = spanjury("runs")
    assert listed.stderr.startswith("1 run of ")
    (line,) = listed.stdout.splitlines()
    assert line.startswith(f"{run.name}\tdone\t")


def test_a_run_without_memory_leaves_the_results_alone() -> None:
    spanjury("evaluate", "rows.jsonl", "--no-memory", code={0, 3})
    assert not Path("home").exists()
    assert count("results.jsonl") > 0


def test_data_is_judged_even_if_no_run_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").write_text("no folder")
    monkeypatch.setenv("SPANJURY_RUNS", "file")
    done = spanjury("evaluate", "rows.jsonl", "--judge", "form")
    assert "this run cannot be resumed" in done.output
    assert count("results.jsonl") > 0


def test_the_lean_client_takes_the_names_of_litellm() -> None:
    with LoopbackServer(GOOD) as server:
        model = ["--model", "hosted_vllm/google/gemma", "--via", "fast"]
        spanjury(
            "evaluate", "rows.jsonl", *model, "--model-base-url", server.base_url, "--limit", "2"
        )
        assert {request.body["model"] for request in server.requests} == {"google/gemma"}
    spanjury("evaluate", "rows.jsonl", *model, "--via", "slow", code=2)


def test_a_shard_without_rows_has_results_all_the_same() -> None:
    for shard in ("1/2", "2/2"):
        spanjury("evaluate", "rows.jsonl", "--limit", "1", "--shard", shard)
    spanjury("merge", "results.shard-1-of-2.jsonl", "results.shard-2-of-2.jsonl")
    assert count("results.jsonl") > 0
    assert count("results.jsonl") == count("results.shard-1-of-2.jsonl")


def test_rows_of_one_source_are_judged_in_turn() -> None:
    sources = "abcabcab"
    rows = [
        {"id": str(n), "task": "summarization", "inputs": {"Article": source}, "output": f"T {n}."}
        for n, source in enumerate(sources)
    ]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with LoopbackServer(GOOD) as server:
        spanjury(*judge(server), "--order", "source")
    ids = [json.loads(line)["id"] for line in Path("results.jsonl").read_text().splitlines()]
    assert "".join(sources[int(row_id)] for row_id in ids) == "aaabbbcc"
    assert ids == sorted(ids, key=lambda row_id: (sources[int(row_id)], int(row_id)))


@pytest.mark.parametrize("flags", [("--show", "all"), ("--json",), ("--order", "source")])
def test_a_cluster_refuses_flags_it_cannot_use(flags: tuple[str, ...]) -> None:
    refused = spanjury(
        "evaluate", "rows.jsonl", "--engine", "ray", "--run-dir", "run", *flags, code=2
    )
    assert f"--engine ray cannot be combined with {flags[0]}" in refused.output
    assert not Path("run").exists()
