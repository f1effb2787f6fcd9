"""Progress and speed of a run, computed when they are displayed."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from spanjury.judges.core import USABLE, Outcome, counted
from spanjury.orchestration.engine.metering import CUT_OFF, Meter
from spanjury.orchestration.engine.spending import NOTHING, Spending
from spanjury.orchestration.engine.summary import Summary

_RECENT = 10.0
_ENOUGH = 10
"""Least seconds and calls over which speeds are measured, if a minute has so many calls."""
_LONG = 60.0
"""Seconds over which the time left is estimated, since results may be rare."""
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The state of a run.

    Parameters
    ----------
    asks
        Whether models are called; if not, calls are not mentioned.
    calls_per_second, tokens_per_second
        Recent speeds.
    cost
        The cost so far, in words; empty if no price is known.
    failures
        Each outcome that is a failure, with the number of seats' reports that had it.
    seconds_left
        Estimated from the recent speed; None if nothing was done recently or nothing is left.
    waiting
        Descriptions of the models that calls wait for, and how long they wait.
    """

    done: int
    total: int
    asks: bool
    calls_per_second: float
    tokens_per_second: float
    cost: str
    failures: tuple[tuple[Outcome, int], ...]
    under_way: int
    limit: int
    seconds_left: float | None
    waiting: Sequence[str]

    @property
    def line(self) -> str:
        """All figures in one line."""
        share = 100 * self.done // self.total if self.total else 100
        judged = f"judged {self.done:,} of {self.total:,} ({share} %)"
        return ", ".join([judged, *self._figures()])

    @property
    def figures(self) -> str:
        """All figures that a progress bar does not show, in one line."""
        return ", ".join(self._figures())

    def _figures(self) -> Iterator[str]:
        yield from self.waiting
        if self.asks:
            yield f"{_speed(self.calls_per_second)} calls/s"
            yield f"{_speed(self.tokens_per_second)} tokens/s"
        if self.cost:
            yield self.cost
        yield from (f"{count:,} {outcome.value}" for outcome, count in self.failures)
        if self.asks:
            yield f"{self.under_way}/{self.limit} calls under way"
        if self.seconds_left is not None:
            yield f"{_duration(self.seconds_left)} left"


class Tracker:
    """Measures the progress of a run from counters that any thread may read."""

    def __init__(
        self,
        *,
        total: int,
        summary: Summary,
        meter: Meter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self._summary = summary
        self._meter = meter
        self._clock = clock
        self._began = clock()
        self._samples = deque([self._sample()])

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return self._clock() - self._began

    @property
    def line(self) -> str:
        """The progress of the run as one line."""
        return self.progress().line

    def progress(self) -> Progress:
        """Return the progress of the run; speeds are measured against samples of earlier calls."""
        now, meter = self._sample(), self._meter
        total = meter.spent
        self._samples.append(now)
        while now.at - self._samples[1].at >= _LONG:
            self._samples.popleft()
        recent = self._recent(now)
        return Progress(
            done=now.done,
            total=self.total,
            asks=bool(now.calls or meter.limit),
            calls_per_second=_per_second(now.calls - recent.calls, now.at - recent.at),
            tokens_per_second=_per_second(now.tokens - recent.tokens, now.at - recent.at),
            cost=_dollars(total.dollars, meter) if total.calls else "",
            failures=_failures(self._summary),
            under_way=meter.under_way,
            limit=meter.limit,
            seconds_left=self._seconds_left(now),
            waiting=meter.waiting(now.at),
        )

    def _recent(self, now: "_Sample") -> "_Sample":
        """Return the latest sample with enough calls since then to measure a speed."""
        for old in reversed(self._samples):
            if now.at - old.at >= _RECENT and now.calls - old.calls >= _ENOUGH:
                return old
        return self._samples[0]

    def _seconds_left(self, now: "_Sample") -> float | None:
        old = self._samples[0]
        speed = _per_second(now.done - old.done, now.at - old.at)
        return (self.total - now.done) / speed if speed and now.done < self.total else None

    def _sample(self) -> "_Sample":
        meter = self._meter
        return _Sample(
            at=self._clock(),
            done=self._summary.whole.total,
            calls=meter.usage.calls,
            tokens=meter.tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """Work done up to a point in time."""

    at: float
    done: int
    calls: int
    tokens: int


def spent(meter: Meter) -> str:
    """Describe the calls of this and of earlier runs of the command; empty if there are none."""
    by_name = {name: usage for name, usage in meter.made.items() if usage.calls}
    earlier = any(usage.calls for usage in meter.before.values())
    if not (by_name or earlier):
        return ""
    words = f"this run: {_in_words(meter.spent, meter) if by_name else 'no calls'}"
    if len(by_name) > 1:
        by_maker = "; ".join(f"{name} {_in_words(usage, meter)}" for name, usage in by_name.items())
        words += f" ({by_maker})"
    if earlier:
        words += f"; with earlier runs: {_in_words(meter.of_run, meter)}"
        if cut := meter.before.get(CUT_OFF, NOTHING).calls:
            words += f" ({cut:,} cut off, which count in full)"
    return words


def _in_words(spending: Spending, meter: Meter) -> str:
    calls = counted(spending.calls, "call")
    cost = _dollars(spending.dollars, meter)
    return ", ".join(filter(None, (calls, f"{_amount(spending.tokens)} tokens", cost)))


def _dollars(amount: float, meter: Meter) -> str:
    """Format dollars, with ``~`` before them if some models have no price."""
    if meter.unpriced and not amount:
        return ""
    digits = 2 if amount >= 0.01 or not amount else 4  # noqa: PLR2004  one cent
    return f"{'~' if meter.unpriced else ''}${amount:,.{digits}f}"


def _failures(summary: Summary) -> tuple[tuple[Outcome, int], ...]:
    """Count the failures of all seats, most frequent first."""
    counts: Counter[Outcome] = Counter()
    # Copied at once, so that another thread can go on counting.
    for outcomes in list(summary.seats.values()):
        for outcome, count in list(outcomes.items()):
            if outcome not in USABLE:
                counts[outcome] += count
    return tuple(counts.most_common())


def _per_second(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0


def _speed(per_second: float) -> str:
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.2g}"  # noqa: PLR2004  two digits


def _amount(tokens: int) -> str:
    return f"{tokens:,}" if tokens < _MILLION else f"{tokens / _MILLION:,.1f}M"


def _duration(seconds: float) -> str:
    """Format seconds as a whole number of the largest suitable unit."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
