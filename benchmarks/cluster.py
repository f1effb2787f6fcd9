"""The parts of a run on a cluster: cutting, a worker's row, the ledger and joining.

Run as ``python -m benchmarks.cluster [ROWS]``; the default is 10,000. The rows are those of
`benchmarks.scale`, judged by a judge with a constant report. Each figure is the CPU time of a
separate process, without Ray. With ``--ray``, two more are measured: the round trip to the ledger
on a cluster of this machine, and the start of the command with and without Ray, as the CPU time of
all its processes (Linux only).
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from benchmarks.apart import apart, spending
from benchmarks.batch_rows import write_rows

from spanjury import Aspect, Report, Segment
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.services.runs.cluster import ChunkWorker
from spanjury.orchestration.services.runs.cluster_job import CHUNKS, ENDS, ClusterJob
from spanjury.orchestration.services.runs.cluster_ledger import Ledger
from spanjury.orchestration.wiring.cluster import ShardFolder, cut_chunks, ray_engine
from spanjury.orchestration.wiring.config import PanelConfig, SeatConfig

CHUNK_ROWS = (64, 1024)
NOTE = (
    '{"spent":[{"usage":{"calls":3,"prompt":3300,"cached":0,"completion":300,"reasoning":0},'
    '"price":{"prompt":1e-6,"completion":4e-6,"cached":null}}]}'
)
NOTES = 20_000
TRIPS = 1_000
FEW = 64
_LOOK = 0.5
"""Seconds between samples of a command's processes; CPU time after the last sample is lost."""
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class TrivialJudge:
    """A judge that returns the same report for everything."""

    signature: str = "trivial"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the report."""
        del segment, aspect
        return Report(score=3)


def job_in(folder: Path, chunk_rows: int) -> ClusterJob:
    """Return a job for the rows in `folder`."""
    return ClusterJob(
        data=str(folder / "rows.jsonl"),
        panel=PanelConfig(seats=(SeatConfig(judge=TrivialJudge()),)),
        folder=str(folder / f"run-{chunk_rows}"),
        aspects=("consistency",),
        chunk_rows=chunk_rows,
    )


def cut(folder: Path, chunk_rows: int) -> float:
    """Return the CPU seconds of cutting the rows into chunks."""
    job = job_in(folder, chunk_rows)
    with spending() as spent:
        count = sum(1 for _ in map(CHUNKS.dump_json, cut_chunks(job.data, rows=chunk_rows)))
    assert count
    return spent.cpu


def judge(folder: Path, chunk_rows: int) -> float:
    """Return a worker's CPU seconds, extrapolated from all chunks but the first."""
    job = job_in(folder, chunk_rows)
    ledger = Ledger(job.limits)

    async def ask(note: str) -> str:
        return ledger(note)

    shards = ShardFolder(job.folder)
    shards.create()
    worker = ChunkWorker(job, Catalogue.load(), ask)
    cut = cut_chunks(job.data, rows=chunk_rows)
    chunks = [CHUNKS.dump_json(chunk).decode() for chunk in cut]
    keys = [ENDS.validate_json(worker(chunks[0])).record.key]
    with spending() as spent:
        keys += [ENDS.validate_json(worker(chunk)).record.key for chunk in chunks[1:]]
    (folder / f"keys-{chunk_rows}").write_text("\n".join(keys))
    return spent.cpu * len(chunks) / max(1, len(chunks) - 1)


def again(folder: Path, chunk_rows: int) -> float:
    """Return the CPU seconds of a worker that finds all its shards complete."""
    return judge(folder, chunk_rows)


def join(folder: Path, chunk_rows: int) -> float:
    """Return the CPU seconds of joining the shards written by `judge`."""
    shards = ShardFolder(job_in(folder, chunk_rows).folder)
    keys = (folder / f"keys-{chunk_rows}").read_text().split()
    with spending() as spent:
        shards.join(keys)
    return spent.cpu


def note() -> float:
    """Return the ledger's CPU seconds per note."""
    ledger = Ledger(Limits(max_cost=1e9))
    with spending() as spent:
        for _ in range(NOTES):
            ledger(NOTE)
    return spent.cpu / NOTES


def trips() -> tuple[float, float]:
    """Return the seconds of a note's round trip to the ledger, and its sender's CPU seconds."""

    async def ask(ledger: "ray_engine.Shared") -> None:
        for _ in range(TRIPS):
            await ledger.ask(NOTE)

    with ray_engine.on_ray() as cluster:
        ledger = cluster.share(partial(Ledger, Limits(max_cost=1e9)))
        anyio.run(ledger.ask, NOTE)
        begun = time.perf_counter()
        with spending() as spent:
            anyio.run(ask, ledger)
        return (time.perf_counter() - begun) / TRIPS, spent.cpu / TRIPS


def started(folder: Path, *, engine: str) -> tuple[float, float]:
    """Return the CPU and wall-clock seconds of `evaluate` on a few rows, over all its processes."""
    flags = ["--judge", "form", "--aspect", "fluency", "--limit", str(FEW), "--show", "none"]
    run = ["--run-dir", str(folder / f"few-{engine}"), "--engine", engine]
    begun = time.perf_counter()
    with subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "spanjury", "evaluate", str(folder / "rows.jsonl"), *flags, *run],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        spent: dict[int, float] = {}
        while process.poll() is None:
            spent |= _cpu_below(process.pid)
            time.sleep(_LOOK)  # noqa: TID251  it samples; nothing is timed by it
    assert process.returncode == 0
    return sum(spent.values()), time.perf_counter() - begun


def _cpu_below(root: int) -> dict[int, float]:
    """Return the CPU seconds so far of `root` and each of its living descendants."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                spent[int(entry.name)] = (int(fields[11]) + int(fields[12])) / _TICK
    below = {root}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return {pid: cpu for pid, cpu in spent.items() if pid in below}


def main() -> None:
    """Print the parts."""
    parser = argparse.ArgumentParser(description="Measure the parts of a run on a cluster.")
    parser.add_argument("rows", nargs="?", type=int, default=10_000, metavar="ROWS")
    parser.add_argument("--ray", action="store_true", help="also on Ray")
    options = parser.parse_args()
    parts: dict[str, Callable[[Path, int], float]] = {
        "cut": cut,
        "worker": judge,
        "worker, again": again,
        "join": join,
    }
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_rows(folder / "rows.jsonl", options.rows)
        print(f"{'µs of CPU a row':<20}" + "".join(f"{rows:>6} a chunk" for rows in CHUNK_ROWS))
        for name, part in parts.items():
            seconds = (apart(part, folder, chunk_rows) for chunk_rows in CHUNK_ROWS)
            figures = "".join(f"{each / options.rows * 1e6:>14.1f}" for each in seconds)
            print(f"{name:<20}{figures}", flush=True)
        for engine in ("local", "ray") if options.ray else ():
            cpu, wall = started(folder, engine=engine)
            print(f"{FEW} rows, --engine {engine}: {cpu:.1f} s of CPU, {wall:.0f} s", flush=True)
    print(f"ledger: {apart(note) * 1e6:.0f} µs of CPU a note")
    if options.ray:
        took, cpu = apart(trips)
        print(f"ledger on Ray: {took * 1e6:.0f} µs there and back, {cpu * 1e6:.0f} µs of CPU")


if __name__ == "__main__":
    main()
