"""Turns of checks: what is expected of them, and which begin."""

from collections.abc import Callable
from functools import partial

import anyio
import pytest
from anyio import wait_all_tasks_blocked

from spanjury.orchestration.servers.http.check_turns import CheckTurns
from spanjury.orchestration.servers.http.problems import ProblemError


def turns(clock: list[float], *, lanes: int = 1, most: int = 100) -> CheckTurns:
    """Return turns of several tenants whose time is the first of `clock`."""
    return CheckTurns(
        most=most, longest_wait=10.0, lanes=lambda: lanes, is_shared=True, now=lambda: clock[0]
    )


async def judged(checks: CheckTurns, clock: list[float], *, seconds: float, size: int) -> None:
    """Judge a text of so many characters, which takes so long."""
    async with checks.turn("ann", characters=size):
        clock[0] += seconds


async def held(checks: CheckTurns, done: anyio.Event, began: Callable[[], None]) -> None:
    async with checks.turn("ann", characters=100):
        began()
        await done.wait()


async def test_a_check_is_refused_by_the_seconds_that_it_would_wait_and_not_by_a_count() -> None:
    clock = [0.0]
    for seconds, taken in ((0.1, 100), (5.0, 3)):
        checks, done, waiting = turns(clock), anyio.Event(), 0
        await judged(checks, clock, seconds=seconds, size=100)
        async with anyio.create_task_group() as group:
            while not checks.wait("ann") > 10.0:
                group.start_soon(held, checks, done, lambda: None)
                await wait_all_tasks_blocked()
                waiting += 1
            with pytest.raises(ProblemError, match="too-busy") as refused:
                checks.require_soon("ann")
            assert refused.value.headers == {"Retry-After": "1" if seconds < 1 else "5"}
            assert checks.wait("bob") == pytest.approx(seconds)
            done.set()
        assert waiting == pytest.approx(taken, abs=1)
        assert checks.wait("ann") == 0


async def test_checks_that_were_let_in_by_their_heads_count_before_they_are_in_a_queue() -> None:
    clock = [0.0]
    checks = turns(clock)
    await judged(checks, clock, seconds=4.0, size=100)
    leave = [checks.arrive("ann") for _ in range(2)]
    assert (checks.wait("ann"), checks.wait("bob")) == (12.0, 4.0)
    with pytest.raises(ProblemError, match="too-busy"):
        checks.arrive("ann")
    leave[0]()
    leave[0]()
    assert checks.wait("ann") == 8.0
    turns(clock, lanes=2).arrive("ann")()  # two may begin at once
    leave[1]()
    assert checks.wait("ann") == 0.0


async def test_a_long_text_is_expected_to_take_longer_and_a_short_one_as_long_as_usual() -> None:
    clock = [0.0]
    checks, done = turns(clock), anyio.Event()
    await judged(checks, clock, seconds=2.0, size=1_000)
    async with anyio.create_task_group() as group:
        group.start_soon(held, checks, done, lambda: None)
        await wait_all_tasks_blocked()
        waits = []
        for size in (10, 1_000, 3_000):
            group.start_soon(partial(judged, checks, clock, seconds=2.0, size=size))
            await wait_all_tasks_blocked()
            waits.append(checks.wait("ann"))
        assert waits == [4.0, 6.0, 12.0]
        done.set()


async def test_checks_at_once_are_measured_as_if_each_were_alone() -> None:
    clock = [0.0]
    checks, done = turns(clock, lanes=2), anyio.Event()
    begun = 0

    def count() -> None:
        nonlocal begun
        begun += 1

    async with anyio.create_task_group() as group:
        for _ in range(4):  # before one was measured, all may begin
            group.start_soon(held, checks, done, count)
        await wait_all_tasks_blocked()
        assert begun == 4
        clock[0] += 8.0
        done.set()
    done = anyio.Event()
    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(held, checks, done, count)
        await wait_all_tasks_blocked()
        assert begun == 6  # a third one would slow the others down
        assert checks.wait("bob") == pytest.approx(4.0 / 2)
        done.set()


async def test_a_check_that_is_cancelled_while_it_waits_takes_no_turn() -> None:
    clock = [0.0]
    checks, done = turns(clock, most=1), anyio.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(held, checks, done, lambda: None)
        await wait_all_tasks_blocked()
        with anyio.move_on_after(0):
            await judged(checks, clock, seconds=0.0, size=1)
        done.set()
    assert checks.wait("ann") == 0
    await judged(checks, clock, seconds=0.0, size=1)
