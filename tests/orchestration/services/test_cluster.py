"""The work of a cluster's worker, without a cluster."""

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from fakes.judges import FixedJudge
from fakes.noting_judge import NotingJudge
from fakes.processes import completed

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    DataError,
    EvaluationError,
    Judge,
    ModelRefusedError,
    ModelTimeoutError,
    Outcome,
    ParseError,
    Report,
    Segment,
    StoreError,
    Usage,
)
from spanjury.judges.tasks import Catalogue
from spanjury.judges.text.turns import in_turn
from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.runs.cluster import ChunkWorker
from spanjury.orchestration.services.runs.cluster_job import (
    CHUNKS,
    ENDS,
    ChunkRecord,
    ClusterJob,
)
from spanjury.orchestration.services.runs.cluster_ledger import Ledger
from spanjury.orchestration.wiring.cluster import ShardFolder, cut_chunks
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig

ROWS: list[dict[str, Any]] = [
    {"id": str(number), "task": "summarization", "output": "x" * number} for number in range(8)
]


@pytest.fixture
def judge(tmp_path: Path) -> NotingJudge:
    (tmp_path / "notes").mkdir()
    return NotingJudge(notes=tmp_path / "notes")


@pytest.fixture
def job(tmp_path: Path, judge: NotingJudge) -> ClusterJob:
    ShardFolder(str(tmp_path / "run")).create()
    return ClusterJob(
        panel=panel_of(judge),
        folder=str(tmp_path / "run"),
        data=str(tmp_path / "rows.jsonl"),
        aspects=("fluency",),
    )


@pytest.fixture
def judged(tmp_path: Path) -> Callable[..., list[ChunkRecord]]:
    """Have rows judged, four a chunk, by a worker of its own."""

    def judge_rows(job: ClusterJob, rows: list[Any] = ROWS) -> list[ChunkRecord]:
        data = tmp_path / "rows.jsonl"
        data.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        ledger = Ledger(job.limits)

        async def ask(note: str) -> str:
            return ledger(note)

        worker = ChunkWorker(job, Catalogue.load(*job.aspects_files), ask)
        ends = [
            ENDS.validate_json(worker(CHUNKS.dump_json(chunk).decode()))
            for chunk in cut_chunks(str(data), rows=4)
        ]
        for end in ends:
            if end.failure is not None:
                raise end.failure.raised()
        return [end.record for end in ends]

    return judge_rows


Judged = Callable[..., list[ChunkRecord]]


def panel_of(*judges: Judge) -> PanelConfig:
    return PanelConfig(seats=tuple(SeatConfig(judge=judge) for judge in judges))


def shard(job: ClusterJob, record: ChunkRecord) -> Path:
    return Path(job.folder, "shards", f"{record.key}.jsonl")


def without_seconds(text: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in text.splitlines()]
    for row in rows:
        for seat in row["seats"]:
            del seat["seconds"]
    return rows


def test_a_shard_holds_what_any_run_writes(tmp_path: Path, job: ClusterJob, judged: Judged) -> None:
    records = judged(job)
    output = tmp_path / "results.jsonl"
    rows = tmp_path / "rows.jsonl"
    alone = Job(data=rows, panel=job.panel, output=output, aspects=("fluency",))
    anyio.run(run, alone, lambda _: None)
    shards = "".join(shard(job, record).read_text() for record in records)
    assert without_seconds(shards) == without_seconds(output.read_text())
    assert records[1] == ChunkRecord(
        chunk=1,
        key=records[1].key,
        results=4,
        outcomes={Outcome.SCORED: 4},
        judged=4,
        usage=Usage(),
        skipped=(),
    )


def test_a_present_shard_is_not_judged(job: ClusterJob, judge: NotingJudge, judged: Judged) -> None:
    first = judged(job)
    assert judged(job) == [replace(record, judged=0) for record in first]
    assert len(judge.judged()) == len(ROWS)


@pytest.mark.parametrize(
    "change", [{"output": "y"}, {"id": "y"}, {"system": "y"}, {"inputs": "y"}, {"references": "y"}]
)
def test_a_changed_row_has_its_chunk_judged_again(
    job: ClusterJob, judged: Judged, change: dict[str, str]
) -> None:
    judged(job)
    assert [record.judged for record in judged(job, [*ROWS[:-1], {**ROWS[-1], **change}])] == [0, 4]


def test_parts_that_no_judge_sees_may_change(job: ClusterJob, judged: Judged) -> None:
    judged(job)
    rows = [{**row, "human": {"fluency": 4}, "year": 2001} for row in ROWS]
    assert [record.judged for record in judged(job, rows)] == [0, 0]


def test_another_panel_or_aspect_runs_all(tmp_path: Path, job: ClusterJob, judged: Judged) -> None:
    judged(job)
    file = tmp_path / "aspects.toml"
    file.write_text(
        "[tasks.summarization.aspects.fluency]\ndefinition = 'It flows.'\nkind = 'form'\n"
    )
    for change in (
        {"panel": replace(job.panel, aggregate="median")},
        {"aspects_files": (file,)},
        {"aspects": ("coherence",)},
    ):
        assert [record.judged for record in judged(replace(job, **change))] == [4, 4]


def test_only_unanswered_rows_are_judged_again(
    job: ClusterJob, judge: NotingJudge, judged: Judged
) -> None:
    (first, _) = judged(job)
    path = shard(job, first)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[2]["seats"][0]["outcome"] = "timed_out"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert [record.judged for record in judged(replace(job, again=frozenset()))] == [0, 0]
    assert [record.judged for record in judged(job)] == [1, 0]
    assert judge.judged() == [*(row["id"] for row in ROWS), "2"]
    assert [row["id"] for row in without_seconds(path.read_text())] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("damage", "again"),
    [
        (lambda _: b"", 4),
        (lambda shard: shard[:-9], 1),
        (lambda shard: shard.replace(b'{"id": "1"', b'{"id": "9"'), 1),
        (lambda shard: shard.replace(b'{"id": "1"', b'["id": "1"'), 1),
    ],
)
def test_a_damaged_shard_is_made_whole(
    job: ClusterJob, judged: Judged, damage: Callable[[bytes], bytes], again: int
) -> None:
    (first, _) = judged(job)
    path = shard(job, first)
    whole = path.read_text()
    path.write_bytes(damage(path.read_bytes()))
    assert [record.judged for record in judged(job)] == [again, 0]
    assert without_seconds(path.read_text()) == without_seconds(whole)


def test_failures_are_outcomes_and_are_counted(job: ClusterJob, judged: Judged) -> None:
    late = FixedJudge(says=ModelTimeoutError("too late"))
    records = judged(replace(job, panel=panel_of(late)))
    assert [record.outcomes for record in records] == [{Outcome.TIMED_OUT: 4}] * 2


def test_a_bad_row_ends_the_run_or_is_left(tmp_path: Path, job: ClusterJob, judged: Judged) -> None:
    rows = [*ROWS[:3], {"id": "bad"}, "bad", *ROWS[3:]]
    problem = f"{tmp_path}/rows.jsonl, line 4: the row has no output, only id; name the columns"
    with pytest.raises(DataError) as raised:
        judged(job, rows)
    assert str(raised.value).startswith(problem)
    records = judged(replace(job, skip_bad_rows=True), rows)
    assert [record.results for record in records] == [3, 3, 2]
    assert records[0].skipped == (str(raised.value),)


def test_a_chunk_of_bad_rows_alone_has_an_empty_shard(job: ClusterJob, judged: Judged) -> None:
    (record,) = judged(replace(job, skip_bad_rows=True), [{"id": "bad"}])
    assert record.results == 0
    assert shard(job, record).read_bytes() == b""


@pytest.mark.parametrize(
    ("change", "kind", "problem"),
    [
        ({"panel": PanelConfig(seats=(SeatConfig(judge="absent"),))}, ConfigError, "'absent'"),
        ({"task": "absent"}, ConfigError, "absent"),
        ({"panel": panel_of(FixedJudge(says=StoreError("disk full")))}, StoreError, "disk full"),
        ({"folder": "/absent"}, StoreError, "cannot be written: No such file"),
    ],
)
def test_our_errors_end_the_run_as_themselves(
    job: ClusterJob,
    judged: Judged,
    change: dict[str, Any],
    kind: type[EvaluationError],
    problem: str,
) -> None:
    with pytest.raises(EvaluationError, match=problem) as raised:
        judged(replace(job, **change))
    assert type(raised.value) is kind


def test_rows_beside_a_failed_are_kept(job: ClusterJob, judge: NotingJudge, judged: Judged) -> None:
    full = replace(job, panel=panel_of(FullDisk(judge=judge, at="2")))
    with pytest.raises(StoreError, match="disk full"):
        judged(full)
    (partial,) = Path(job.folder, "shards").glob("*.jsonl")  # the second chunk was not begun
    ids = [row["id"] for row in without_seconds(partial.read_text())]
    assert ids == ["0", "1"]
    assert judge.judged() == ids
    again = judged(replace(full, panel=panel_of(FullDisk(judge=judge, at=""))))
    assert [record.judged for record in again] == [2, 4]
    assert judge.judged() == [row["id"] for row in ROWS]
    assert [row["id"] for row in without_seconds(partial.read_text())] == ["0", "1", "2", "3"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FullDisk:
    """A judge that judges as another, but for the row at which the disk is full."""

    judge: NotingJudge
    at: str

    @property
    def signature(self) -> str:
        return self.judge.signature

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        if segment.segment_id == self.at:
            raise StoreError("disk full")
        if self.at and segment.segment_id > self.at:
            await anyio.sleep_forever()
        return await self.judge.assess(segment, aspect)


def test_failing_rows_are_as_in_any_run(tmp_path: Path, job: ClusterJob, judged: Judged) -> None:
    panel = panel_of(Failing(), FixedJudge(says=Report(score=3)))
    records = judged(replace(job, panel=panel))
    output = tmp_path / "results.jsonl"
    alone = Job(data=tmp_path / "rows.jsonl", panel=panel, output=output, aspects=("fluency",))
    anyio.run(run, alone, lambda _: None)
    shards = "".join(shard(job, record).read_text() for record in records)
    rows = without_seconds(shards)
    assert rows == without_seconds(output.read_text())
    outcomes = [row["seats"][0]["outcome"] for row in rows]
    assert outcomes == ["scored", "timed_out", "refused", "unparseable"] * 2


@dataclass(frozen=True, slots=True)
class Failing:
    """A judge that fails in another way at each of four rows."""

    signature: str = "failing"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        failures = (
            None,
            ModelTimeoutError("too late"),
            ModelRefusedError("not that"),
            ParseError("no score", reply="Well."),
        )
        if (failure := failures[int(segment.segment_id) % 4]) is not None:
            raise failure
        return Report(score=4)


@dataclass(frozen=True, slots=True)
class Numbering:
    """A judge that says which process does its work."""

    signature: str = "numbering"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        return Report(score=3, rationale=str(await in_turn(os.getpid, length=1)))


@pytest.mark.parametrize("processes", [0, 1])
def test_processes_do_the_work_of_a_worker_that_has_some(
    job: ClusterJob, judged: Judged, processes: int
) -> None:
    panel = replace(panel_of(Numbering()), processes=processes)
    records = judged(replace(job, panel=panel))
    shards = [shard(job, record).read_text() for record in records]
    numbers = {row["seats"][0]["rationale"] for text in shards for row in without_seconds(text)}
    assert len(numbers) == 1  # the process is kept from chunk to chunk
    assert (numbers == {str(os.getpid())}) is not bool(processes)


WORKER = """
import sys
from contextlib import asynccontextmanager
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.services.runs import cluster
from spanjury.orchestration.services.runs.cluster_job import CHUNKS, ENDS, ClusterJob
from spanjury.orchestration.wiring.cluster import cut_chunks
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig

open_panel = cluster.open_configured_panel

@asynccontextmanager
async def noted(*args, **options):
    async with open_panel(*args, **options) as panel:
        yield panel
    print("closed")

async def ask(note):
    return "{}"

cluster.open_configured_panel = noted
panel = PanelConfig(seats=(SeatConfig(judge="form"),))
job = ClusterJob(data=sys.argv[1], panel=panel, folder=sys.argv[2], aspects=("fluency",))
worker = cluster.ChunkWorker(job, Catalogue.load(), ask)
(chunk,) = cut_chunks(job.data)
print(ENDS.validate_json(worker(CHUNKS.dump_json(chunk).decode())).record.judged)
"""


@pytest.mark.heavy
def test_a_worker_closes_its_panel_when_its_process_ends(job: ClusterJob) -> None:
    Path(job.data).write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    command = [sys.executable, "-c", WORKER, job.data, job.folder]
    done = completed(command, code=None, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{len(ROWS)}\nclosed\n", "")
