"""Quotas: what each tenant of a service may use, in total or per hour or day.

No call is sent and no row is accepted beyond a quota, even across restarts. Calls and dollars are
in the tenant's ledger (`Meter`), where models reserve every call in addition to the ledger of its
batch or panel; rows are counted next to it.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, Self

from spanjury.judges.core import ConfigError, Memory, RunStoppedError
from spanjury.judges.core.keys import digest
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.spending import Spending, Unit

Quota = Unit | Literal["rows", "disk"]

_PERIODS = {"hour": timedelta(hours=1), "day": timedelta(days=1)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """The quotas of one tenant; None for no quota.

    Calls and dollars count checks and batches together. `rows` counts texts of checks and lines of
    batches. `disk` limits the bytes that batches occupy when another one is submitted. All but
    `disk` are renewed in each ``hour`` or ``day`` of UTC, according to `per`; None means never.

    Raises `ConfigError` if a quota is not positive, or the period is unknown.
    """

    calls: int | None = None
    dollars: float | None = None
    rows: int | None = None
    disk: int | None = None
    per: str | None = None

    def __post_init__(self) -> None:
        given = (self.calls, self.dollars, self.rows, self.disk)
        if any(most is not None and most <= 0 for most in given):
            raise ConfigError(f"quotas must be positive, got {self!r}")
        if self.per is not None and self.per not in _PERIODS:
            raise ConfigError(f"per={self.per}: expected {' or '.join(_PERIODS)}")

    def period(self, now: datetime) -> tuple[datetime, datetime | None]:
        """Return the beginning and the end of the period that contains `now`."""
        if self.per is None:
            return _EPOCH, None
        length = _PERIODS[self.per]
        begin = _EPOCH + (now - _EPOCH) // length * length
        return begin, begin + length


class QuotaError(RunStoppedError):
    """A quota is used up; `free_again` is the time when it is renewed, None if unknown."""

    def __init__(self, quota: Quota, reason: str, *, free_again: datetime | None) -> None:
        until = "" if free_again is None else f"; it is free again at {free_again:%Y-%m-%dT%H:%MZ}"
        super().__init__(f"your quota of {quota}: {reason}{until}")
        self.quota = quota
        self.free_again = free_again


class TenantLedger:
    """The use of quotas by one tenant, as a context manager.

    `memory` stores the ledger across restarts; `now` returns the time in UTC.
    """

    def __init__(
        self,
        tenant: str,
        quotas: Quotas,
        *,
        memory: Memory,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.quotas = quotas
        self._tenant = tenant
        self._memory = memory
        self._now = now
        self._limits = Limits(max_calls=quotas.calls, max_cost=quotas.dollars)
        self._kept = ExitStack()
        self._begin: datetime | None = None
        self._end: datetime | None = None
        self._meter = Meter()
        self._rows = 0
        self._arriving = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._kept.close()

    async def reserve(self, most: Spending) -> Meter:
        """Reserve a call that spends at most `most`; return the ledger to settle it in.

        Raise `QuotaError` if it does not fit into a quota.
        """
        self._turn()
        meter = self._meter
        try:
            await meter.reserve(most)
        except RunStoppedError as stopped:
            bound = meter.bound_exceeded_by(most)
            unit = "calls" if bound is None else bound.unit
            raise QuotaError(unit, str(stopped), free_again=self._end) from stopped
        return meter

    def require_rows(self, count: int = 1) -> None:
        """Raise `QuotaError` if fewer than `count` rows are left."""
        self._turn()
        most = self.quotas.rows
        if most is not None and self._rows + count > most:
            used = f"{self._rows} of {most} are used, and this request needs {count} more"
            raise QuotaError("rows", used, free_again=self._end)

    @asynccontextmanager
    async def rows(self, count: int) -> AsyncIterator[None]:
        """Count rows, unless the work in the context fails; raise `QuotaError` if too many."""
        self.require_rows(count)
        begin = self._begin
        self._rows += count
        is_kept = False
        try:
            await self._memory.put(self._key("rows"), str(self._rows).encode())
            yield
            is_kept = True
        finally:
            if not is_kept and begin == self._begin:
                self._rows -= count

    def left(self, used: int) -> int:
        """Return the bytes left for a batch; at least 1, into which no batch fits."""
        return max(1, (self.quotas.disk or 0) - used - self._arriving)

    @contextmanager
    def arriving(self, size: int, *, used: int, free_again: datetime | None) -> Iterator[None]:
        """Reserve disk space for a batch; raise `QuotaError` if too little is left.

        `used` is the space of earlier batches, and `free_again` the time when one is removed.
        """
        most = self.quotas.disk
        if most is not None and used + self._arriving + size > most:
            taken = f"{used + self._arriving:,} of {most:,} bytes are used, and {size:,} do not fit"
            raise QuotaError("disk", taken, free_again=free_again)
        self._arriving += size
        try:
            yield
        finally:
            self._arriving -= size

    def _turn(self) -> None:
        """Begin a new ledger if a new period has begun."""
        begin, end = self.quotas.period(self._now())
        if begin == self._begin:
            return
        self._begin, self._end = begin, end
        self._kept.close()  # calls under way are settled in the old ledger, which no longer counts
        self._meter = Meter(limits=self._limits, is_whole=True)
        self._kept.enter_context(self._meter.kept_in(self._memory, key=self._key("ledger")))
        self._rows = int(self._memory.get(self._key("rows")) or b"0")

    def _key(self, part: str) -> str:
        return digest("quota", self._tenant, part, f"{self._begin}")
