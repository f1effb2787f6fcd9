"""Requests and tokens a minute, by a clock that no test waits for."""

from dataclasses import dataclass, field

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from fakes.clock import FakeClock
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.models.endpoints import Bucket, RateLimit, estimated_tokens
from spanjury.judges.core import ChatRequest, Decoding, Message, Usage


@dataclass
class HeldSleep:
    """A sleep that ends when it is released, each time."""

    clock: FakeClock
    sleeping: list[anyio.Event] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        event = anyio.Event()
        self.sleeping.append(event)
        await event.wait()
        self.clock.now += seconds


def request(tokens: int = 100) -> ChatRequest:
    """Return a request that is reckoned at `tokens`, 10 or more of them."""
    messages = (Message(role="user", content="x" * 33),)
    return ChatRequest(messages=messages, decoding=Decoding(max_tokens=tokens - 9))


def rate_limit(
    clock: FakeClock, *, requests: int | None = None, tokens: int | None = None
) -> RateLimit:
    return RateLimit(
        requests_per_minute=requests, tokens_per_minute=tokens, clock=clock, sleep=clock.sleep
    )


async def test_without_limits_nothing_is_waited_for_or_reckoned() -> None:
    clock = FakeClock()
    rates = rate_limit(clock)
    for _ in range(1000):
        reckoned = await rates.admit(request())
        rates.settle(Usage(prompt=10), reckoned=reckoned)
        assert reckoned == 0
    assert clock.slept == []


async def test_requests_flow_evenly_once_the_first_tenth_is_spent() -> None:
    clock = FakeClock()
    rates = rate_limit(clock, requests=600)
    for _ in range(60):
        await rates.admit(request())
    assert clock.now == 0
    for _ in range(90):
        await rates.admit(request())
    assert clock.now == pytest.approx(10)


async def test_a_call_waits_for_the_scarcer_of_requests_and_tokens() -> None:
    clock = FakeClock()
    rates = rate_limit(clock, requests=60, tokens=6000)
    for _ in range(2):
        await rates.admit(request(600))
    assert clock.now == pytest.approx(600 / 90)
    for _ in range(7):
        await rates.admit(request(10))
    assert clock.now == pytest.approx(600 / 90 + 2 / 0.9)


@pytest.mark.parametrize(
    ("usage", "seconds"),
    [
        (Usage(prompt=40, completion=160), 0.0),
        (Usage(prompt=600, completion=0), 600 / 90),
        (Usage(prompt=600, completion=90), 690 / 90),
        (Usage(calls=1), 600 / 90),
    ],
    ids=["less", "as-reckoned", "more", "unknown"],
)
async def test_the_usage_of_a_reply_replaces_the_estimate(usage: Usage, seconds: float) -> None:
    clock = FakeClock()
    rates = rate_limit(clock, tokens=6000)
    reckoned = await rates.admit(request(600))
    rates.settle(usage, reckoned=reckoned)
    await rates.admit(request(400) if seconds == 0 else request(600))
    assert clock.now == pytest.approx(seconds)


async def test_a_settlement_during_a_wait_prolongs_it() -> None:
    clock = FakeClock()
    held = HeldSleep(clock)
    rates = RateLimit(tokens_per_minute=6000, clock=clock, sleep=held.sleep)
    reckoned = await rates.admit(request(600))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(rates.admit, request(600))
        await wait_all_tasks_blocked()
        rates.settle(Usage(prompt=reckoned + 90), reckoned=reckoned)
        for number in range(2):
            held.sleeping[number].set()
            await wait_all_tasks_blocked()
    assert clock.now == pytest.approx(600 / 90 + 1.0)


async def test_tokens_that_come_back_during_a_wait_shorten_it() -> None:
    clock = FakeClock()
    held = HeldSleep(clock)
    rates = RateLimit(tokens_per_minute=6000, clock=clock, sleep=held.sleep)
    reckoned = await rates.admit(request(900))  # more than the 600 that may be sent at once
    admitted = []

    async def ask() -> None:
        admitted.append(await rates.admit(request(900)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await wait_all_tasks_blocked()
        assert (len(held.sleeping), admitted) == (1, [])
        clock.now = 1.0
        rates.settle(Usage(prompt=90), reckoned=reckoned)
        await wait_all_tasks_blocked()
        assert (len(held.sleeping), admitted) == (1, [900])


async def test_tokens_that_come_back_to_a_full_bucket_are_no_more_than_it_holds() -> None:
    clock = FakeClock()
    rates = rate_limit(clock, tokens=6000)
    reckoned = await rates.admit(request(600))
    clock.now = 60.0
    rates.settle(Usage(prompt=10), reckoned=reckoned)
    await rates.admit(request(600))
    assert clock.now == 60
    await rates.admit(request(90))
    assert clock.now == pytest.approx(61)


async def test_a_call_larger_than_the_bucket_gets_through_and_leaves_a_debt() -> None:
    clock = FakeClock()
    rates = rate_limit(clock, tokens=600)
    await rates.admit(request(960))
    assert clock.now == 0
    await rates.admit(request(10))
    assert clock.now == pytest.approx((960 - 60 + 10) / 9)


async def test_calls_go_in_the_order_in_which_they_came_and_one_sleeps_for_all() -> None:
    clock = FakeClock()
    held = HeldSleep(clock)
    rates = RateLimit(requests_per_minute=1, clock=clock, sleep=held.sleep)
    await rates.admit(request())
    gone = []

    async def ask(number: int) -> None:
        await rates.admit(request())
        gone.append(number)

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(ask, number)
            await wait_all_tasks_blocked()
        for number in range(5):
            assert len(held.sleeping) == number + 1
            held.sleeping[-1].set()
            await wait_all_tasks_blocked()
    assert gone == list(range(5))


async def test_a_caller_cancelled_while_waiting_has_taken_nothing() -> None:
    clock = FakeClock()
    held = HeldSleep(clock)
    rates = RateLimit(requests_per_minute=1, tokens_per_minute=600, clock=clock, sleep=held.sleep)
    await rates.admit(request(60))
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(rates.admit, request(60))
        await wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert len(held.sleeping) == 1
    clock.now = 1 / 0.015
    await rates.admit(request(60))
    assert len(held.sleeping) == 1


async def test_the_prefix_counts_and_a_part_of_a_token_is_one() -> None:
    messages = (Message(role="system", content="a" * 3), Message(role="user", content="b" * 4))
    request = ChatRequest(messages=messages, prefix="cc", decoding=Decoding(max_tokens=5))
    assert estimated_tokens(request) == 3 + 5


@dataclass(frozen=True)
class Sent:
    at: float
    amount: float


def sent(bucket: Bucket, calls: list[tuple[float, float]]) -> list[Sent]:
    """Send calls of some amount, each after a pause and as soon as the bucket allows."""
    now, log = 0.0, []
    for pause, amount in calls:
        now += pause
        while (delay := bucket.delay(amount, now=now)) > 0:
            now += delay
        bucket.take(amount)
        log.append(Sent(at=now, amount=amount))
    return log


PAUSES = st.floats(0, 100) | st.just(0.0)


@given(
    per_minute=st.integers(1, 100_000),
    calls=st.lists(st.tuples(PAUSES, st.floats(0, 1)), min_size=1, max_size=40),
)
def test_no_window_sees_more_than_the_capacity_and_what_flows_in(
    per_minute: int, calls: list[tuple[float, float]]
) -> None:
    bucket = Bucket(per_minute)
    log = sent(bucket, [(pause, share * bucket.capacity) for pause, share in calls])
    for first, begin in enumerate(log):
        spent = 0.0
        for entry in log[first:]:
            spent += entry.amount
            allowed = bucket.capacity + bucket.rate * (entry.at - begin.at)
            assert spent <= allowed * (1 + 1e-6)


@given(per_minute=st.integers(1, 60), pauses=st.lists(PAUSES, min_size=61, max_size=90))
def test_no_minute_sees_more_requests_than_its_limit(per_minute: int, pauses: list[float]) -> None:
    log = sent(Bucket(per_minute), [(pause, 1) for pause in pauses])
    for begin in log:
        within = [entry for entry in log if begin.at <= entry.at < begin.at + 60]
        assert len(within) <= per_minute
