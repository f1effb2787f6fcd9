"""Turns: how much of an event loop, and how many threads, the work of offline judges takes."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from fakes.work import counted, dies_once, waits_for

from spanjury.judges.text.turns import LONG, Processes, all_in_turns, in_turn


class Held:
    """Work that notes who began it, and ends when it may."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.end = threading.Event()
        self.beginning = threading.Semaphore(0)

    def work(self, number: int) -> int:
        self.begun.append(number)
        self.beginning.release()
        self.end.wait()
        return number


@contextmanager
def held() -> Iterator[Held]:
    work = Held()
    try:
        yield work
    finally:
        work.end.set()


async def test_only_long_work_leaves_the_event_loop_s_thread() -> None:
    here = threading.get_ident()
    assert await in_turn(threading.get_ident, length=LONG) == here
    assert await in_turn(threading.get_ident, length=LONG + 1) != here


async def test_long_work_takes_two_threads_and_the_first_come_first() -> None:
    results: list[int] = []

    async def judge(number: int) -> None:
        results.append(await in_turn(lambda: work.work(number), length=LONG + 1))

    with held() as work:
        async with anyio.create_task_group() as judging:
            for number in range(20):
                judging.start_soon(judge, number)
                await anyio.wait_all_tasks_blocked()
            for _ in range(2):
                await anyio.to_thread.run_sync(work.beginning.acquire)
            assert sorted(work.begun) == [0, 1]
            work.end.set()
    assert sorted(results) == list(range(20))


async def test_between_any_two_short_texts_other_tasks_have_a_round() -> None:
    rounds = [0]
    seen: list[int] = []

    async def neighbour() -> None:
        while len(seen) < 20:
            rounds[0] += 1
            await anyio.lowlevel.checkpoint()

    async def judge() -> None:
        await in_turn(lambda: seen.append(rounds[0]), length=1)

    async with anyio.create_task_group() as judging:
        for _ in range(20):
            judging.start_soon(judge)
        judging.start_soon(neighbour)
    assert len(set(seen)) >= 10  # in a round of trio's, tasks run in any order


async def test_a_cancelled_caller_does_not_wait_for_long_work() -> None:
    async def judge() -> None:
        await in_turn(lambda: work.work(1), length=LONG + 1)

    with held() as work:
        async with anyio.create_task_group() as judging:
            judging.start_soon(judge)
            await anyio.to_thread.run_sync(work.beginning.acquire)
            judging.cancel_scope.cancel()
        assert work.begun == [1]
        assert not work.end.is_set()


async def test_errors_are_raised_at_any_length() -> None:
    for length in (1, LONG + 1):
        with pytest.raises(ValueError, match="expected a text"):
            await in_turn(_fail, length=length)


def _fail() -> None:
    raise ValueError("expected a text")


async def test_processes_do_the_work_and_one_that_dies_costs_a_second_try(tmp_path: Path) -> None:
    with Processes(1).working():
        worker = await in_turn(os.getpid, length=1)
        assert worker not in {
            os.getpid(),
            await in_turn(partial(dies_once, tmp_path / "f"), length=1),
        }
        parts = await all_in_turns(partial(counted, 3), length=LONG + 1)
    assert [number for number, _ in parts] == [0, 1, 2]
    assert os.getpid() not in {process for _, process in parts}
    assert await in_turn(os.getpid, length=1) == os.getpid()


async def test_cancelled_work_ends_with_its_process(tmp_path: Path) -> None:
    with Processes(1).working():
        worker = await in_turn(os.getpid, length=1)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(partial(in_turn, partial(waits_for, tmp_path / "end"), length=1))
                await anyio.wait_all_tasks_blocked()
                scope.cancel()
        assert await in_turn(os.getpid, length=1) != worker


async def test_what_cannot_be_pickled_or_is_to_stay_is_done_here() -> None:
    lock = threading.Lock()
    with Processes(1).working():
        assert await in_turn(lambda: (lock.locked(), os.getpid()), length=1) == (False, os.getpid())
        assert await in_turn(os.getpid, length=1, stays=True) == os.getpid()


async def test_parts_are_made_one_a_turn() -> None:
    threads = [number for number, _ in await all_in_turns(partial(counted, 3), length=LONG + 1)]
    assert threads == [0, 1, 2]
