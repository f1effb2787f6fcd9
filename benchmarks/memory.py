"""Cost of caching: puts and gets per second, assessments compared with uncached ones, and calls.

Run as ``python -m benchmarks.memory [FOLDER]``. The memory is written to FOLDER during the
measurement: puts are as fast as its disk syncs. An assessment is of an article of 4,000 characters,
and its report has two error spans and a reply of 500 characters. The uncached judges are the
offline grounding judge, and one with a constant report. A call takes 10 to 30 ms, 64 run
concurrently, and each reply is put; the cost is also measured with the ledger on disk.
"""

import sys
import tempfile
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio

import spanjury
from spanjury import Report, Segment
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import Aspect, ChatRequest, ErrorSpan, Judge, Message, Usage
from spanjury.judges.rules.grounding import GroundingJudge
from spanjury.orchestration.engine.memory import RememberedJudge
from spanjury.orchestration.engine.memory_codec import written
from spanjury.orchestration.engine.metering import Meter

ASPECT = spanjury.find_aspect("summarization", "consistency")
ERROR = ErrorSpan(text="", explanation="The article says another year. " * 3, severity=3)
REPORT = Report(score=2, spans=(ERROR, ERROR), rationale="Two years.", reply="Score: Poor " * 42)
ARTICLE = "The bridge in the harbour was opened in 1932 by the premier of the state. " * 54
TASKS = (1, 8, 64, 512)
SECONDS = 2.0
GETS = 20_000
SEGMENTS = 2_000
CALLS, CONNECTIONS, CALL_SECONDS, ROUNDS = 2_000, 64, 0.02, 7


@dataclass(frozen=True, slots=True)
class FixedJudge:
    """A judge that returns the same report for everything."""

    signature: str = "fixed"

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the constant report."""
        del segment, aspect
        return REPORT


async def puts_a_second(memory: SqliteMemory, tasks: int) -> tuple[float, float]:
    """Return the puts per second of `tasks` concurrent tasks, and per CPU second."""
    value = written(REPORT)
    begun = time.process_time()
    ends = time.perf_counter() + SECONDS
    done = 0

    async def put(name: str) -> None:
        nonlocal done
        number = 0
        while time.perf_counter() < ends:
            number += 1
            await memory.put(f"{tasks} {name} {number}", value)
            done += 1

    async with anyio.create_task_group() as putting:
        for task in range(tasks):
            putting.start_soon(put, str(task))
    return done / SECONDS, done / (time.process_time() - begun)


def gets_a_cpu_second(memory: SqliteMemory) -> float:
    """Return the number of gets per CPU second."""
    begun = time.process_time()
    for number in range(GETS):
        assert memory.get(f"512 {number % 512} 1") is not None
    return GETS / (time.process_time() - begun)


async def microseconds(judge: Judge) -> float:
    """Return the CPU time of one assessment in microseconds."""
    segments = [
        Segment(segment_id=str(number), output=f"It opened in {number}.", inputs={"A": ARTICLE})
        for number in range(SEGMENTS)
    ]
    begun = time.process_time()
    for segment in segments:
        await judge.assess(segment, ASPECT)
    return (time.process_time() - begun) / SEGMENTS * 1e6


async def microseconds_of_calls(memory: SqliteMemory, *, is_kept: bool) -> float:
    """Return the CPU time of a call whose reply is stored, and its ledger too if `is_kept`."""
    meter = Meter()
    account = meter.account(name="model", price=None)
    request = ChatRequest(messages=(Message(role="user", content="?" * 3_000),))
    usage = Usage(calls=1, prompt=800, completion=100)
    numbers = iter(range(CALLS))

    async def call() -> None:
        for number in numbers:
            reservation = await account.reserve(request)
            await anyio.sleep(CALL_SECONDS * (0.5 + number % 11 / 10))
            await reservation.settle(usage)
            await memory.put(f"reply {number}", b"x" * 400)

    with meter.kept_in(memory) if is_kept else nullcontext():
        begun = time.process_time()
        async with anyio.create_task_group() as calling:
            for _ in range(CONNECTIONS):
                calling.start_soon(call)
        return (time.process_time() - begun) / CALLS * 1e6


async def main(folder: Path) -> None:
    """Print the tables."""
    path = folder / "memory.db"
    with SqliteMemory(path) as memory:
        print("| tasks | puts a second | a CPU second |\n|---|---|---|")
        for tasks in TASKS:
            by_clock, by_cpu = await puts_a_second(memory, tasks)
            print(f"| {tasks} | {by_clock:,.0f} | {by_cpu:,.0f} |")
        print(f"\ngets a CPU second: {gets_a_cpu_second(memory):,.0f}\n")
        print("| judge | bare, µs | first, µs | known, µs | known/bare |\n|---|---|---|---|---|")
        judges: dict[str, Judge] = {"fixed": FixedJudge(), "grounding": GroundingJudge()}
        for name, judge in judges.items():
            remembered = RememberedJudge(judge, memory)
            bare = await microseconds(judge)
            first = await microseconds(remembered)
            recalled = await microseconds(remembered)
            print(f"| {name} | {bare:.1f} | {first:.1f} | {recalled:.1f} | {recalled / bare:.2f} |")
        rounds: dict[bool, list[float]] = {False: [], True: []}
        for is_kept in (False, True) * ROUNDS:
            rounds[is_kept].append(await microseconds_of_calls(memory, is_kept=is_kept))
        without, kept = (median(rounds[is_kept]) for is_kept in (False, True))
        print(f"\na call: {without:.0f} µs, with the ledger on disk {kept - without:.0f} more")
    size = path.stat().st_size
    begun = time.perf_counter()
    with SqliteMemory(path):
        took = time.perf_counter() - begun
    print(f"\nopening {size / 1e6:.0f} MB, with the check for damage: {took:.2f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        anyio.run(main, Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as scratch:
            anyio.run(main, Path(scratch))
