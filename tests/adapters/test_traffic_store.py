"""The store of live traffic: what waits, what is sent, and what is forgotten."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio import create_task_group

from spanjury.adapters.runs.traffic_store import Arrival, Outgoing, TrafficStore
from spanjury.judges.core import StoreError


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TrafficStore]:
    with TrafficStore(tmp_path / "traffic.sqlite3") as opened:
        yield opened


def part(span: str, *, due: float, is_root: bool = False, trace: str = "t") -> Arrival:
    return Arrival(trace=trace, span=span, body=span.encode(), due=due, is_root=is_root)


async def test_a_trace_waits_for_its_root_and_then_for_nothing_else(store: TrafficStore) -> None:
    await store.accept([part("child", due=30)])
    assert store.ready(limit=9, now=29) == []
    await store.accept([part("root", due=10, is_root=True)])
    await store.accept([part("late", due=50)])
    (waiting,) = store.ready(limit=9, now=10)
    assert waiting.bodies == (b"child", b"late", b"root")
    assert store.ready(limit=9, now=10, without=["t"]) == []
    assert store.next_due() == 10


async def test_what_could_not_be_judged_waits_and_is_counted(store: TrafficStore) -> None:
    await store.accept([part("root", due=1, is_root=True)])
    await store.postpone("t", due=100)
    await store.accept([part("late", due=2, is_root=True)])
    assert store.ready(limit=9, now=99) == []
    (waiting,) = store.ready(limit=9, now=100)
    assert waiting.tries == 1


async def test_only_the_first_end_of_a_trace_counts(store: TrafficStore) -> None:
    await store.accept([part("root", due=1)])
    await store.end("t", [Outgoing(identity="a", body=b"1", line=b"row\n")], states={"s": b"x"})
    await store.end("t", [Outgoing(identity="b", body=b"2")])
    assert [each.body for each in store.undelivered("sink", kind="score", limit=9)] == [b"1"]
    assert store.state("s") == b"x"
    assert (store.waiting(), store.next_due(), store.state("none")) == (0, None, None)


async def test_many_tasks_write_at_once(store: TrafficStore) -> None:
    async with create_task_group() as group:
        for number in range(50):
            group.start_soon(store.accept, [part("root", due=1, trace=f"t{number}")])
    assert store.waiting() == 50


async def test_only_what_every_sink_has_is_forgotten(store: TrafficStore) -> None:
    for name in ("a", "b"):
        await store.accept([part("root", due=1, trace=name)])
        await store.end(name, [Outgoing(identity=name, body=name.encode())])
    await store.deliver("fast", 2)
    await store.deliver("slow", 1)
    await store.prune(["fast", "slow"], before=1e12)
    left = store.undelivered("new", kind="score", limit=9)
    assert [each.body for each in left] == [b"b"]
    await store.prune([], before=1e12)
    assert store.undelivered("new", kind="score", limit=9) == []


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite3"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE mine (x)")
    with pytest.raises(StoreError, match="holds no live traffic"), TrafficStore(path):
        pass
