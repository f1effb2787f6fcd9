"""A stop token begins nothing new, and cuts off nothing before its grace is over."""

import math

import anyio
import pytest
from anyio import create_task_group, wait_all_tasks_blocked
from fakes.judges import ASPECT, WaitingJudge, panel_of, segment

from spanjury.judges.core import ConfigError, Judge, RunFailedError
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.engine.stopping import (
    GRACE,
    FailurePolicy,
    StopToken,
    run_in_time,
    run_watched,
)


class Batch:
    """Five pairs before one judge, two at once."""

    def __init__(self, judge: Judge) -> None:
        self.written: list[str] = []
        self.stop_token = StopToken()
        self._panel = panel_of(judge, names=["only"])

    async def run(self) -> None:
        await evaluate(
            self._panel,
            [(segment(str(number)), ASPECT) for number in range(5)],
            write=lambda result: self.written.append(result.segment.segment_id),
            workers=2,
            stop_token=self.stop_token,
        )


async def test_running_work_is_finished_and_nothing_else_begins() -> None:
    judge = WaitingJudge.holding(["0", "1"])
    batch = Batch(judge)
    async with create_task_group() as group:
        group.start_soon(batch.run)
        await wait_all_tasks_blocked()
        batch.stop_token.request("enough")
        await wait_all_tasks_blocked()
        assert batch.written == []
        judge.events["1"].set()
        judge.events["0"].set()
    assert (batch.written, judge.began) == (["0", "1"], ["0", "1"])
    assert batch.stop_token.interrupted


async def test_running_work_is_dropped_and_done_work_kept_after_the_grace() -> None:
    judge = WaitingJudge.holding(["0"])
    batch = Batch(judge)
    async with create_task_group() as group:
        group.start_soon(batch.run)
        await wait_all_tasks_blocked()
        batch.stop_token.request("enough", grace=0.0)
    assert batch.written == ["1", "2", "3", "4"]
    assert batch.stop_token.interrupted


async def test_the_first_reason_and_the_shortest_grace_count() -> None:
    stop_token = StopToken()
    with anyio.fail_after(5), stop_token:
        stop_token.request("first", grace=60)
        stop_token.request("second", grace=0)
        await anyio.sleep_forever()
    assert stop_token.reason == "first"


async def test_a_stop_that_was_requested_before_stops_before_the_first() -> None:
    judge = WaitingJudge.holding([])
    batch = Batch(judge)
    batch.stop_token.request("early")
    await batch.run()
    assert (judge.began, batch.written) == ([], [])


async def test_a_stop_that_is_requested_when_all_is_begun_interrupts_nothing() -> None:
    judge = WaitingJudge.holding(["3", "4"])
    batch = Batch(judge)
    async with create_task_group() as group:
        group.start_soon(batch.run)
        await wait_all_tasks_blocked()
        batch.stop_token.request("late", grace=60)
        judge.events["3"].set()
        judge.events["4"].set()
    assert batch.written == ["0", "1", "2", "3", "4"]
    assert not batch.stop_token.interrupted


@pytest.mark.parametrize("graces", [(0,), (60, 0), (0, 60)])
async def test_the_shortest_grace_before_entry_limits_the_work(graces: tuple[float, ...]) -> None:
    stop_token = StopToken()
    for grace in graces:
        stop_token.request("early", grace=grace)
    with anyio.fail_after(5), stop_token:
        await anyio.sleep_forever()
    assert stop_token.interrupted


async def test_without_a_grace_there_is_no_deadline() -> None:
    stop_token = StopToken()
    stop_token.request("early")
    with stop_token:
        assert anyio.current_effective_deadline() == math.inf


async def test_a_failure_gives_work_its_grace_and_the_first_one_is_kept() -> None:
    stop_token = StopToken()
    first = RunFailedError("first")
    with stop_token:
        stop_token.fail(first)
        stop_token.fail(RunFailedError("second"))
        assert anyio.current_effective_deadline() <= anyio.current_time() + GRACE
    assert stop_token.failure is first
    assert stop_token.reason == "first"


async def test_watchers_begin_before_the_work_and_end_with_it() -> None:
    events: list[str] = []

    async def watch() -> None:
        events.append("watching")
        try:
            await anyio.sleep_forever()
        finally:
            events.append("watched")

    async def work() -> int:
        events.append("working")
        await anyio.lowlevel.checkpoint()
        return 7

    with anyio.fail_after(5):
        assert await run_watched(work, watch, watch) == 7
    assert events == ["watching", "watching", "working", "watched", "watched"]


async def test_work_ends_when_its_seconds_are_over_and_never_without_a_limit() -> None:
    limited, free = StopToken(), StopToken()
    with anyio.fail_after(5):
        await run_in_time(wait_all_tasks_blocked, limited, seconds=0)
        await run_in_time(wait_all_tasks_blocked, free, seconds=None)
    assert limited.reason == "0 seconds are over"
    assert not free.is_requested


def test_an_outage_has_an_end_and_no_negative_length() -> None:
    assert FailurePolicy(max_outage=0).preflight
    for outage in (-1, math.inf, math.nan):
        with pytest.raises(ConfigError, match="0 or more seconds|must be a number"):
            FailurePolicy(max_outage=outage)


@pytest.mark.parametrize("who", ["work", "watcher"])
async def test_an_error_ends_all_and_is_no_group(who: str) -> None:
    async def fail() -> None:
        await anyio.lowlevel.checkpoint()
        raise LookupError("this")

    tasks = (fail, anyio.sleep_forever) if who == "work" else (anyio.sleep_forever, fail)
    with anyio.fail_after(5), pytest.raises(LookupError, match="this"):
        await run_watched(*tasks)
