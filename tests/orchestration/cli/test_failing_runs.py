"""A run that fails knows it: it waits, or ends with 1, and a resume pays for nothing twice.

All of it is asked of the command as a process, before a server that fails as servers do.
"""

import json
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakes.command import RESUME, SPANJURY, call, complaint, environment, evaluate, judged_rows
from fakes.processes import completed
from fakes.terminal import on_a_terminal
from loopback.answers import RESET, Answer, chat, failure
from loopback.chaos import ChaosServer, judged_text
from loopback.server import LoopbackServer, Received, unreachable_url

GOOD = chat("No Error\n\nOverall score: Good\nExplanation of the score: It is fine.")
READY = chat("ready")
EMPTY = chat("", finish="length", message={"reasoning_content": "Let me think."})
UNREADABLE = chat("I like it.")


class CountingServer(LoopbackServer):
    """Answer the nth review, from 0, with `answer(n)`, and the nth probe with `probe(n)`.

    Parameters
    ----------
    answer
        Is given the number of the request and its body as text.
    probe
        As `answer`; what is asked to see whether anybody is there.
    """

    def __init__(
        self,
        answer: Callable[[int, str], Answer],
        probe: Callable[[int, str], Answer] = lambda _, __: READY,
    ) -> None:
        super().__init__(READY)
        self._by_kind = {"reviews": answer, "probes": probe}
        self._counting = threading.Lock()
        self.counts: Counter[str] = Counter()

    def record(self, request: Received) -> Answer:
        """Count `request` and return what it is answered with."""
        asked = json.dumps(request.body)
        kind = "reviews" if "ends in" in asked else "probes"
        with self._counting:
            number = self.counts[kind]
            self.counts[kind] += 1
        return self._by_kind[kind](number, asked)


def done(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run the command in `folder` to its end; return its exit code and standard error."""
    ended = call(folder, *arguments, code=None, OPENAI_API_KEY="sk-of-a-test-0123456789")
    return ended.exit_code, ended.stderr


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def assert_nothing_was_burnt(folder: Path, *, rows: int) -> None:
    """Check that the run ended without a row, and that a resume judges all of them."""
    run = folder / "run"
    assert (run / "results.jsonl.part").read_text() == ""
    assert not (run / "results.jsonl").exists()
    assert not (run / "done").exists()
    with CountingServer(lambda _, __: GOOD) as server:
        call(folder, *RESUME, "--model-base-url", server.base_url)
        assert server.counts == {"probes": 1, "reviews": rows}
    assert (run / "done").exists()


@pytest.mark.parametrize(
    ("status", "said", "advice"),
    [
        (401, "bad key {authorization}", "check its name, its key and its address"),
        (402, "Insufficient credits", "its provider wants to be paid: check the credit"),
        (404, "The model does not exist", "check its name, its key and its address"),
    ],
)
def test_an_unusable_model_costs_a_call_and_no_row(
    tmp_path: Path, status: int, said: str, advice: str
) -> None:
    judged_rows(tmp_path, count=2000)
    refused = failure(status, said)
    with CountingServer(lambda _, __: refused, lambda _, __: refused) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url))
        assert server.counts == {"probes": 1}
    assert code == 1
    assert errors.endswith("continue with: spanjury resume run\n")
    line = complaint(errors)
    assert line.startswith("model openai-compatible/judge cannot be used: openai-compatible/judge")
    assert f"status {status}" in line
    assert advice in line
    assert "sk-of-a-test" not in errors
    judged_rows(tmp_path, count=20)
    assert_nothing_was_burnt(tmp_path, rows=20)


def test_a_missing_key_is_one_line_whatever_litellm_calls_it(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=2000)
    flags = ("--model", "openai/gpt-4o-mini", "--run-dir", "run", "--no-progress")
    command = [*SPANJURY, "evaluate", "rows.jsonl", "--aspect", "fluency", *flags]
    keyless = {**environment(tmp_path), "OPENAI_API_KEY": ""}
    ended = completed(command, code=1, cwd=tmp_path, env=keyless)
    assert "model openai/gpt-4o-mini cannot be used: " in complaint(ended.stderr)
    assert "OPENAI_API_KEY" in ended.stderr
    assert (tmp_path / "run" / "results.jsonl.part").read_text() == ""


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("mistral/mistral-large-latest", "MISTRAL_API_KEY"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_clients(tmp_path: Path, model: str, variable: str) -> None:
    judged_rows(tmp_path, count=2)
    code = (
        "import sys; from spanjury.orchestration.cli.app import app\n"
        "try: app()\n"
        "finally: print('litellm' in sys.modules)"
    )
    flags = ("evaluate", "rows.jsonl", "--model", model, "--run-dir", "run", "--no-progress")
    usual = environment(tmp_path)
    ended = completed(
        [sys.executable, "-c", code, *flags],
        code=1,
        cwd=tmp_path,
        env={name: value for name, value in usual.items() if not name.endswith("_KEY")},
        timeout=120,
    )
    said = f"model {model} cannot be used: its key is missing: set {variable}"
    assert complaint(ended.stderr) == said
    assert ended.stdout == "False\n"
    assert ended.stderr.endswith("continue with: spanjury resume run\n")


def test_a_key_that_is_withdrawn_on_the_way_costs_no_failed_row(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=300)
    refused = failure(401, "key withdrawn")
    with CountingServer(
        lambda number, _: GOOD if number < 80 else refused,
        lambda number, _: READY if number < 1 else refused,
    ) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url))
        assert server.counts["reviews"] <= 80 + 8  # those under way
        assert server.counts["probes"] <= 1 + 3
    assert code == 1
    assert "key withdrawn" in errors
    kept = rows_of(tmp_path / "run" / "results.jsonl.part")
    assert 0 < len(kept) <= 80
    assert {row["outcome"] for row in kept} == {"scored"}
    with CountingServer(lambda _, __: GOOD) as server:
        call(tmp_path, *RESUME, "--model-base-url", server.base_url)
        assert server.counts == {"probes": 1, "reviews": 220}  # what was paid is kept


def test_an_address_without_a_server_costs_the_longest_outage_and_no_row(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=2000)
    code, errors = done(tmp_path, *evaluate(unreachable_url()), "--max-outage", "1.5")
    assert code == 1
    assert "model openai-compatible/judge has not answered for 1.5 s (--max-outage): " in errors
    assert "judge, 2 s at most: cannot connect: connection refused\n" in errors
    judged_rows(tmp_path, count=20)
    assert_nothing_was_burnt(tmp_path, rows=20)


def test_a_terminal_shows_for_which_server_a_run_waits_and_how_long(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=3)
    url = unreachable_url()
    model = ("--model", "openai-compatible/judge", "--model-base-url", url)
    kept = ("--run-dir", str(tmp_path / "run"), "--output", str(tmp_path / "results.jsonl"))
    rows = ("evaluate", str(tmp_path / "rows.jsonl"), "--aspect", "fluency")
    screen = on_a_terminal([*rows, *model, *kept, "--max-outage", "3"], width=120)
    assert screen.code == 1
    wait = re.compile(rf"waiting for openai-compatible/judge at {url} \(\d s of 3\)")
    assert any(map(wait.search, screen.lines))


def test_a_server_that_stays_dead_leaves_what_it_said_and_no_failed_row(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=300)
    with CountingServer(lambda number, _: GOOD if number < 80 else RESET) as server:
        process = subprocess.Popen(
            [*SPANJURY, *evaluate(server.base_url, "--max-outage", "1.5")],
            cwd=tmp_path,
            env=environment(tmp_path),
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        waiting = threading.Event()
        while server.counts["reviews"] < 80 and process.poll() is None:
            waiting.wait(0.02)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "has not answered for 1.5 s (--max-outage): " in errors
    assert errors.endswith("continue with: spanjury resume run\n")
    kept = rows_of(tmp_path / "run" / "results.jsonl.part")
    assert f"{len(kept)} of 300 results are in run/results.jsonl.part" in errors
    assert 0 < len(kept) <= 80
    assert {row["outcome"] for row in kept} == {"scored"}
    with CountingServer(lambda _, __: GOOD) as server:
        call(tmp_path, *RESUME, "--model-base-url", server.base_url)
        assert 220 <= server.counts["reviews"] <= 300 - len(kept)
    assert len(rows_of(tmp_path / "run" / "results.jsonl")) == 300


@pytest.mark.parametrize("fault", [RESET, failure(503, "overloaded")], ids=["reset", "503"])
def test_a_returning_server_is_awaited_for_all_rows(tmp_path: Path, fault: Answer) -> None:
    judged_rows(tmp_path, count=300)

    def is_back() -> bool:
        return server.counts["probes"] > 1 + 2  # one before the run, two that failed

    with CountingServer(
        lambda number, _: fault if number >= 80 and not is_back() else GOOD,
        lambda number, _: fault if 1 <= number < 3 else READY,
    ) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url))
        waits, goes_on, *rest = complaint_free(errors).splitlines()
        assert code == 0
        assert waits.startswith("waiting for model openai-compatible/judge, 60 s at most: ")
        assert goes_on.startswith("model openai-compatible/judge answers again after ")
        assert rest == ["300 results are in run/results.jsonl"]
        assert server.counts["reviews"] <= 300 + 2 * 8  # under way, or tried again before the wait
        assert server.counts["probes"] <= 6
    rows = rows_of(tmp_path / "run" / "results.jsonl")
    assert Counter(row["outcome"] for row in rows) == {"scored": 300}
    assert (tmp_path / "run" / "done").exists()


def complaint_free(errors: str) -> str:
    """Return `errors`, what went to standard error; fail if any line is a complaint."""
    assert "spanjury: " not in errors
    return errors


def test_a_server_that_is_slow_stops_nothing(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=24)
    with ChaosServer(seconds=0.5) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url, "--max-outage", "0.2"))
        assert code == 0, errors
        assert (server.probes, server.asked) == (1, 24)


def test_a_row_that_always_gets_400_ends_nothing_and_the_run_is_not_done(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=30)
    word = judged_text(7).split()[-1]
    too_long = failure(400, "too long")
    with CountingServer(lambda _, asked: too_long if word in asked else GOOD) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url))
        assert (code, server.counts) == (1, {"probes": 1, "reviews": 30})
        assert "spanjury: 1 of 30 assessments were not answered\n" in errors
        assert errors.endswith("continue with: spanjury resume run\n")
        rows = rows_of(tmp_path / "run" / "results.jsonl")
        assert [row["id"] for row in rows if row["outcome"] != "scored"] == ["7"]
        assert not (tmp_path / "run" / "done").exists()
        assert done(tmp_path, *RESUME)[0] == 1
        # In each form, since the server may take others than before.
        assert server.counts == {"probes": 2, "reviews": 34}


def test_a_wrong_key_without_a_preflight_costs_one_call_at_any_concurrency(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=300)
    refused = failure(401, "bad key")
    flags = ("--no-preflight", "--max-connections", "64")
    with CountingServer(lambda _, __: refused, lambda _, __: refused) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url, *flags))
        assert server.counts == {"reviews": 1, "probes": 1}
    assert code == 1
    assert "cannot be used" in complaint(errors)


def test_a_server_that_says_400_to_everything_ends_the_run(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=2000)
    unfit = failure(400, "Unsupported parameter: 'max_tokens'")
    with CountingServer(lambda _, __: unfit, lambda _, __: unfit) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url))
        assert server.counts["probes"] == 1
        assert server.counts["reviews"] <= 3 + 8  # those under way
    assert code == 1
    assert "has replied to nothing, and says the same of whatever it is asked: " in errors
    assert "Unsupported parameter" in errors
    assert errors.endswith("continue with: spanjury resume run\n")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (EMPTY, "16 truncated"),
        (UNREADABLE, "16 unparseable"),
        (failure(400, "no schema here"), "16 backend_failed"),
        (failure(500, "no memory left"), "status 500: no memory left"),
    ],
    ids=["empty", "unreadable", "400", "500"],
)
def test_a_server_that_is_ready_and_answers_no_row_usably_is_asked_sixty_times_at_most(
    tmp_path: Path, answer: Answer, said: str
) -> None:
    judged_rows(tmp_path, count=220)
    with CountingServer(lambda _, __: answer) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url, "--max-outage", "1.5"))
        assert sum(server.counts.values()) <= 60
    assert code == 1
    assert said in errors
    command = errors.splitlines()[-1].removeprefix("continue with: spanjury ").split()
    assert command[:2] == ["resume", "run"]
    assert not (tmp_path / "run" / "done").exists()
    with CountingServer(lambda _, __: GOOD) as server:
        address = ("--model-base-url", server.base_url)
        call(tmp_path, *command, *address, "--no-progress")
    rows = rows_of(tmp_path / "run" / "results.jsonl")
    assert Counter(row["outcome"] for row in rows) == {"scored": 220}


def test_a_model_without_usable_answers_is_given_up_in_its_window(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=400)
    with CountingServer(lambda number, _: GOOD if number < 80 else EMPTY) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url))
        assert server.counts["reviews"] <= 80 + 2 * (50 + 16)
    assert code == 1
    assert "of its last 50 assessments" in errors


def test_a_share_of_unreadable_replies_stops_nothing_and_0_demands_nothing(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=200)
    words = {judged_text(number).split()[-1] for number in range(200) if number % 10 < 3}

    def answer(_: int, asked: str) -> Answer:
        return UNREADABLE if any(word in asked for word in words) else GOOD

    with CountingServer(answer) as server:
        assert done(tmp_path, *evaluate(server.base_url))[0] == 0
    rows = rows_of(tmp_path / "run" / "results.jsonl")
    assert Counter(row["outcome"] for row in rows) == {"scored": 140, "unparseable": 60}
    judged_rows(tmp_path, count=40)
    with CountingServer(lambda _, __: UNREADABLE) as server:
        assert done(tmp_path, *evaluate(server.base_url, "--min-usable", "0", run="other"))[0] != 0
        assert server.counts["reviews"] == 2 * 40


@pytest.mark.parametrize(
    ("answer", "command"),
    [(EMPTY, "resume run --retry-failed"), (failure(400, "too long"), "resume run")],
    ids=["empty", "400"],
)
def test_a_run_of_which_a_judge_answered_no_row_ends_with_1_whatever_the_others_say(
    tmp_path: Path, answer: Answer, command: str
) -> None:
    judged_rows(tmp_path, count=5)
    with CountingServer(lambda _, __: answer) as server:
        both = ("--judge", "form", "--judge", "annotator")
        code, errors = done(tmp_path, *evaluate(server.base_url, *both))
    rows = rows_of(tmp_path / "run" / "results.jsonl")
    assert (Counter(row["outcome"] for row in rows), code) == ({"scored": 5}, 1)
    assert "spanjury: no reply of annotator:openai-compatible/judge can be used" in errors
    assert errors.endswith(f"continue with: spanjury {command}\n")
    assert not (tmp_path / "run" / "done").exists()


def test_a_run_without_any_usable_answer_says_once_how_to_see_why(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=1)
    with CountingServer(lambda _, __: EMPTY) as server:
        code, errors = done(tmp_path, *evaluate(server.base_url))
    assert (code, errors.count("see which models answer: ")) == (3, 1)


def test_a_run_over_what_was_said_before_asks_nothing_not_even_a_probe(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=5)
    with CountingServer(lambda _, __: GOOD) as server:
        call(tmp_path, *evaluate(server.base_url))
        call(tmp_path, *RESUME)
        assert server.counts == {"probes": 1, "reviews": 5}
        flags = ("--no-preflight", "--aspect", "coherence")
        call(tmp_path, *RESUME, *flags)
        assert server.counts == {"probes": 1, "reviews": 10}


def test_an_exam_ends_as_a_run_does_and_the_same_command_goes_on(tmp_path: Path) -> None:
    exam = ("exam", "discernment", "--demo", "--limit", "2", "--no-progress", "-o", "exam")
    model = ("--model", "openai-compatible/judge", "--model-base-url")
    refused = failure(403, "not yours")
    with CountingServer(lambda _, __: refused, lambda _, __: refused) as server:
        code, errors = done(tmp_path, *exam, *model, server.base_url)
        assert sum(server.counts.values()) == 1
    assert code == 1
    assert "spanjury: model openai-compatible/judge cannot be used: " in errors
    assert "0 assessments are kept; run the same command to continue" in errors
