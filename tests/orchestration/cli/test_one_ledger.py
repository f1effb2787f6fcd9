"""A limit holds for every call that reaches a server, whoever makes it and however a run ends."""

import json
import threading
from pathlib import Path

import pytest
from fakes.command import call, judged_rows, start
from loopback.answers import STALL, Answer, chat
from loopback.chaos import Opinion
from loopback.server import LoopbackServer, Received

ROWS = 24
PROMPT, REPLY = 90, 10
"""Tokens that the server says a call took; their prices make it 0.19 dollars."""
USAGE = {"prompt_tokens": PROMPT, "completion_tokens": REPLY, "total_tokens": PROMPT + REPLY}
UNREADABLE = chat(
    "I like it.", usage={"prompt_tokens": 500, "completion_tokens": 500, "total_tokens": 1000}
)
"""A reply of 1,000 tokens and 5.5 dollars, after which the judge asks once more."""
PANEL = """
models = [
    {{ name = "openai-compatible/first", base_url = "{url}", price = {price} }},
    {{ name = "openai-compatible/second", base_url = "{url}", price = {price} }},
]
seats = [{{ judge = "annotator" }}]
consolidate = "{consolidate}"

[cascade]
stages = [["annotator:openai-compatible/first"]]
unsure = [0.0, 1.0]
{budget}
"""
PRICE = "{ prompt = 1e-3, completion = 1e-2 }"
QUIET = ("--no-progress", "--show", "none")


class Reviewers(LoopbackServer):
    """Two models that mark the last word, of which a server may hold back replies for ever.

    They take a consolidator's question for a text, so that its calls are repeated.
    """

    def __init__(self) -> None:
        super().__init__(STALL)
        self.left = 10**6
        self.held = threading.Event()
        self._counting = threading.Lock()

    def record(self, request: Received) -> Answer:
        """Answer `request` while replies are left, and otherwise have it wait for ever."""
        super().record(request)
        with self._counting:
            if not self.left:
                self.held.set()
                return STALL
            self.left -= 1
        text = json.dumps(request.body)
        review = Opinion.of(text).review if "ends in" in text else "ready"
        return chat(review, usage=USAGE)


def prepared(
    folder: Path, server: LoopbackServer, *, consolidate: str = "rules", budget: str = ""
) -> tuple[str, ...]:
    """Write rows and a panel file; return the arguments that judge them."""
    judged_rows(folder, count=ROWS)
    limit = f'budget = "{budget}"' if budget else ""
    panel = PANEL.format(url=server.base_url, price=PRICE, consolidate=consolidate, budget=limit)
    (folder / "panel.toml").write_text(panel)
    given = ("--aspect", "fluency", "--panel", "panel.toml", "--run-dir", "run")
    return ("evaluate", "rows.jsonl", *given, *QUIET)


def by_one_model(folder: Path, server: LoopbackServer, *flags: str) -> tuple[str, ...]:
    """Write rows and a panel of one judge; return the arguments that judge them."""
    judged_rows(folder, count=ROWS)
    model = f'name = "openai-compatible/judge"\nbase_url = "{server.base_url}"\nprice = {PRICE}'
    (folder / "panel.toml").write_text(f"[[models]]\nmax_connections = 16\n{model}\n")
    given = ("--aspect", "fluency", "--panel", "panel.toml", "--run-dir", "run")
    return ("evaluate", "rows.jsonl", *given, *QUIET, *flags)


def test_calls_of_an_agent_that_consolidates_are_in_the_budget(tmp_path: Path) -> None:
    with Reviewers() as server:
        judge = prepared(tmp_path, server, consolidate="agent", budget="60calls")
        done = call(tmp_path, *judge, code={0, 3})
        assert 50 <= len(server.requests) <= 60
        assert "consolidator" in done.output
    rows = [
        json.loads(row) for row in (tmp_path / "run" / "results.jsonl").read_text().splitlines()
    ]
    assert len(rows) == ROWS
    assert {row["unasked"]["why"] for row in rows if row["unasked"]} == {"budget"}


@pytest.mark.heavy
def test_calls_that_a_kill_cut_are_in_the_budget(tmp_path: Path) -> None:
    with Reviewers() as server:
        judge = prepared(tmp_path, server, budget="40calls")
        for _ in range(3):
            server.left = 5
            server.held.clear()
            resuming = ("resume", "run", *QUIET)
            arguments = resuming if (tmp_path / "run" / "run.json").exists() else judge
            with start(tmp_path, *arguments) as process:
                while not server.held.wait(0.05) and process.poll() is None:
                    pass  # the calls that were cut may have left it fewer than it is replied to
                process.kill()
        server.left = 10**6
        done = call(tmp_path, "resume", "run", *QUIET, code={0, 3})
        assert 18 <= len(server.requests) <= 40
        assert "cut off" in done.output


def test_failures_that_are_tried_again_are_in_the_budget_of_the_run(tmp_path: Path) -> None:
    with LoopbackServer(UNREADABLE) as server:
        judge = prepared(tmp_path, server, budget="40calls")
        call(tmp_path, *judge, code={1, 3})
        for _ in range(3):
            call(tmp_path, "resume", "run", "--retry-failed", *QUIET, code={1, 3})
        assert 30 <= len(server.requests) <= 40
        call(
            tmp_path, "resume", "run", "--retry-failed", "--budget", "50calls", *QUIET, code={1, 3}
        )
        assert 41 <= len(server.requests) <= 50


@pytest.mark.parametrize(
    ("flags", "most"),
    [
        (("--max-calls", "15"), 15),
        (("--max-tokens-total", "20000"), 20),
        (("--max-cost", "110"), 20),
    ],
)
def test_a_limit_holds_for_calls_at_once(tmp_path: Path, flags: tuple[str, ...], most: int) -> None:
    with LoopbackServer(UNREADABLE) as server:
        call(tmp_path, *by_one_model(tmp_path, server, *flags), code={1, 3, 4})
        assert 2 <= len(server.requests) <= most


def test_a_run_that_reaches_its_number_of_calls_goes_on_with_a_resume(tmp_path: Path) -> None:
    with Reviewers() as server:
        ended = call(tmp_path, *by_one_model(tmp_path, server, "--max-calls", "10"), code=4)
        assert "10 calls are spent, and 10 is the limit" in ended.output
        assert len(server.requests) == 10
        call(tmp_path, "resume", "run", "--max-calls", "99", *QUIET)
        assert len(server.requests) == ROWS + 2  # two preflights


def test_the_closing_line_says_who_made_the_calls(tmp_path: Path) -> None:
    with Reviewers() as server:
        done = call(tmp_path, *by_one_model(tmp_path, server))
    assert "seats 24 calls, 2,400 tokens, $4.56" in done.output
    assert "probes 1 call, 100 tokens, $0.19" in done.output
