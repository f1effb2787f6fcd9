"""Quotas of a tenant: they hold for all that is under way, and are free again with each period."""

from datetime import UTC, datetime, timedelta

import pytest
from fakes.memory import DictMemory

from spanjury.judges.core import Usage
from spanjury.orchestration.engine.metering import Spending
from spanjury.orchestration.services.serving.quotas import QuotaError, Quotas, TenantLedger

NOON = datetime(2026, 11, 24, 12, 30, tzinfo=UTC)
CALL = Spending(calls=1)


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
