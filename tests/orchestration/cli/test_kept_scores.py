"""Commands over results that are there: no score is lost for want of an answer."""

import json
import shutil
from pathlib import Path

import pytest
from fakes.command import call, complaint
from loopback.answers import STALL, Answer, chat, failure
from loopback.server import LoopbackServer, Received

COUNT = 6
GOOD = chat("No Error\n\nOverall score: Good")


class FailingServer(LoopbackServer):
    """Fail every call but the small question by which a run tries its model."""

    def __init__(self) -> None:
        super().__init__(STALL)  # not given: every request has an answer of its own

    def record(self, request: Received) -> Answer:
        super().record(request)
        return chat("ready") if "single word: ready" in str(request.body) else failure(500)


def judged(server: LoopbackServer, *flags: str) -> tuple[str, ...]:
    model = ("--model", "openai-compatible/judge", "--model-base-url", server.base_url)
    return ("--aspect", "fluency", *model, "--attempts", "1", "--no-progress", *flags)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a run, all of whose rows have scores."""
    rows = (
        {"id": str(number), "task": "summarization", "output": f"Text {number}."}
        for number in range(COUNT)
    )
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with LoopbackServer(GOOD) as server:
        call(tmp_path, "evaluate", "rows.jsonl", *judged(server, "--run-dir", "run"))
    return tmp_path


def scores(path: Path) -> list[float | None]:
    return [json.loads(line)["score"] for line in path.read_text().splitlines()]


def test_a_rescore_without_its_memory_leaves_the_results(folder: Path) -> None:
    results = folder / "run" / "results.jsonl"
    before = results.read_bytes()
    (folder / "run" / "memory.sqlite3").unlink()
    done = call(folder, "rescore", "run", "--aggregate", "median", "--no-progress", code=1)
    problem = f"run/results.jsonl: {COUNT} rows have scores that the new results lack"
    assert complaint(done.stderr).startswith(problem)
    assert "run/results.jsonl.refused" in done.stderr
    assert results.read_bytes() == before
    assert scores(results.with_name("results.jsonl.refused")) == [None] * COUNT
    elsewhere = call(folder, "rescore", "run", "-o", "other.jsonl", "--no-progress", code={1, 3})
    assert scores(folder / "other.jsonl") == [None] * COUNT, elsewhere.output


def test_a_resume_without_answers_leaves_the_results_until_it_answers(folder: Path) -> None:
    results = folder / "run" / "results.jsonl"
    before = results.read_bytes()
    shorter = ("--judge", "annotator:max_tokens=77", "--attempts", "1")
    with FailingServer() as server:
        dead = call(folder, "resume", "run", "--model-base-url", server.base_url, *shorter, code=1)
    assert "continue with: spanjury resume run" in dead.stderr
    assert f"{COUNT} rows have scores that the new results lack" in dead.stderr
    assert results.read_bytes() == before
    with LoopbackServer(GOOD) as server:
        call(folder, "resume", "run", "--model-base-url", server.base_url)
    assert scores(results) == [4] * COUNT
    assert results.read_bytes() != before


def test_an_evaluation_over_results_leaves_them_unless_the_judges_answer(folder: Path) -> None:
    before = (folder / "run" / "results.jsonl").read_bytes()
    results = folder / "before.jsonl"
    results.write_bytes(before)
    onto = ("--no-memory", "-o", results.name)
    with FailingServer() as server:
        call(folder, "evaluate", "rows.jsonl", *judged(server, *onto), code=1)
    assert results.read_bytes() == before
    with LoopbackServer(chat("I like it.")) as server:
        call(folder, "evaluate", "rows.jsonl", *judged(server, *onto), code={1, 3})
    assert scores(results) == [None] * COUNT


@pytest.mark.parametrize("kept", [(), ("--no-memory",), ("--run-dir", "new")])
def test_the_results_of_another_run_are_not_replaced(folder: Path, kept: tuple[str, ...]) -> None:
    results = folder / "run" / "results.jsonl"
    before = results.read_bytes()
    with LoopbackServer(chat("I like it.")) as server:
        onto = (*kept, "-o", "run/results.jsonl")
        refused = call(folder, "evaluate", "rows.jsonl", *judged(server, *onto), code=2)
        assert not server.requests
    assert "run/results.jsonl: holds the results of the run" in complaint(refused.stderr)
    assert results.read_bytes() == before
    assert not (folder / "new").exists()


def test_a_rescore_does_not_replace_the_results_of_another_run(folder: Path) -> None:
    shutil.copytree(folder / "run", folder / "other")
    before = (folder / "other" / "results.jsonl").read_bytes()
    rescore = ("rescore", "run", "--aggregate", "median", "--no-progress", "-o")
    call(folder, *rescore, "other/results.jsonl", code=2)
    assert (folder / "other" / "results.jsonl").read_bytes() == before
    call(folder, *rescore, "run/results.jsonl")
