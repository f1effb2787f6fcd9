"""A run on a real Ray cluster that loses a node half-way."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from fakes.installed import imported, skip_without
from fakes.noting_judge import NotingJudge
from fakes.ray_cluster import ON_RAY, SMALL, Cluster, ray_cluster

from spanjury.judges.core import ConfigError, EvaluationError
from spanjury.orchestration.services.judging.evaluate import run
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.runs.cluster import run_on_cluster
from spanjury.orchestration.services.runs.cluster_job import ChunkRecord, ClusterJob
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig

skip_without("ray")
# Ours first: it sets what Ray reads when it is imported.
imported("spanjury.adapters.cluster.ray_engine")
ray = imported("ray")

pytestmark = ON_RAY

ROWS = [
    {"id": f"r{number}", "task": "summarization", "output": f"Text {number * number}."}
    for number in range(240)
]
CHUNK_ROWS = 20
CHUNKS = len(ROWS) // CHUNK_ROWS


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbed:
    """A run that lost a node when half of its chunks were done."""

    job: ClusterJob
    judge: NotingJudge
    records: list[ChunkRecord]
    safe: set[Path]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ray_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def disturbed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Disturbed:
    """Judge on two nodes and kill one, by force, when half of the shards are there."""
    folder = tmp_path_factory.mktemp("ray")
    _, doomed = (cluster.add_node(num_cpus=1, **SMALL) for _ in range(2))
    data, notes = folder / "rows.jsonl", folder / "notes"
    notes.mkdir()
    data.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    judge = NotingJudge(notes=notes, seconds=0.1, together=2)
    job = ClusterJob(
        data=str(data),
        panel=PanelConfig(seats=(SeatConfig(judge=judge),)),
        folder=str(folder / "run"),
        aspects=("fluency",),
        chunk_rows=CHUNK_ROWS,
        address=cluster.address,
    )
    records: list[ChunkRecord] = []
    safe: set[Path] = set()

    def show(record: ChunkRecord) -> None:
        records.append(record)
        if len(records) == CHUNKS // 2:
            cluster.remove_node(doomed, allow_graceful=False)
            safe.update(Path(job.folder, "shards").glob("*.jsonl"))

    run_on_cluster(job, show)
    return Disturbed(job=job, judge=judge, records=records, safe=safe)


def rows(path: Path) -> list[dict[str, Any]]:
    """Return result rows without the time that they took."""
    read = [json.loads(line) for line in path.read_text().splitlines()]
    for row in read:
        for seat in row["seats"]:
            del seat["seconds"]
    return read


def test_a_run_that_loses_a_node_has_the_same_results(disturbed: Disturbed, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    judge = NotingJudge(notes=tmp_path / "notes")
    output = tmp_path / "results.jsonl"
    job = Job(
        data=Path(disturbed.job.data),
        panel=PanelConfig(seats=(SeatConfig(judge=judge),)),
        output=output,
        aspects=("fluency",),
    )
    anyio.run(partial(run, job, lambda _: None))
    results = rows(Path(disturbed.job.folder, "results.jsonl"))
    assert ([row["id"] for row in results], results) == ([row["id"] for row in ROWS], rows(output))
    assert sorted(record.chunk for record in disturbed.records) == list(range(CHUNKS))


def test_a_lost_node_costs_no_more_than_it_had_at_hand(disturbed: Disturbed) -> None:
    assert len(list(disturbed.judge.notes.iterdir())) >= disturbed.judge.together
    judged = disturbed.judge.judged()
    twice = {name for name in judged if judged.count(name) > 1}
    kept = {row["id"] for shard in disturbed.safe for row in rows(shard)}
    assert len(kept) >= len(ROWS) // 2
    assert not twice & kept
    assert len(judged) - len(ROWS) <= CHUNK_ROWS


def test_a_run_again_judges_nothing_but_the_chunk_of_a_changed_row(disturbed: Disturbed) -> None:
    data = Path(disturbed.job.data)
    before = len(disturbed.judge.judged())
    records: list[ChunkRecord] = []
    run_on_cluster(disturbed.job, records.append)
    assert [record.judged for record in records] == [0] * CHUNKS
    data.write_text(data.read_text().replace("Text 10000.", "Text 100."))
    records.clear()
    run_on_cluster(disturbed.job, records.append)
    assert {record.chunk: record.judged for record in records if record.judged} == {5: CHUNK_ROWS}
    assert len(disturbed.judge.judged()) == before + CHUNK_ROWS


def test_nothing_connects_after_a_run(disturbed: Disturbed) -> None:
    assert disturbed.records
    with pytest.raises(Exception, match="Ray has not been started yet"):
        ray.put("as a thread that outlives the run might")
    assert not ray.is_initialized()


def test_errors_are_reported_in_one_line(disturbed: Disturbed, tmp_path: Path) -> None:
    absent = PanelConfig(seats=(SeatConfig(judge="absent"),))
    job = replace(disturbed.job, panel=absent, folder=str(tmp_path / "run"))
    with pytest.raises(ConfigError, match="'absent'; choose from ") as raised:
        run_on_cluster(job, lambda _: None)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "share"),
    [
        ({"gpus": 1}, "1 cores and 1 GPUs"),
        ({"panel": PanelConfig(seats=(SeatConfig(judge="form"),), processes=9)}, "9 cores and 0"),
    ],
)
def test_a_worker_for_whom_the_cluster_has_no_room_is_refused(
    disturbed: Disturbed, tmp_path: Path, change: dict[str, Any], share: str
) -> None:
    job = replace(disturbed.job, folder=str(tmp_path / "run"), **change)
    with pytest.raises(ConfigError, match=f"a worker takes {share}.* and the cluster has"):
        run_on_cluster(job, lambda _: None)


def test_a_cluster_that_does_not_answer_is_reported(disturbed: Disturbed) -> None:
    with pytest.raises(EvaluationError, match="no Ray cluster at '127.0.0.1:1'"):
        run_on_cluster(replace(disturbed.job, address="127.0.0.1:1"), lambda _: None)
