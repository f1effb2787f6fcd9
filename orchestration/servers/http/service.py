"""The service as its routes see it: open panels, batches, and whether anything is taken on."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass

from anyio import Event, create_task_group, to_thread

from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.servers.http.metrics import Metrics
from spanjury.orchestration.servers.http.problems import ProblemError
from spanjury.orchestration.servers.http.settings import ServiceSettings
from spanjury.orchestration.services.batches.batch import Batch
from spanjury.orchestration.services.batches.jobs import BatchJobs
from spanjury.orchestration.services.batches.records import BatchState, BatchStore
from spanjury.orchestration.services.batches.rows import require_storable
from spanjury.orchestration.wiring.panels import open_configured_panel

_SOON: Mapping[str, str] = {"Retry-After": "1"}
_LATER: Mapping[str, str] = {"Retry-After": "10"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPanel:
    """A panel that is open, and the count of what its models are asked."""

    name: str
    panel: Panel
    meter: Meter


class Service:
    """The panels and batches of a service, from its start to its end.

    `hold` keeps them open until `close`; after `drain` nothing new is taken on. `requests` is the
    number of requests under way.
    """

    def __init__(self, settings: ServiceSettings) -> None:
        self.settings = settings
        self.metrics = Metrics()
        self.panels: dict[str, OpenPanel] = {}
        self.requests = 0
        self.draining = Event()
        self._jobs: BatchJobs | None = None
        self._closing = Event()
        self._checks = 0
        self.metrics.read_meters(
            lambda: {name: opened.meter for name, opened in self.panels.items()}
        )

    @property
    def is_draining(self) -> bool:
        """Whether the service is about to end."""
        return self.draining.is_set()

    @property
    def jobs(self) -> BatchJobs:
        """The batches; raises `ProblemError` before they are open."""
        if self._jobs is None:
            raise ProblemError("service-starting", headers=_SOON)
        return self._jobs

    async def hold(self, store: BatchStore, *, opened: Callable[[], None]) -> None:
        """Open panels and batches, call `opened`, and keep them open until `close`.

        Raises `ConfigError` if a panel cannot be opened, or holds a secret.
        """
        async with AsyncExitStack() as stack:
            for name, config in self.settings.panels.items():
                await to_thread.run_sync(require_storable, config)
                meter = Meter()
                panel = await stack.enter_async_context(open_configured_panel(config, meter=meter))
                self.panels[name] = OpenPanel(name=name, panel=panel, meter=meter)
            async with create_task_group() as group:
                jobs = BatchJobs(self.settings.batches, store, ended=self._count)
                await group.start(jobs.run)
                self._jobs = jobs
                if self.is_draining:
                    jobs.stop()
                opened()
                await self._closing.wait()

    def drain(self) -> None:
        """Take nothing more on; batches stop, to go on at the next start."""
        self.draining.set()
        if self._jobs is not None:
            self._jobs.stop()

    def close(self) -> None:
        """Have `hold` close everything."""
        self.drain()
        self._closing.set()

    def require_ready(self) -> None:
        """Raise `ProblemError` unless new work is taken on."""
        if self.is_draining:
            raise ProblemError("service-closing", headers=_LATER)
        _ = self.jobs

    def panel(self, name: str) -> OpenPanel:
        """Return a panel for new work, or raise `ProblemError`."""
        self.require_ready()
        if name not in self.panels:
            choices = ", ".join(sorted(self.panels))
            raise ProblemError("panel-not-found", f"there are: {choices}")
        return self.panels[name]

    @contextmanager
    def check_under_way(self) -> Iterator[None]:
        """Count a check; raise `ProblemError` if there are as many as may be."""
        most = self.settings.limits.checks
        if self._checks >= most:
            raise ProblemError("too-busy", f"{most} checks are under way", headers=_SOON)
        self._checks += 1
        self.metrics.checks.set(self._checks)
        try:
            yield
        finally:
            self._checks -= 1
            self.metrics.checks.set(self._checks)

    def _count(self, batch: Batch) -> None:
        """Add what the run of a batch came to to the figures of its panel."""
        name = batch.record.panel
        for outcome, count in batch.summary.outcomes.items():
            self.metrics.assessed(name, outcome.value, count)
        opened = self.panels.get(name)
        if opened is not None and batch.meter is not None:
            opened.meter.usage += batch.meter.usage
            opened.meter.cost += batch.meter.cost

    def figures(self) -> bytes:
        """Return the figures for Prometheus."""
        counts = Counter(batch.record.state for batch in self._jobs or ())
        return self.metrics.page({state.value: counts[state] for state in BatchState})
