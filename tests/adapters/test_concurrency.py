"""The limit of calls at once, as it follows how calls end."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from anyio.lowlevel import checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.adapters.models.endpoints import AdaptiveLimiter
from spanjury.judges.core import (
    ModelError,
    ModelTimeoutError,
    OverloadedModelError,
    PermanentModelError,
    RateLimitedModelError,
    TransientModelError,
)

OVERLOADS: list[ModelError] = [
    OverloadedModelError("503"),
    RateLimitedModelError("429"),
    ModelTimeoutError("slow"),
]
OTHER_FAILURES: list[ModelError] = [TransientModelError("reset"), PermanentModelError("wrong key")]


@contextmanager
def attempt(limiter: AdaptiveLimiter) -> Iterator[None]:
    """Have `limiter` learn from what happens inside."""
    began = limiter.begin()
    try:
        yield
    except ModelError as error:
        limiter.ended(error, began=began)
        raise
    limiter.ended(None, began=began)


@asynccontextmanager
async def slot(limiter: AdaptiveLimiter) -> AsyncIterator[None]:
    await limiter.acquire()
    try:
        yield
    finally:
        limiter.release()


async def calls(limiter: AdaptiveLimiter, count: int, failure: ModelError | None = None) -> None:
    """Make `count` calls that are under way at the same time, and then all end alike."""
    go_on = anyio.Event()

    async def call() -> None:
        with suppress(ModelError):
            async with slot(limiter):
                with attempt(limiter):
                    await go_on.wait()
                    if failure is not None:
                        raise failure

    async with anyio.create_task_group() as tasks:
        for _ in range(count):
            tasks.start_soon(call)
        await wait_all_tasks_blocked()
        go_on.set()


async def lowered(*, least: int = 1, most: int = 8) -> AdaptiveLimiter:
    limiter = AdaptiveLimiter(least=least, most=most)
    await calls(limiter, 1, OVERLOADS[0])
    return limiter


async def test_the_limit_starts_at_its_most() -> None:
    assert AdaptiveLimiter(least=1, most=8).limit == 8


@pytest.mark.parametrize("failure", OVERLOADS, ids=repr)
async def test_an_overload_halves_the_limit_down_to_its_least(failure: ModelError) -> None:
    limiter = AdaptiveLimiter(least=3, most=17)
    limits = []
    for _ in range(4):
        await calls(limiter, 1, failure)
        limits.append(limiter.limit)
    assert limits == [8, 4, 3, 3]


@pytest.mark.parametrize("failure", OTHER_FAILURES, ids=repr)
async def test_failures_that_fewer_calls_do_not_cure_leave_the_limit(failure: ModelError) -> None:
    limiter = AdaptiveLimiter(least=1, most=8)
    await calls(limiter, 1, failure)
    assert limiter.limit == 8


async def test_a_burst_of_failures_counts_once() -> None:
    limiter = AdaptiveLimiter(least=1, most=8)
    await calls(limiter, 8, OVERLOADS[1])
    assert limiter.limit == 4
    await calls(limiter, 4, OVERLOADS[2])
    assert limiter.limit == 2


async def test_a_full_round_of_successes_earns_one_place() -> None:
    limiter = await lowered(most=8)
    await calls(limiter, 3)
    assert limiter.limit == 4
    await calls(limiter, 4)
    assert limiter.limit == 5
    for _ in range(10):
        await calls(limiter, 8)
    assert limiter.limit == 8


async def test_successes_below_the_limit_earn_nothing() -> None:
    limiter = await lowered(most=8)
    for _ in range(20):
        await calls(limiter, 1)
    assert limiter.limit == 4


async def test_a_success_from_before_the_limit_fell_earns_nothing() -> None:
    limiter = AdaptiveLimiter(least=1, most=4)
    with attempt(limiter):
        await calls(limiter, 1, OVERLOADS[0])
    async with slot(limiter):  # so that the limit is reached
        await calls(limiter, 1)
        assert limiter.limit == 2
        await calls(limiter, 1)
        assert limiter.limit == 3


async def test_a_place_that_is_earned_goes_to_who_waits() -> None:
    limiter = await lowered(most=2)
    ends = anyio.Event()

    async def held() -> None:
        async with slot(limiter):
            await ends.wait()

    async with anyio.create_task_group() as tasks:
        async with slot(limiter):
            for _ in range(2):
                tasks.start_soon(held)
            await wait_all_tasks_blocked()
            assert (limiter.under_way, limiter.outstanding) == (1, 3)
            with attempt(limiter):
                pass
            assert limiter.limit == limiter.under_way == 2
        ends.set()
    assert limiter.outstanding == 0


async def test_a_cancelled_caller_leaves_no_place_taken() -> None:
    limiter = AdaptiveLimiter(least=1, most=1)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(calls, limiter, 1)
        await checkpoint()
        tasks.cancel_scope.cancel()
    assert limiter.outstanding == 0
    await calls(limiter, 1)


ENDINGS = st.sampled_from([None, None, None, *OVERLOADS, *OTHER_FAILURES])


class Watched:
    """Calls that end as they are to, under a limit that is looked at all the time."""

    def __init__(self, *, least: int, most: int) -> None:
        self.bounds = range(least, most + 1)
        self.limiter = AdaptiveLimiter(least=least, most=most)
        self.last_under_way = 0
        self.ended = 0

    def look(self) -> None:
        """Above the limit, after it fell, the calls under way only become fewer."""
        assert self.limiter.limit in self.bounds
        assert self.limiter.under_way <= max(self.limiter.limit, self.last_under_way)
        self.last_under_way = self.limiter.under_way

    async def call(self, failure: ModelError | None, length: int) -> None:
        with suppress(ModelError):
            async with slot(self.limiter):
                with attempt(self.limiter):
                    for _ in range(length):
                        self.look()
                        await checkpoint()
                    self.look()
                    if failure is not None:
                        raise failure
        self.look()
        self.ended += 1


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=50)
@given(
    bounds=st.tuples(st.integers(1, 6), st.integers(1, 6)).map(sorted),
    calls=st.lists(st.tuples(ENDINGS, st.integers(0, 4)), max_size=40),
)
def test_however_calls_end_the_limit_holds_and_all_get_through(
    backend: str, bounds: list[int], calls: list[tuple[ModelError | None, int]]
) -> None:
    async def run() -> None:
        watched = Watched(least=bounds[0], most=bounds[1])
        async with anyio.create_task_group() as tasks:
            for call in calls:
                tasks.start_soon(watched.call, *call)
        assert (watched.ended, watched.limiter.outstanding) == (len(calls), 0)

    anyio.run(run, backend=backend)
