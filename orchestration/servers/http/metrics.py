"""Figures of the service for Prometheus; no label holds what a client chose freely."""

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from spanjury.orchestration.engine.metering import Meter

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    """Counts of requests, assessments, batches and what models were asked."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter(
            "spanjury_http_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "spanjury_http_request_seconds",
            "Seconds from the head of a request to the end of its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._answers: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}
        self._assessments = Counter(
            "spanjury_assessments",
            "Assessments of checks and batches, by their outcome.",
            ("panel", "outcome"),
            registry=registry,
        )
        self.checks = Gauge(
            "spanjury_checks_in_flight", "Checks that are under way.", registry=registry
        )
        self._batches = Gauge(
            "spanjury_batches", "Batches that are kept.", ("state",), registry=registry
        )

    def answered(self, method: str, route: str, *, status: int, seconds: float) -> None:
        """Count an answer."""
        key = method, route, status
        if key not in self._answers:  # looking labels up takes as long as all else of a refusal
            labelled = self._requests.labels(method, route, str(status))
            self._answers[key] = labelled, self._seconds.labels(route)
        requests, times = self._answers[key]
        requests.inc()
        times.observe(seconds)

    def assessed(self, panel: str, outcome: str, count: int = 1) -> None:
        """Count assessments of a panel."""
        self._assessments.labels(panel, outcome).inc(count)

    def read_meters(self, meters: Callable[[], Mapping[str, Meter]]) -> None:
        """Have what models are asked read from the meters of the panels."""
        self._registry.register(_Models(meters))

    def page(self, batches: Mapping[str, int]) -> bytes:
        """Return all figures, with so many batches in each state."""
        for state, count in batches.items():
            self._batches.labels(state).set(count)
        return generate_latest(self._registry)


class _Models(Collector):
    """Reads meters when figures are asked for."""

    def __init__(self, meters: Callable[[], Mapping[str, Meter]]) -> None:
        self._meters = meters

    def collect(self) -> Iterator[Metric]:
        """Yield calls, tokens and dollars by panel."""
        calls = CounterMetricFamily("spanjury_model_calls", "Calls to models.", labels=["panel"])
        tokens = CounterMetricFamily(
            "spanjury_model_tokens", "Tokens of models.", labels=["panel", "kind"]
        )
        cost = CounterMetricFamily(
            "spanjury_model_cost_dollars", "Cost of models whose price is known.", labels=["panel"]
        )
        for panel, meter in self._meters().items():
            calls.add_metric([panel], meter.usage.calls)
            tokens.add_metric([panel, "prompt"], meter.usage.prompt)
            tokens.add_metric([panel, "completion"], meter.usage.completion)
            cost.add_metric([panel], meter.cost)
        yield from (calls, tokens, cost)
