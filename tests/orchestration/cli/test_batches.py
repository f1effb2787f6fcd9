"""Batches answer a run as live calls would, each request is sent once, and each reply is paid."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from fakes.command import call, evaluate, judged_rows, start, without_seconds
from loopback.answers import Answer, chat, failure
from loopback.batches import BatchesServer, Step, answered_lines
from loopback.chaos import ChaosServer, judged_text
from loopback.dialects import DIALECTS, DialectServer
from loopback.server import LoopbackServer, Received

QUIET = ("--show", "none")
PANEL = """
[[models]]
name = "openai/judge"
base_url = "{url}"
price = {{ prompt = 1e-3, completion = 1e-2 }}
"""


class Reviewer(ChaosServer):
    """A model whose first answers to some texts are others, by the number of the text."""

    def __init__(self, **first: Answer) -> None:
        super().__init__()
        self.first = {judged_text(int(text.removeprefix("text"))): first[text] for text in first}
        self.times: Counter[str] = Counter()

    def record(self, request: Received) -> Answer:
        """Answer with what is first once, and then as usual."""
        asked = json.dumps(request.body)
        for text, answer in self.first.items():
            if text in asked and not self.times[text]:
                self.times[text] += 1
                return answer
        return super().record(request)


def by_panel(folder: Path, url: str, *flags: str, run: str = "run") -> tuple[str, ...]:
    """Write a panel of one model with a price; return the arguments that judge by it."""
    (folder / "panel.toml").write_text(PANEL.format(url=url))
    given = ("--aspect", "fluency", "--panel", "panel.toml", "--run-dir", run, "--no-progress")
    return ("evaluate", "rows.jsonl", *given, *QUIET, *flags)


def results(folder: Path, run: str = "run") -> bytes:
    return without_seconds(folder / run / "results.jsonl")


def killed_at(step: Step, server: BatchesServer, folder: Path, *arguments: str) -> None:
    """Start the command, and kill it when the server has done a step and not said so."""
    server.hold(step)
    with start(folder, *arguments) as process:
        while not server.held.wait(0.05):
            assert process.poll() is None, process.communicate()
        process.kill()


def test_a_run_that_is_killed_at_each_step_sends_its_rows_once_and_equals_the_live_run(
    tmp_path: Path,
) -> None:
    rows = 40
    judged_rows(tmp_path, count=rows)
    with ChaosServer() as model, BatchesServer(model) as server:
        call(tmp_path, *evaluate(model.base_url, *QUIET, run="live"))
        asked = model.asked
        killed_at("upload", server, tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"))
        resume = ("resume", "run", "--no-progress", *QUIET)
        later: tuple[Step, ...] = ("create", "look", "download")
        for step in later:
            killed_at(step, server, tmp_path, *resume)
        done = call(tmp_path, *resume)
        assert model.asked - asked == rows
        assert server.steps["create"] == 1
    assert results(tmp_path) == results(tmp_path, "live")
    assert f"this run: {rows:,} calls" in done.output
    assert not (tmp_path / "run" / "batches").exists()


def test_a_reply_that_cannot_be_read_makes_a_second_batch(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=6)
    with Reviewer(text2=chat("I like it.")) as model, BatchesServer(model) as server:
        call(tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"))
        sizes = [len(server.files[f"file-{n}"].splitlines()) for n in (1, 2)]
        assert sizes == [6, 1]
    with Reviewer(text2=chat("I like it.")) as model:
        call(tmp_path, *evaluate(model.base_url, *QUIET, run="live"))
    assert results(tmp_path) == results(tmp_path, "live")


def test_requests_of_an_expired_batch_are_sent_again(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=8)
    with ChaosServer() as model:
        expired = BatchesServer(model, ends=["expired"], expired=lambda key: key < "8")
        with expired as server:
            done = call(tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"))
            left = len(server.files["file-2"].splitlines())
        assert model.asked == 8
        assert 0 < left < 8
        assert f"{left} requests without a reply: batch_expired" in done.output
        call(tmp_path, *evaluate(model.base_url, *QUIET, run="live"))
    assert results(tmp_path) == results(tmp_path, "live")


def test_a_batch_that_is_refused_ends_the_run_and_is_sent_again_by_a_resume(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=3)
    with ChaosServer() as model, BatchesServer(model, ends=["failed"]) as server:
        failed = call(tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"), code=1)
        assert "has failed: The file is not as it should be." in failed.output
        call(tmp_path, "resume", "run", *QUIET)
        assert model.asked == 3


def test_a_batch_whose_beginning_got_no_answer_is_not_begun_twice(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=3)
    with ChaosServer() as model, BatchesServer(model) as server:
        server.failures = {"create": [failure(502)], "look": [failure(503)]}
        call(tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"))
        assert (server.steps["create"], server.steps["list"]) == (1, 1)
        assert model.asked == 3


def test_a_request_that_is_refused_has_no_score_as_in_a_live_run(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=5)
    too_long = failure(400, "This model's maximum context length is 4096 tokens.")
    with Reviewer(text1=too_long) as model, BatchesServer(model) as server:
        done = call(tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"), code=1)
        assert "1 requests without a reply: status 400" in done.output
        rows = [json.loads(row) for row in results(tmp_path).splitlines()]
        assert [row["outcome"] for row in rows].count("backend_failed") == 1
        call(tmp_path, "resume", "run", *QUIET)
        assert len(server.files["file-2"].splitlines()) == 1


def test_a_server_that_refuses_the_schema_is_asked_without_it_in_the_next_batch(
    tmp_path: Path,
) -> None:
    judged_rows(tmp_path, count=4)

    class Plain(ChaosServer):
        def record(self, request: Received) -> Answer:
            if "response_format" in request.body:
                return failure(400, "response_format is not supported")
            return super().record(request)

    with Plain() as model, BatchesServer(model) as server:
        panel = by_panel(tmp_path, server.base_url, "--batch-api")
        call(tmp_path, *panel)
        call(tmp_path, *by_panel(tmp_path, model.base_url, run="live"))
    assert results(tmp_path) == results(tmp_path, "live")


@pytest.mark.parametrize("by_file", [False, True])
def test_log_probabilities_come_back_with_the_reply(tmp_path: Path, by_file: bool) -> None:
    judged_rows(tmp_path, count=3)
    filled = {"explanation": "It is fine.", "location": "Text"}

    def model() -> DialectServer:
        return DialectServer(DIALECTS["vLLM"], text="ready", filled=filled)

    with model() as asked, BatchesServer(asked) as server:
        if by_file:
            requests = tmp_path / "requests.jsonl"
            call(tmp_path, *by_panel(tmp_path, server.base_url, "--batch-out", str(requests)))
            answer(requests, tmp_path / "answers.jsonl", asked)
            call(tmp_path, "resume", "run", "--batch-in", "answers.jsonl", *QUIET)
        else:
            call(tmp_path, *by_panel(tmp_path, server.base_url, "--batch-api"))
    with model() as asked:
        call(tmp_path, *by_panel(tmp_path, asked.base_url, run="live"))
    rows = [json.loads(row) for row in results(tmp_path).splitlines()]
    assert all(row["error_probability"] is not None for row in rows)
    assert results(tmp_path) == results(tmp_path, "live")


def answer(requests: Path, answers: Path, model: LoopbackServer) -> None:
    """Answer a file as vLLM's offline runner does."""
    lines = answered_lines(requests.read_text().splitlines(), model)
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_a_file_is_written_and_its_answers_equal_the_live_run(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=12)
    with ChaosServer() as model:
        first = evaluate(model.base_url, *QUIET, "--batch-out", "requests.jsonl")
        written = call(tmp_path, *first)
        assert "12 requests to openai-compatible/judge are in requests.jsonl" in written.output
        assert "12 replies are lacking" in written.output
        assert not model.requests
        answer(tmp_path / "requests.jsonl", tmp_path / "answers.jsonl", model)
        call(tmp_path, "resume", "run", "--batch-in", "answers.jsonl", *QUIET)
        assert model.asked == 12
        call(tmp_path, *evaluate(model.base_url, *QUIET, run="live"))
    assert results(tmp_path) == results(tmp_path, "live")


def test_lines_of_no_use_are_named_and_the_next_file_asks_for_what_is_lacking(
    tmp_path: Path,
) -> None:
    judged_rows(tmp_path, count=10)
    with ChaosServer() as model:
        call(tmp_path, *evaluate(model.base_url, *QUIET, "--batch-out", "requests.jsonl"))
        answer(tmp_path / "requests.jsonl", tmp_path / "answers.jsonl", model)
        lines = (tmp_path / "answers.jsonl").read_text().splitlines()
        other = json.loads(lines[0]) | {"custom_id": "of-another-run"}
        left = json.loads(lines[1]) | {
            "response": None,
            "error": {"code": "batch_expired", "message": "no time"},
        }
        no_choice = json.loads(lines[2])
        no_choice["response"]["body"]["choices"] = []
        spoilt = [lines[0], lines[0], json.dumps(left), json.dumps(no_choice), lines[3][:-9]]
        mixed = [*spoilt, json.dumps(other), *lines[4:]]
        (tmp_path / "answers.jsonl").write_text("\n".join(mixed) + "\n")
        half = call(tmp_path, "resume", "run", "--batch-in", "answers.jsonl", *QUIET, code=1)
        assert "3 replies are lacking" in half.output
        again = ("--batch-in", "answers.jsonl", "--batch-out", "more.jsonl", *QUIET)
        more = call(tmp_path, "resume", "run", *again)
        for words in (
            "8 replies, 7 of them kept before",
            "1 requests without a reply: batch_expired",
            "2 damaged lines: 4, 5",
            "1 second answers to a request, at lines: 2",
            "1 answers to no request of this run: of-another-run",
            "3 requests to openai-compatible/judge are in more.jsonl",
        ):
            assert words in more.output
        asked = [
            json.loads(line)["custom_id"]
            for line in (tmp_path / "more.jsonl").read_text().splitlines()
        ]
        assert set(asked) == {json.loads(lines[index])["custom_id"] for index in (1, 2, 3)}
        answer(tmp_path / "more.jsonl", tmp_path / "rest.jsonl", model)
        call(tmp_path, "resume", "run", "--batch-in", "rest.jsonl", *QUIET)
        call(tmp_path, *evaluate(model.base_url, *QUIET, run="live"))
    assert results(tmp_path) == results(tmp_path, "live")


def test_batches_cost_half_in_the_ledger_and_in_the_estimate(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=5)

    def dollars(output: str) -> float:
        (line,) = (line for line in output.splitlines() if "dollars" in line and "│" in line)
        return float(line.split("│")[2].replace(",", ""))

    with ChaosServer() as model, BatchesServer(model) as server:
        live = call(tmp_path, *by_panel(tmp_path, server.base_url, "--dry-run"))
        batch = call(tmp_path, *by_panel(tmp_path, server.base_url, "--dry-run", "--batch-api"))
        assert dollars(batch.output) == pytest.approx(dollars(live.output) / 2, abs=1e-4)
        done = call(tmp_path, *by_panel(tmp_path, server.base_url, "--batch-api"))
    # 7 tokens of prompt and 3 of the reply: 0.037 dollars, and half of it for each of 5.
    assert "this run: 5 calls, 50 tokens, $0.09" in done.output


def test_no_more_is_sent_than_a_limit_allows_for(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=9)
    with ChaosServer() as model, BatchesServer(model) as server:
        limited = evaluate(server.base_url, *QUIET, "--batch-api", "--max-calls", "4")
        stopped = call(tmp_path, *limited, code=4)
        assert model.asked == 4
        assert "4 calls are spent, and 4 is the limit" in stopped.output
        call(tmp_path, "resume", "run", "--max-calls", "5", *QUIET)
        assert model.asked == 9


def test_a_batch_that_is_not_over_in_time_is_left_and_collected_later(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=3)
    with ChaosServer() as model, BatchesServer(model, looks=10**6) as server:
        limited = evaluate(server.base_url, *QUIET, "--batch-api", "--max-seconds", "4")
        left = call(tmp_path, *limited, code=4)
        assert "4 seconds are over" in left.output
        server.looks = 1
        call(tmp_path, "resume", "run", "--max-seconds", "600", *QUIET)
        assert server.steps["create"] == 1


def test_a_live_run_is_resumed_by_batches_and_remembers_it(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=6)
    with ChaosServer() as model, BatchesServer(model) as server:
        call(tmp_path, *evaluate(server.base_url, *QUIET, "--max-calls", "3"), code=4)
        asked = model.asked
        resume = ("resume", "run", "--max-calls", "9", "--no-progress", *QUIET)
        killed_at("create", server, tmp_path, *resume, "--batch-api")
        live = call(tmp_path, *resume, "--live", code=2)
        assert "--live cannot be combined with a batch" in live.output
        assert model.asked == asked
        call(tmp_path, *resume)
        assert (server.steps["create"], model.asked) == (1, 6)
        call(tmp_path, *resume, "--live")


def test_a_batch_whose_files_are_deleted_is_given_up(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=3)
    with ChaosServer() as model, BatchesServer(model, looks=10**6) as server:
        killed_at("look", server, tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"))
        shutil.rmtree(tmp_path / "run" / "batches")
        call(tmp_path, "resume", "run", "--live", *QUIET)
        assert model.asked == 3


def test_a_server_that_lists_no_batches_is_not_sent_one_twice(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=3)
    with ChaosServer() as model, BatchesServer(model) as server:
        killed_at("create", server, tmp_path, *evaluate(server.base_url, *QUIET, "--batch-api"))
        server.failures = {"list": [failure(404)]}
        unknown = call(tmp_path, "resume", "run", *QUIET, code=1)
        assert "does not say whether it has begun a batch" in unknown.output
        assert server.steps["create"] == 1


def test_judges_that_failed_are_asked_again_by_a_batch(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=4)
    with LoopbackServer(chat("I like it.")) as model:
        call(tmp_path, *evaluate(model.base_url, *QUIET, "--min-usable", "0"), code={1, 3})
    with ChaosServer() as model, BatchesServer(model) as server:
        again = ("--retry-failed", "--model-base-url", server.base_url, "--batch-api")
        done = call(tmp_path, "resume", "run", *again, *QUIET)
        assert model.asked == 4
        call(tmp_path, *evaluate(model.base_url, *QUIET, run="live"))
    assert results(tmp_path) == results(tmp_path, "live")
    assert "this run: 4 calls" in done.output


def test_mistral_is_sent_batches_of_its_own_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "a-key-for-no-server-at-all")
    judged_rows(tmp_path, count=4)
    model_name = ("--model", "mistral/mistral-small-latest", "--aspect", "fluency")
    given = ("evaluate", "rows.jsonl", *model_name, "--no-progress", *QUIET)
    with ChaosServer() as model, BatchesServer(model, ends=["expired"]) as server:
        at = ("--model-base-url", server.base_url)
        call(tmp_path, *given, *at, "--batch-api", "--run-dir", "run")
        assert server.models == ["mistral-small-latest"]
        call(tmp_path, *given, *at, "--run-dir", "live")
    assert results(tmp_path) == results(tmp_path, "live")


def test_a_rubric_is_asked_no_more_than_its_criteria(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=3)
    rubric = "\n".join(f'[[criteria]]\ntext = "It is {word}."' for word in ("short", "plain"))
    (tmp_path / "rubric.toml").write_text(f'name = "style"\n{rubric}\n')
    model_name = ("--model", "openai-compatible/judge", "--no-progress", *QUIET)
    given = ("evaluate", "rows.jsonl", "--rubric", "rubric.toml", *model_name)
    with ChaosServer() as model, BatchesServer(model) as server:
        at = ("--model-base-url", server.base_url)
        call(tmp_path, *given, *at, "--batch-api", "--run-dir", "run", code=3)
        asked = model.asked
        call(tmp_path, *given, *at, "--run-dir", "live", code=3)
        assert model.asked == 2 * asked
    assert results(tmp_path) == results(tmp_path, "live")


def test_two_models_have_a_batch_each(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=4)
    with ChaosServer() as model, BatchesServer(model) as server:
        more = ("--model", "openai/second", *QUIET)
        call(tmp_path, *evaluate(server.base_url, *more, "--batch-api"))
        asked = [
            Counter(json.loads(line)["body"]["model"] for line in server.files[name].splitlines())
            for name in ("file-1", "file-2")
        ]
        assert sorted(map(dict, asked), key=str) == [{"judge": 4}, {"second": 4}]
        files = ("--batch-out", "requests.jsonl")
        call(tmp_path, *evaluate(server.base_url, *more, *files, run="other"))
    assert [(tmp_path / name).exists() for name in ("requests.jsonl", "requests-2.jsonl")]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--batch-api", "--batch-out", "x.jsonl"), "cannot be combined with --batch-out"),
        (("--batch-api", "--no-memory"), "--no-memory cannot be combined with batches"),
        (("--batch-api", "--dry-run=live"), "cannot be combined with batches"),
        (("--batch-in", "absent.jsonl"), "absent.jsonl: cannot be read"),
    ],
)
def test_flags_that_batches_cannot_follow_are_refused(
    tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    judged_rows(tmp_path, count=1)
    refused = call(tmp_path, *evaluate("http://localhost:9/v1", *flags), code={1, 2})
    assert words in refused.output


def test_a_model_in_the_process_takes_no_batches(tmp_path: Path) -> None:
    judged_rows(tmp_path, count=1)
    given = ("--aspect", "fluency", "--model", "anthropic/claude-sonnet-4-5", "--run-dir", "run")
    refused = call(tmp_path, "evaluate", "rows.jsonl", *given, "--batch-out", "x.jsonl", code=2)
    assert "takes no batches in OpenAI's form" in refused.output
