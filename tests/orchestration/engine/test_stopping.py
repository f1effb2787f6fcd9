"""A stop token begins nothing new, and cuts off nothing before its grace is over."""

import anyio
import pytest
from anyio import create_task_group, wait_all_tasks_blocked
from fakes.judges import ASPECT, WaitingJudge, segment

from spanjury.judges.core import Judge
from spanjury.orchestration.engine.aggregation import mean
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.seats import Seat
from spanjury.orchestration.engine.stopping import StopToken

pytestmark = pytest.mark.anyio


class Batch:
    """Five pairs before one judge, two at once."""

    def __init__(self, judge: Judge) -> None:
        self.written: list[str] = []
        self.stop_token = StopToken()
        self._panel = Panel(
            seats=(Seat(name="only", judge=judge),),
            aggregation=mean,
            aggregation_name="mean",
            consolidator=RuleConsolidator(),
        )

    async def run(self) -> None:
        await evaluate(
            self._panel,
            [(segment(str(number)), ASPECT) for number in range(5)],
            write=lambda result: self.written.append(result.segment.segment_id),
            workers=2,
            stop_token=self.stop_token,
        )


async def test_what_is_under_way_is_finished_and_nothing_else_begun() -> None:
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
    assert batch.written == ["0", "1"]
    assert judge.began == ["0", "1"]
    assert batch.stop_token.interrupted


async def test_after_the_grace_what_is_under_way_is_dropped_and_what_is_done_kept() -> None:
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
    assert judge.began == []
    assert batch.written == []


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
