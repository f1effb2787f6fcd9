"""The service behind the routes: open panels, batches, and whether new work is accepted."""

import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace

from anyio import Event, create_task_group, to_thread
from anyio.abc import TaskGroup
from starlette.requests import Request

from spanjury.judges.core import ConfigError, Outcome
from spanjury.orchestration.engine.metering import Meter, paid_by
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.servers.http.bodies import BATCHES, CHECK, STREAM
from spanjury.orchestration.servers.http.check_turns import CheckTurns
from spanjury.orchestration.servers.http.metrics import Metrics
from spanjury.orchestration.servers.http.problems import ProblemError, quota_problems
from spanjury.orchestration.servers.http.settings import ServiceSettings
from spanjury.orchestration.services.serving.batches.batch import Batch, BusyError, require_storable
from spanjury.orchestration.services.serving.batches.jobs import BatchJobs
from spanjury.orchestration.services.serving.batches.records import BatchState, BatchStore
from spanjury.orchestration.services.serving.quotas import TenantLedger
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.runs import SqliteMemory

_SOON: Mapping[str, str] = {"Retry-After": "1"}
BUSY: Mapping[str, str] = {"Retry-After": "30"}
_CORES = os.cpu_count() or 1
_LATER: Mapping[str, str] = {"Retry-After": "10"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPanel:
    """An open panel, the counter of its model calls, and the turns of its checks."""

    name: str
    panel: Panel
    meter: Meter
    checks: CheckTurns


class Service:
    """The panels and batches of a service, from start to end.

    `hold` keeps them open until `close`; after `drain` no new work is accepted. `requests` is the
    number of requests under way. This process is one of `processes` with the same settings.
    """

    def __init__(self, settings: ServiceSettings, *, processes: int = 1) -> None:
        self.settings = settings
        self.metrics = Metrics(are_summed=processes > 1)
        self.panels: dict[str, OpenPanel] = {}
        self.requests = 0
        self.draining = Event()
        self.ledgers: dict[str, TenantLedger] = {}
        """Ledgers of the tenants with quotas."""
        self._jobs: BatchJobs | None = None
        self._closing = Event()
        self._checks = Counter[str]()
        self._is_open = False
        self._cores = max(_CORES // processes, 1)
        """The share of this machine's cores for this process."""

    @property
    def is_draining(self) -> bool:
        """True if the service is about to end."""
        return self.draining.is_set()

    @property
    def jobs(self) -> BatchJobs:
        """The batches; raises `ProblemError` until they are open."""
        if self._jobs is None:
            raise ProblemError("service-starting", headers=_SOON)
        return self._jobs

    async def hold(self, store: BatchStore | None, *, opened: Callable[[], None]) -> None:
        """Open panels and batches, call `opened`, and keep them open until `close`.

        Without a store there are no batches: another process has them.

        Raises `ConfigError` if a panel cannot be opened, or contains a secret.
        """
        async with AsyncExitStack() as stack:
            for name, config in self.settings.batches.panels.items():
                await to_thread.run_sync(require_storable, config)
                meter = Meter()
                here = replace(config, processes=0)  # the server's processes answer checks
                panel = await stack.enter_async_context(open_configured_panel(here, meter=meter))
                self.panels[name] = OpenPanel(
                    name=name,
                    panel=panel,
                    meter=meter,
                    checks=self._check_turns(name, meter),
                )
            async with create_task_group() as group:
                if store is not None:
                    self._open_ledgers(stack, store)
                    await self._open_batches(group, store)
                self._is_open = True
                opened()
                await self._closing.wait()

    async def _open_batches(self, group: TaskGroup, store: BatchStore) -> None:
        jobs = BatchJobs(
            self.settings.batches,
            store,
            ended=self._count,
            is_shared=self.settings.tokens.are_shared,
            ledgers=self.ledgers,
        )
        await group.start(jobs.run)
        self._jobs = jobs
        if self.is_draining:
            jobs.stop()

    def drain(self) -> None:
        """Accept no new work; batches stop, and resume at the next start."""
        self.draining.set()
        if self._jobs is not None:
            self._jobs.stop()

    def close(self) -> None:
        """Have `hold` close everything."""
        self.drain()
        self._closing.set()

    def require_ready(self) -> None:
        """Raise `ProblemError` unless new work is accepted."""
        if self.is_draining:
            raise ProblemError("service-closing", headers=_LATER)
        if not self._is_open:
            raise ProblemError("service-starting", headers=_SOON)

    def panel(self, name: str) -> OpenPanel:
        """Return a panel for new work, or raise `ProblemError`."""
        self.require_ready()
        if name not in self.panels:
            choices = ", ".join(sorted(self.panels))
            raise ProblemError("panel-not-found", f"there are: {choices}")
        return self.panels[name]

    def require_room(self, path: str, tenant: str) -> Callable[[], None]:
        """Raise `ProblemError` if no further request of this tenant is accepted at `path`.

        The returned function ends the arrival: to be called when the request is queued or finished.
        """
        ledger = self.ledgers.get(tenant)
        if ledger is not None and path in {CHECK, STREAM, BATCHES}:
            with quota_problems():
                ledger.require_rows()
        if path in {CHECK, STREAM} and self.panels:
            # The panel is unknown until the body is read, so the one with the shortest wait counts.
            turns = [opened.checks for opened in self.panels.values()]
            if len(turns) > 1:
                turns.sort(key=lambda checks: checks.wait(tenant))
            return turns[0].arrive(tenant)
        if path == BATCHES and self._jobs is not None:
            try:
                self._jobs.require_room(tenant)
            except BusyError as error:
                raise ProblemError("too-busy", str(error), headers=BUSY) from error
        return lambda: None

    @asynccontextmanager
    async def paid(self, tenant: str, *, rows: int) -> AsyncIterator[None]:
        """Have a tenant pay for `rows` rows, and for the calls made in this context.

        Raise `ProblemError` if a quota does not suffice.
        """
        ledger = self.ledgers.get(tenant)
        with quota_problems():
            async with nullcontext() if ledger is None else ledger.rows(rows):
                with paid_by(ledger):
                    yield

    def _open_ledgers(self, stack: AsyncExitStack, store: BatchStore) -> None:
        quotas = self.settings.tokens.quotas
        if not quotas:
            return
        unpriced = {name for panel in self.panels.values() for name in panel.meter.unpriced}
        if unpriced and any(quota.dollars is not None for quota in quotas.values()):
            names = ", ".join(sorted(unpriced))
            raise ConfigError(f"a quota of dollars needs the prices of all models: {names}")
        memory = stack.enter_context(SqliteMemory(store.quotas))
        for tenant, quota in quotas.items():
            ledger = TenantLedger(tenant, quota, memory=memory)
            self.ledgers[tenant] = stack.enter_context(ledger)

    def _check_turns(self, name: str, meter: Meter) -> CheckTurns:
        def note(under_way: int) -> None:
            self._checks[name] = under_way
            self.metrics.checks.set(self._checks.total())

        limits = self.settings.limits
        return CheckTurns(
            most=limits.max_checks,
            longest_wait=limits.max_check_wait,
            lanes=lambda: max(self._cores, meter.limit),
            is_shared=self.settings.tokens.are_shared,
            noted=note,
        )

    def judged(self, panel: OpenPanel, outcomes: Iterable[Outcome]) -> None:
        """Count the assessments of a check."""
        for outcome in outcomes:
            self.metrics.assessed(panel.name, outcome.value)
        self.metrics.asked(panel.name, panel.meter)

    def _count(self, batch: Batch) -> None:
        """Add the outcomes and the usage of a batch's run to the figures of its panel."""
        name = batch.record.panel
        for outcome, count in batch.summary.outcomes.items():
            self.metrics.assessed(name, outcome.value, count)
        opened = self.panels.get(name)
        if opened is not None and batch.meter is not None:
            opened.meter.add(batch.meter.usage, dollars=batch.meter.cost)

    def figures(self) -> bytes:
        """Return the figures for Prometheus."""
        for name, opened in self.panels.items():
            self.metrics.asked(name, opened.meter)
        counts = Counter(batch.record.state for batch in self._jobs or ())
        return self.metrics.page({state.value: counts[state] for state in BatchState})


def end_arrival(request: Request) -> None:
    """Stop counting an admitted request as arriving."""
    request.scope["state"]["arrived"]()


def tenant_of(request: Request) -> str:
    """Return the tenant of an admitted request."""
    return str(request.scope["state"]["tenant"])
