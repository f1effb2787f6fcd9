"""Plan of a very large run on a cluster, and the number of rows from which Ray is worth it.

Run as ``python -m benchmarks.plan [ROWS] [--chunk-rows N] [--calls-a-second N] [--latency L]
[--connections C]``; the default is 10^9 rows. The costs of the parts were measured by
`benchmarks.cluster` and `benchmarks.scale` (see the table in docs/scale.md), and the limits are
those of the engine. The share of time in which a worker is fully used is simulated: a worker begins
a chunk when the last call of the previous one has been answered.
"""

import argparse
import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spanjury.judges.core import ModelOptions
from spanjury.orchestration.wiring.cluster import CHUNK_ROWS, ray_engine

HOUR, GB, MB = 3_600.0, 1e9, 1e6
START = 16.0
"""Additional seconds of a run of 64 rows with Ray: the minimum of earlier runs, 16 to 35."""
JUDGES = {"`form`": 1.7e-3, "`grounding` and `form`": 3.8e-3, "`reader`": 38e-3}
"""CPU seconds per assessment."""
CHUNKS = (CHUNK_ROWS, 1_024, 8_192)
_SEED = 7
_MOST_PARTS = 10_000
"""Maximum number of parts of a file on S3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Costs of the parts of a run in CPU seconds and bytes, named as in docs/scale.md."""

    model: float = 0.76e-3  # c1, an assessment by one model
    worker: float = 0.13e-3  # c4
    again: float = 53e-6  # c5
    cut: float = 3.4e-6  # c6
    join: float = 0.7e-6  # c7
    row: float = 2_800  # b1
    result: float = 2_660  # b2
    described: float = 150  # a chunk, as JSON
    resident: float = 225e6  # m1, a worker in its Ray process
    disk: float = 200e6  # D, bytes a second


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The servers of a model, and the workers' connections to them.

    All servers together answer `rate` calls per second, each after `latency` seconds on average; a
    worker makes `connections` concurrent calls.
    """

    rate: float = 1_000.0
    latency: float = 2.0
    connections: int = 64


def busy_share(*, rows: int, connections: int, draws: int = 200) -> float:
    """Return the share of its time in which a worker uses all its connections.

    Durations of calls are drawn from an exponential distribution, the worst case that is likely.
    """
    generator = np.random.default_rng(_SEED)
    ends = [_end(generator.exponential(size=rows), connections) for _ in range(draws)]
    return rows / connections / float(np.mean(ends))


def _end(times: np.ndarray[tuple[int, ...], np.dtype[np.float64]], connections: int) -> float:
    """Return the end of a chunk's last call if each free connection takes the next one."""
    free = [0.0] * connections
    for time in times.tolist():
        heapq.heapreplace(free, free[0] + time)
    return max(free)


def pays_from(judging: float, *, cores: int, here: int, start: float = START) -> float:
    """Return the number of rows from which a cluster of `cores` beats `here` cores without Ray.

    `judging` is the CPU seconds per assessment. Infinite if the cluster has too few cores.

    Examples
    --------
    >>> round(pays_from(0.01, cores=20, here=10, start=5.0), -2)
    10100.0
    """
    gain = judging / here - (judging + Parts().worker) / cores
    return start / gain if gain > 0 else math.inf


def plan(rows: int, *, chunk_rows: int, load: Load, parts: Parts) -> list[tuple[str, str]]:
    """Return the requirements of `rows` with one aspect, as names and values."""
    chunks = math.ceil(rows / chunk_rows)
    tasks = min(chunks, ray_engine.MOST_TASKS)
    share = busy_share(rows=chunk_rows, connections=load.connections)
    workers = math.ceil(load.rate * load.latency / load.connections / share)
    results = rows * parts.result
    return [
        ("chunks, and shards", f"{chunks:,}"),
        ("chunks of a task of Ray Data", f"{math.ceil(chunks / tasks):,}"),
        ("descriptions of chunks in the driver", f"{chunks * parts.described / GB:.2f} GB"),
        ("size of a shard", f"{chunk_rows * parts.result / MB:.2f} MB"),
        ("data, read once", f"{rows * parts.row / GB:,.0f} GB"),
        ("all shards, and as much again joined", f"{results / GB:,.0f} GB"),
        ("parts of the joined file that S3 takes", f"{results / _MOST_PARTS / MB:,.0f} MB"),
        ("cutting: CPU of the driver", f"{rows * parts.cut / HOUR:.1f} h"),
        ("cutting: reading", f"{rows * parts.row / parts.disk / HOUR:.1f} h"),
        ("joining: reading and writing", f"{2 * results / parts.disk / HOUR:.1f} h"),
        ("a second run: CPU of the workers", f"{rows * parts.again / HOUR:.0f} h"),
        ("model: time, bound by the servers", f"{rows / load.rate / HOUR:,.0f} h"),
        ("model: share of full use (simulated)", f"{share:.2f}"),
        ("model: workers", f"{workers:,}"),
        ("model: memory of the workers", f"{workers * parts.resident / GB:.0f} GB"),
        ("model: CPU of the workers", f"{rows * (parts.model + parts.worker) / HOUR:,.0f} h"),
        *(
            (f"{name}: CPU", f"{rows * (judging + parts.worker) / HOUR:,.0f} h")
            for name, judging in JUDGES.items()
        ),
    ]


def table(rows: int, *, sizes: Sequence[int] = CHUNKS, load: Load = Load()) -> list[str]:
    """Return the lines of the plan, with one column per chunk size."""
    columns = [plan(rows, chunk_rows=size, load=load, parts=Parts()) for size in sizes]
    heads = ["what", *(f"chunks of {size:,}" for size in sizes)]
    cells = [[lines[0][0], *(value for _, value in lines)] for lines in zip(*columns, strict=True)]
    return [f"| {' | '.join(line)} |" for line in (heads, ["---"] * len(heads), *cells)]


def main() -> None:
    """Print the plan, one column per chunk size, and from how many rows Ray is worth it."""
    usual = Load()
    parser = argparse.ArgumentParser(description="Plan a very large run on a cluster.")
    parser.add_argument("rows", nargs="?", type=float, default=1e9, metavar="ROWS")
    parser.add_argument("--chunk-rows", type=int, action="append", help="64, 1,024 and 8,192")
    parser.add_argument("--calls-a-second", type=float, default=usual.rate)
    parser.add_argument("--latency", type=float, default=usual.latency, help="seconds a call")
    parser.add_argument(
        "--connections",
        type=int,
        default=usual.connections,
        help=f"of a worker; the command itself has {ModelOptions().max_connections}",
    )
    options = parser.parse_args()
    load = Load(
        rate=options.calls_a_second, latency=options.latency, connections=options.connections
    )
    sizes = options.chunk_rows or CHUNKS
    columns = [plan(int(options.rows), chunk_rows=rows, load=load, parts=Parts()) for rows in sizes]
    print("| what |" + "".join(f" chunks of {rows:,} |" for rows in sizes))
    print("|---|" + "---|" * len(sizes))
    for lines in zip(*columns, strict=True):
        print(f"| {lines[0][0]} |" + "".join(f" {value} |" for _, value in lines))
    print()
    print("| judges | than one process | than 8 processes |")
    print("|---|---|---|")
    for name, judging in JUDGES.items():
        rows = (pays_from(judging, cores=32, here=here) for here in (1, 8))
        print(f"| {name} |" + "".join(f" {each:,.0f} |" for each in rows))


if __name__ == "__main__":
    main()
