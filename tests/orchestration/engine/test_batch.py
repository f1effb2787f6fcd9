from collections.abc import Iterator

import pytest
from anyio import CancelScope, create_task_group, wait_all_tasks_blocked
from fakes.judges import ASPECT, FixedJudge, WaitingJudge, panel_of, segment

from spanjury.judges.core import Aspect, Report, Result, Segment
from spanjury.orchestration.engine.batch import evaluate


def pairs(count: int) -> list[tuple[Segment, Aspect]]:
    return [(segment(str(number)), ASPECT) for number in range(count)]


async def test_results_come_in_the_order_of_the_pairs_whoever_is_done_first() -> None:
    judge = WaitingJudge.holding(["0", "2"])
    written: list[Result] = []
    async with create_task_group() as group:

        async def run() -> None:
            await evaluate(
                panel_of(judge, names=["only"]), pairs(5), write=written.append, workers=3
            )

        group.start_soon(run)
        await wait_all_tasks_blocked()
        assert written == []
        judge.events["2"].set()
        await wait_all_tasks_blocked()
        assert written == []
        judge.events["0"].set()
    assert [result.segment.segment_id for result in written] == list("01234")


async def test_no_more_pairs_are_read_than_the_window_holds() -> None:
    judge = WaitingJudge.holding([str(number) for number in range(1000)])
    read: list[str] = []

    def reading() -> Iterator[tuple[Segment, Aspect]]:
        for one, aspect in pairs(1000):
            read.append(one.segment_id)
            yield one, aspect

    with CancelScope() as scope:
        async with create_task_group() as group:

            async def run() -> None:
                await evaluate(
                    panel_of(judge, names=["only"]), reading(), write=lambda _: None, workers=2
                )

            group.start_soon(run)
            await wait_all_tasks_blocked()
            assert len(judge.began) == 2
            assert len(read) <= 2 * 4 + 2
            scope.cancel()


async def test_a_cancelled_run_has_written_all_that_is_complete() -> None:
    judge = WaitingJudge.holding(["1"])
    written: list[str] = []
    async with create_task_group() as group:

        async def run() -> None:
            await evaluate(
                panel_of(judge, names=["only"]),
                pairs(5),
                write=lambda result: written.append(result.segment.segment_id),
                workers=2,
            )

        group.start_soon(run)
        await wait_all_tasks_blocked()
        assert written == ["0"]  # the others wait behind the one that hangs
        group.cancel_scope.cancel()
    assert written == ["0", "2", "3", "4"]


async def test_an_error_of_the_writer_ends_the_run_as_itself() -> None:
    def full(_: Result) -> None:
        raise OSError("disk full")

    judge = FixedJudge(says=Report(score=3))
    with pytest.raises(OSError, match="disk full"):
        await evaluate(panel_of(judge, names=["only"]), pairs(100), write=full)


async def test_an_error_of_the_reader_comes_after_what_was_read_before_it() -> None:
    written: list[Result] = []

    def reading() -> Iterator[tuple[Segment, Aspect]]:
        yield from pairs(3)
        raise ValueError("row 4 is broken")

    judge = FixedJudge(says=Report(score=3))
    with pytest.raises(ValueError, match="row 4"):
        await evaluate(panel_of(judge, names=["only"]), reading(), write=written.append, workers=1)
    assert len(written) <= 3
