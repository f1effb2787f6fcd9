"""Prometheus metrics of the service; no label has a value that clients choose freely."""

from collections.abc import Mapping
from functools import partial

import prometheus_client as prometheus
from prometheus_client.multiprocess import MultiProcessCollector

from spanjury.orchestration.engine.metering import Meter

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable of prometheus_client: the folder where processes share their figures."""
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the buckets of the histogram of request durations."""


class Metrics:
    """Counts of requests, assessments, batches and model calls.

    If `are_summed`, figures are summed over all processes of the service. They are then in the
    folder that `FOLDER` named when prometheus_client was imported.
    """

    def __init__(self, *, are_summed: bool = False) -> None:
        self._are_summed = are_summed
        self._registry = registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=registry)
        counter = partial(prometheus.Counter, registry=registry)
        gauge = partial(prometheus.Gauge, registry=registry, multiprocess_mode="livesum")
        labels = ("method", "route", "status")
        self._requests = counter("spanjury_http_requests", "Requests answered.", labels)
        self._seconds = prometheus.Histogram(
            "spanjury_http_request_seconds",
            "Seconds from the head of a request to the end of its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._answers: dict[
            tuple[str, str, int], tuple[prometheus.Counter, prometheus.Histogram]
        ] = {}
        about = "Assessments of checks and batches, by their outcome."
        self._assessments = counter("spanjury_assessments", about, ("panel", "outcome"))
        self.checks = gauge("spanjury_checks_in_flight", "Checks that are under way.")
        # One process has all batches.
        self._batches = gauge("spanjury_batches", "Batches that are kept.", ("state",))
        self._calls = counter("spanjury_model_calls", "Calls to models.", ("panel",))
        self._tokens = counter("spanjury_model_tokens", "Tokens of models.", ("panel", "kind"))
        about = "Cost of models whose price is known."
        self._cost = counter("spanjury_model_cost_dollars", about, ("panel",))
        self._spent: dict[str, tuple[float, ...]] = {}

    def answered(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """Count an answer."""
        key = method, route, status
        if key not in self._answers:  # looking up labels would double the cost of a refusal
            labelled = self._requests.labels(method, route, str(status))
            self._answers[key] = labelled, self._seconds.labels(route)
        requests, times = self._answers[key]
        requests.inc()
        times.observe(seconds)

    def assessed(self, panel: str, outcome: str, count: int = 1) -> None:
        """Count assessments of a panel."""
        self._assessments.labels(panel, outcome).inc(count)

    def asked(self, panel: str, meter: Meter) -> None:
        """Count the model calls of a panel since the last time."""
        usage = meter.usage
        spent = (usage.calls, usage.prompt, usage.completion, meter.cost)
        before = self._spent.get(panel)
        if spent == before:
            return
        self._spent[panel] = spent
        counters = (
            self._calls.labels(panel),
            self._tokens.labels(panel, "prompt"),
            self._tokens.labels(panel, "completion"),
            self._cost.labels(panel),
        )
        for counter, now, then in zip(counters, spent, before or (0.0,) * 4, strict=True):
            counter.inc(now - then)

    def page(self, batches: Mapping[str, int]) -> bytes:
        """Return all figures, with the numbers of batches by state."""
        for state, count in batches.items():
            self._batches.labels(state).set(count)
        if not self._are_summed:
            return prometheus.generate_latest(self._registry)
        registry = prometheus.CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # it has no types
        prometheus.ProcessCollector(registry=registry)
        return prometheus.generate_latest(registry)
