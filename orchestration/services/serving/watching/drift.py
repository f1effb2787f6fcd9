"""Drift: figures of live traffic by window, and alerts when a figure has significantly worsened.

The first texts of an aspect are its baseline. Afterwards `RisingMean` accumulates evidence, text by
text, that a figure is worse than the baseline's interval allows. False alerts are rare per text,
however long the watch lasts and however often it checks.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Literal

import msgspec

from spanjury.judges.core import USABLE, ConfigError, Decision, Outcome, Result
from spanjury.judges.core.keys import digest
from spanjury.stats import BoundedMean, RisingMean, bounded_mean, clustered_proportion

FigureName = Literal["score", "faulty", "unscored"]
_FIGURES: tuple[FigureName, ...] = ("score", "faulty", "unscored")
_BASELINE_CONFIDENCE = 0.98
"""Level of the baseline's interval, whose worse end is compared with later texts."""
_NAMES = {"score": "mean score", "faulty": "faulty", "unscored": "without a score"}
_WORDS = {
    "score": "the mean score fell",
    "faulty": "the share of faulty texts rose",
    "unscored": "the share of texts without a score rose",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftPlan:
    """The settings of drift monitoring.

    `window` is the number of texts of an aspect in a window, and `baseline` that of its first texts
    in the baseline. On average at least `texts_per_false_alert` texts pass before an alert without
    a change.

    Raises `ConfigError` if a number is too small to be meaningful.
    """

    window: int = 200
    baseline: int = 500
    texts_per_false_alert: int = 100_000

    def __post_init__(self) -> None:
        if self.window < 2 or self.baseline < 20 or self.texts_per_false_alert < 1:  # noqa: PLR2004  less says nothing
            raise ConfigError(
                "expected a window of 2 or more texts, a baseline of 20 or more, and 1 or more"
                f" texts per false alert, got {self!r}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A mean score or a share of texts, with its 95 % interval and its number of texts."""

    name: FigureName
    value: float
    low: float
    high: float
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The figures of one window of an aspect; `is_baseline` until the baseline is complete."""

    task: str
    aspect: str
    number: int
    is_baseline: bool
    figures: tuple[Figure, ...]

    def as_row(self) -> dict[str, object]:
        """Return the window as a JSON object."""
        return {"event": "window", **asdict(self)}

    def __str__(self) -> str:
        """Return the figures in one line."""
        kind = " (baseline)" if self.is_baseline else ""
        figures = ", ".join(
            f"{_NAMES[figure.name]} {_value_text(figure)} of {figure.texts}"
            for figure in self.figures
        )
        return f"window {self.number}{kind}, {self.task}/{self.aspect}: {figures}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """A figure that is worse than the baseline allows.

    `alert_id` is the same whenever the alert is sent. `before` is the figure of the baseline,
    `after` that since the change probably began, over two windows at most. Because this beginning
    is chosen by the values, `after` exaggerates the change. The `evidence` reached the `threshold`
    with the trace `trace_id`.
    """

    alert_id: str
    task: str
    aspect: str
    before: Figure
    after: Figure
    evidence: float
    threshold: float
    trace_id: str

    def as_row(self) -> dict[str, object]:
        """Return the alert as a JSON object."""
        return {"event": "alert", **asdict(self), "text": str(self)}

    def __str__(self) -> str:
        """Return the change in one line."""
        change = _WORDS[self.before.name]
        return (
            f"ALERT {self.task}/{self.aspect}: {change}, from {_value_text(self.before)} in"
            f" {self.before.texts} texts to {_value_text(self.after)} in the last"
            f" {self.after.texts}"
        )


def _value_text(figure: Figure) -> str:
    if figure.name == "score":
        return f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"
    return f"{figure.value:.1%} [{figure.low:.1%}, {figure.high:.1%}]"


@dataclass(slots=True)
class _Stream:
    """One figure of an aspect, as values from 0 (best) to 1 (worst)."""

    window: list[float] = field(default_factory=list)
    window_before: list[float] = field(default_factory=list)
    baseline: list[float] = field(default_factory=list)
    before: Figure | None = None
    rising: RisingMean | None = None


@dataclass(slots=True)
class _AspectDrift:
    """All figures of an aspect; `best` and `worst` are the ends of its scale."""

    task: str
    aspect: str
    best: float
    worst: float
    windows: int = 0
    texts: int = 0
    alerts: int = 0
    streams: dict[FigureName, _Stream] = field(
        default_factory=lambda: {name: _Stream() for name in _FIGURES}
    )


_DECODER = msgspec.json.Decoder(dict[str, _AspectDrift])
_ENCODER = msgspec.json.Encoder()


class DriftMonitor:
    """Monitors the results of live traffic; `state` survives restarts."""

    def __init__(self, plan: DriftPlan, state: bytes | None = None) -> None:
        self._plan = plan
        self._aspects: dict[str, _AspectDrift] = _DECODER.decode(state) if state else {}

    @property
    def state(self) -> bytes:
        """The state for the next monitor."""
        return _ENCODER.encode(self._aspects)

    @property
    def alerts(self) -> int:
        """The number of alerts so far."""
        return sum(aspect.alerts for aspect in self._aspects.values())

    def add(self, result: Result, *, trace_id: str) -> list[Window | Alert]:
        """Add a result; return windows and alerts to report.

        A judge that abstained has examined nothing, so its result does not count.
        """
        if result.report.outcome is Outcome.ABSTAINED:
            return []
        task, name, scale = result.aspect.task.name, result.aspect.name, result.aspect.scale
        aspect = self._aspects.setdefault(
            f"{task}/{name}",
            _AspectDrift(task=task, aspect=name, best=scale.high, worst=scale.low),
        )
        reports: list[Window | Alert] = []
        for figure, value in _values(result):
            aspect.streams[figure].window.append(value)
            alert = self._watched(aspect, figure, value, trace_id=trace_id)
            reports += [] if alert is None else [alert]
        aspect.texts += 1
        if aspect.texts % self._plan.window == 0:
            reports.append(_closed(aspect))
        return reports

    def _watched(
        self, aspect: _AspectDrift, name: FigureName, value: float, *, trace_id: str
    ) -> Alert | None:
        """Add a value to the baseline, or to the evidence; return an alert if it suffices."""
        stream = aspect.streams[name]
        if stream.rising is None:
            stream.baseline.append(value)
            if len(stream.baseline) >= self._plan.baseline:
                stream.before = _figure(name, stream.baseline, aspect)
                mean = _mean(name, stream.baseline, confidence=_BASELINE_CONFIDENCE)
                # A figure that is at its worst already cannot get worse.
                stream.rising = RisingMean(min(mean.high, 1 - 1e-9))
                stream.baseline = []
            return None
        stream.rising.add(value)
        # The mean of all detectors is a detector, too, so multiplying the threshold by their number
        # keeps the promise for all together.
        threshold = float(self._plan.texts_per_false_alert * len(_FIGURES) * len(self._aspects))
        if stream.rising.evidence < threshold or stream.before is None:
            return None
        aspect.alerts += 1
        recent = [*stream.window_before, *stream.window]
        count, _ = stream.rising.since
        alert = Alert(
            alert_id=digest(f"{aspect.task}/{aspect.aspect}/{name}/{trace_id}"),
            task=aspect.task,
            aspect=aspect.aspect,
            before=stream.before,
            after=_figure(name, recent[-max(2, count) :], aspect),
            evidence=stream.rising.evidence,
            threshold=threshold,
            trace_id=trace_id,
        )
        # The changed level becomes the new baseline, so that one change makes one alert.
        stream.rising, stream.before = None, None
        return alert


def _values(result: Result) -> Iterator[tuple[FigureName, float]]:
    report, scale = result.report, result.aspect.scale
    yield "unscored", float(report.outcome not in USABLE)
    if report.score is not None:
        badness = (scale.high - report.score) / (scale.high - scale.low)
        yield "score", min(1.0, max(0.0, badness))
    if report.decision is not None:
        yield "faulty", float(report.decision is Decision.FAULTY)


def _closed(aspect: _AspectDrift) -> Window:
    """Return the complete window, and begin the next."""
    aspect.windows += 1
    figures = tuple(
        _figure(name, stream.window, aspect)
        for name, stream in aspect.streams.items()
        if stream.window and (name != "unscored" or any(stream.window))
    )
    is_baseline = all(stream.rising is None for stream in aspect.streams.values())
    for stream in aspect.streams.values():
        stream.window_before, stream.window = stream.window, []
    return Window(
        task=aspect.task,
        aspect=aspect.aspect,
        number=aspect.windows,
        is_baseline=is_baseline,
        figures=figures,
    )


def _figure(name: FigureName, values: list[float], aspect: _AspectDrift) -> Figure:
    value, low, high = mean = _mean(name, values)
    if name == "score":
        value, high, low = (aspect.best - part * (aspect.best - aspect.worst) for part in mean)
    return Figure(name=name, value=value, low=low, high=high, texts=len(values))


def _mean(name: FigureName, values: list[float], *, confidence: float = 0.95) -> BoundedMean:
    """Return the mean of values from 0 to 1; shares have a narrower interval."""
    if name == "score":
        return bounded_mean(values, confidence=confidence)
    share = clustered_proportion(values, [1] * len(values), confidence=confidence)
    return BoundedMean(share.value, share.low, share.high)
