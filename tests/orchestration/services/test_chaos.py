"""A server on a bad day, a long run against it, and the resume when it is well again.

The whole road is taken: rows from a file, results to a file, a memory between. Only the
clock is fast, since the pauses between attempts add up to minutes.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from fakes.hurried_loop import PACE, HurriedLoop
from fakes.logs import capture_logs
from loopback.chaos import WHOLE, ChaosServer, Kind, Opinion, judged_text

from spanjury.judges.core import Result
from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig

Row = dict[str, Any]

SHARE = 0.3
TIMEOUT = 2.0 * PACE  # two seconds in earnest; a sound answer takes some milliseconds
OUTCOMES = {
    **dict.fromkeys(Kind, "backend_failed"),
    **dict.fromkeys(WHOLE, "scored"),
    Kind.PROSE: "unparseable",
    Kind.STALL: "timed_out",
    Kind.DRIP: "timed_out",
}
"""The outcome of a row, by the kind of its last answer."""


def job_of(texts: Sequence[str], folder: Path) -> Job:
    data = folder / "rows.jsonl"
    with data.open("w") as file:
        for number, text in enumerate(texts):
            row = {"id": str(number), "task": "summarization", "output": text}
            file.write(json.dumps(row) + "\n")
    return Job(
        data=data,
        panel=PanelConfig(),
        output=folder / "results.jsonl",
        aspects=("fluency",),
        memory=folder / "memory.sqlite3",
        again="failed",
    )


def judge(job: Job, server: ChaosServer, *, name: str) -> list[Row]:
    """Run `job` with the model `name` at `server`; return the rows, without their seconds."""
    model = ModelConfig(name=name, base_url=server.base_url, timeout=TIMEOUT, attempts=2)
    job = replace(job, panel=PanelConfig(models=(model,)))
    shown: list[Result] = []
    with capture_logs():  # a line for every fault
        anyio.run(run, job, shown.append, backend_options={"loop_factory": HurriedLoop})
    rows = [json.loads(line) for line in job.output.read_text().splitlines()]
    assert [row["id"] for row in rows] == [result.segment.segment_id for result in shown]
    for row in rows:
        del row["seats"][0]["seconds"]
    return rows


def assert_says(row: Row, text: str) -> None:
    """Check that a scored row says what the model thinks of `text`, and of no other."""
    opinion = Opinion.of(text)
    (span,) = row["spans"]
    assert row["score"] == opinion.score
    assert (span["text"], span["severity"]) == (opinion.word, opinion.severity)
    assert text[span["start"] : span["end"]] == opinion.word
    assert opinion.word in row["seats"][0]["rationale"]


@pytest.mark.parametrize(
    ("name", "count", "quick_per_slow"),
    [("openai-compatible/judge", 600, 8), ("hosted_vllm/judge", 150, 3)],
)
def test_a_fault_costs_a_row_its_score_at_most_and_a_resume_brings_it_back(
    tmp_path: Path, name: str, count: int, quick_per_slow: int
) -> None:
    texts = [judged_text(number) for number in range(count)]
    job = job_of(texts, tmp_path)
    with ChaosServer(share=SHARE, quick_per_slow=quick_per_slow) as server:
        rows = judge(job, server, name=name)
        answered = [server.answered[Opinion.of(text).word] for text in texts]
    assert {kind for kinds in answered for kind in kinds} == set(Kind)
    assert [row["id"] for row in rows] == [str(number) for number in range(count)]
    for row, text, kinds in zip(rows, texts, answered, strict=True):
        assert row["outcome"] == OUTCOMES[kinds[-1]], (row, kinds)
        assert sum(kind in WHOLE for kind in kinds) <= 1  # none was paid twice
        if row["outcome"] == "scored":
            assert_says(row, text)
        else:
            assert (row["score"], row["spans"]) == (None, [])
            assert row["reason"]
    failed = {
        Opinion.of(text).word for row, text in zip(rows, texts, strict=True) if row["score"] is None
    }
    with ChaosServer() as server:
        again = judge(job, server, name=name)
        assert server.answered == dict.fromkeys(failed, (Kind.FINE,))
        assert judge(job, server, name=name) == again
        assert server.asked == len(failed)
    for row, text in zip(again, texts, strict=True):
        assert_says(row, text)
