"""Turns and quotas of tenants: none waits for all of another's work, none exceeds what it may."""

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta

import pytest
from fakes.memory import DictMemory
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Usage
from spanjury.orchestration.engine.spending import Spending
from spanjury.orchestration.services.serving.quotas import QuotaError, Quotas, TenantLedger
from spanjury.orchestration.services.serving.turns import Turns, has_share

COSTS = st.floats(0.01, 100.0)
WORK = st.lists(st.tuples(st.sampled_from("abc"), COSTS), max_size=40)
NOON = datetime(2026, 11, 24, 12, 30, tzinfo=UTC)
CALL = Spending(calls=1)


def filled(work: list[tuple[str, float]]) -> Turns[int]:
    turns = Turns[int]()
    for number, (tenant, cost) in enumerate(work):
        turns.add(number, tenant=tenant, cost=cost)
    return turns


@given(WORK)
def test_all_work_begins_once_and_a_tenant_s_in_order(work: list[tuple[str, float]]) -> None:
    turns = filled(work)
    taken = [turns.take() for _ in work]
    assert set(taken) == set(range(len(work)))
    assert (turns.take(), turns.lengths.total()) == (None, 0)
    for tenant in "abc":
        own = [number for number in taken if number is not None and work[number][0] == tenant]
        assert own == sorted(own)


@given(WORK)
def test_waiting_tenants_get_the_same_within_one_piece(work: list[tuple[str, float]]) -> None:
    turns, got = filled(work), defaultdict[str, float](float)
    largest = max((cost for _, cost in work), default=0.0)
    waiting = set(turns.lengths)
    while waiting == set(turns.lengths) and waiting:  # as long as all of them have work
        number = turns.take()
        assert number is not None
        tenant, cost = work[number]
        got[tenant] += cost
        amounts = [got[name] for name in waiting]
        assert max(amounts) - min(amounts) <= 2 * largest + 1e-6


def test_one_small_piece_comes_before_most_of_a_long_queue() -> None:
    turns = filled([*[("ann", 1.0)] * 100, ("bob", 1.0)])
    assert 100 in {turns.take() for _ in range(2)}


def test_a_tenant_that_may_not_begin_is_passed_over_and_loses_nothing() -> None:
    turns = filled([("ann", 1.0), ("bob", 1.0), ("ann", 1.0)])
    assert turns.take(lambda tenant: tenant == "bob") == 1
    assert turns.take(lambda tenant: tenant == "bob") is None
    assert [turns.take(), turns.take()] == [0, 2]


def test_work_is_ahead_of_a_tenant_as_far_as_it_has_its_turn_before() -> None:
    turns = filled([*[("ann", 1.0)] * 10, *[("bob", 2.0)] * 2])
    assert (turns.ahead("ann"), turns.ahead("bob"), turns.ahead("eve")) == (14.0, 8.0, 0.0)


def test_work_that_is_taken_out_does_not_begin() -> None:
    turns = filled([("ann", 1.0), ("ann", 1.0)])
    turns.remove(0)
    assert turns.lengths == Counter(ann=1)
    turns.remove(1)
    with pytest.raises(ValueError, match="does not wait"):
        turns.remove(1)


@given(st.integers(2, 200), st.integers(1, 5))
def test_a_newcomer_finds_a_place_where_others_took_all_they_could(most: int, others: int) -> None:
    held = Counter[str]()
    for name in map(str, range(others)):
        while has_share(held, name, most=most, is_shared=True):
            held[name] += 1
    free = most - held.total()
    assert free >= most // 2**others
    assert has_share(held, "new", most=most, is_shared=True) is (free > 0)


def test_one_tenant_alone_may_hold_all() -> None:
    assert has_share(Counter(ann=3), "ann", most=4, is_shared=False)
    assert not has_share(Counter(ann=4), "ann", most=4, is_shared=False)


async def test_a_quota_of_calls_is_free_again_at_the_end_of_its_period() -> None:
    time, memory = [NOON], DictMemory()
    quotas = Quotas(calls=2, rows=1, per="hour")
    with TenantLedger("ann", quotas, memory=memory, now=lambda: time[0]) as ledger:
        meter = await ledger.reserve(CALL)
        await meter.settle(CALL, Usage(calls=1), price=None, maker="seats")
        late = await ledger.reserve(CALL)
        async with ledger.rows(1):
            pass
        time[0] += timedelta(hours=1)
        async with ledger.rows(1):
            pass
        for _ in range(2):
            meter = await ledger.reserve(CALL)
            await meter.settle(CALL, Usage(calls=1), price=None, maker="seats")
        await late.settle(CALL, Usage(calls=1), price=None, maker="seats")  # of the hour before
        with pytest.raises(QuotaError, match="2 calls are spent, and 2 is the limit") as raised:
            await ledger.reserve(CALL)
        assert raised.value.free_again == datetime(2026, 11, 24, 14, tzinfo=UTC)
        with pytest.raises(QuotaError, match="1 of 1 are used"):
            ledger.require_rows()


async def test_quota_usage_is_known_to_the_next_process() -> None:
    memory, quotas = DictMemory(), Quotas(calls=2, rows=5)
    with TenantLedger("ann", quotas, memory=memory) as ledger:
        await ledger.reserve(CALL)  # and the process is killed
        async with ledger.rows(4):
            pass
    with TenantLedger("ann", quotas, memory=memory) as ledger:
        await ledger.reserve(CALL)
        with pytest.raises(QuotaError):
            async with ledger.rows(2):
                pass
    with TenantLedger("bob", quotas, memory=memory) as ledger:
        ledger.require_rows(5)


async def test_rows_of_what_fails_are_given_back() -> None:
    with TenantLedger("ann", Quotas(rows=1), memory=DictMemory()) as ledger:
        with pytest.raises(KeyError):
            async with ledger.rows(1):
                raise KeyError
        ledger.require_rows(1)
