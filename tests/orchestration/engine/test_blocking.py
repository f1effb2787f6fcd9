"""A step of a judge that blocks the event loop is noticed, and what it awaits is not its own."""

from collections.abc import Callable

import pytest
from anyio import CancelScope, create_task_group
from anyio.lowlevel import checkpoint
from fakes.judges import ASPECT, panel_of, segment
from fakes.logs import capture_logs

from spanjury.judges.core import Aspect, Report, Segment
from spanjury.orchestration.engine import blocking
from spanjury.orchestration.engine.blocking import with_longest_step


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that lets time pass on the clock of the steps, without computing."""
    now = [0.0]

    def passes(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(blocking, "perf_counter", lambda: now[0])
    monkeypatch.setattr(blocking, "thread_time", lambda: 0.0)
    return passes


async def test_the_longest_step_ends_where_the_code_waits(wait: Callable[[float], None]) -> None:
    noted: list[float] = []

    async def work() -> str:
        wait(2.0)
        await checkpoint()
        wait(3.0)
        await checkpoint()
        return "done"

    async def other() -> None:
        for _ in range(3):
            wait(50.0)
            await checkpoint()

    async with create_task_group() as group:
        group.start_soon(other)
        assert await with_longest_step(work, noted.append) == "done"
    assert noted == [3.0]


async def test_an_error_and_a_cancellation_reach_the_code(wait: Callable[[float], None]) -> None:
    noted: list[float] = []

    async def fails() -> None:
        wait(2.0)
        raise KeyError("a")

    async def waits() -> None:
        try:
            await checkpoint()
        finally:
            wait(4.0)

    with pytest.raises(KeyError):
        await with_longest_step(fails, noted.append)
    with CancelScope() as scope:
        scope.cancel()
        await with_longest_step(waits, noted.append)
    assert scope.cancelled_caught
    assert noted == [2.0, 4.0]


@pytest.mark.parametrize(
    ("computes", "lasts", "noted"), [(0.4, 3.0, 0.4), (2.0, 3.0, 2.0), (0.1, 3.0, 2.0)]
)
async def test_a_step_during_which_other_programs_run_counts_as_long_as_it_computes(
    monkeypatch: pytest.MonkeyPatch, computes: float, lasts: float, noted: float
) -> None:
    steps: list[float] = []
    monkeypatch.setattr(blocking, "perf_counter", iter((0.0, lasts)).__next__)
    monkeypatch.setattr(blocking, "thread_time", iter((0.0, computes)).__next__)

    async def work() -> None:
        pass

    await with_longest_step(work, steps.append)
    assert steps == [noted]


@pytest.mark.parametrize(("seconds", "warnings"), [(1.5, 1), (0.5, 0)])
async def test_a_seat_that_blocks_the_event_loop_is_named_once(
    wait: Callable[[float], None], seconds: float, warnings: int
) -> None:
    class Blocking:
        signature = "blocking"

        async def assess(self, segment: Segment, aspect: Aspect) -> Report:
            wait(seconds)
            return Report(score=3)

    panel = panel_of(Blocking())
    with capture_logs() as logs:
        for _ in range(2):
            await panel.assess(segment(), ASPECT)
    named = [log["seat"] for log in logs if log["event"] == "panel.seat_blocks"]
    assert named == ["seat0"] * warnings
