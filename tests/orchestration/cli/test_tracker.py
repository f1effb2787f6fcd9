"""Progress of a run, in figures and in words."""

import pytest
from fakes.clock import FakeClock
from fakes.judges import ASPECT, segment

from spanjury.judges.core import (
    ChatRequest,
    Outcome,
    PanelReport,
    Reply,
    Report,
    Result,
    SeatReport,
    TokenPrice,
    Usage,
)
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.progress import Tracker, spent
from spanjury.orchestration.engine.summary import Summary

PRICE = TokenPrice(prompt=1e-6, completion=1e-6)
LATE = Report(outcome=Outcome.TIMED_OUT, reason="late")
ODD = Report(outcome=Outcome.UNPARSEABLE, reason="odd")
IDLE = Report(outcome=Outcome.ABSTAINED, reason="not mine")
GOOD = Report(score=4)


class Line:
    """A model that is busy with 24 calls of 64."""

    signature = "line"
    limit = 64
    under_way = 24
    since: float | None = None

    def waiting(self, now: float) -> str:
        return "" if self.since is None else f"waiting for line ({now - self.since:.0f} s)"

    async def complete(self, request: ChatRequest) -> Reply:
        raise NotImplementedError(request)


class Run:
    """A run that is as far as a test says, by a clock of its own."""

    def __init__(self, *, total: int = 20_000, price: TokenPrice | None = PRICE) -> None:
        self.clock = FakeClock()
        self.summary = Summary()
        self.meter = Meter()
        self.price = price
        self.tracker = Tracker(
            total=total, summary=self.summary, meter=self.meter, clock=self.clock
        )

    def asks(self) -> "Run":
        self.meter.account(name="line", price=self.price)
        self.meter.attach(Line())
        return self

    def does(self, *seats: Report) -> None:
        reports = tuple(
            SeatReport(seat=f"seat{i}", signature="s", report=report, seconds=1.0)
            for i, report in enumerate(seats)
        )
        report = PanelReport(score=4, seats=reports)
        self.summary.add(Result(segment=segment(), aspect=ASPECT, report=report))

    def spends(self, *, calls: int, tokens: int) -> None:
        self.meter.count(Usage(calls=calls, prompt=tokens), price=self.price)


def test_a_server_that_is_waited_for_stands_before_the_figures() -> None:
    run, line = Run().asks(), Line()
    run.meter.attach(line)
    assert "waiting" not in run.tracker.progress().line
    run.clock.now, line.since = 20.0, 3.0
    progress = run.tracker.progress()
    assert progress.line.startswith("judged 0 of 20,000 (0 %), waiting for line (17 s), ")
    assert progress.figures.startswith("waiting for line (17 s), ")


def test_all_figures_stand_in_one_line() -> None:
    run = Run().asks()
    for _ in range(1200):
        run.does(GOOD)
    for report in (LATE, LATE, LATE, ODD):
        run.does(report)
    run.spends(calls=1230, tokens=420_000)
    run.clock.now = 30
    assert run.tracker.progress().line == (
        "judged 1,204 of 20,000 (6 %), 41 calls/s, 14,000 tokens/s, $0.42, 3 timed_out,"
        " 1 unparseable, 24/64 calls under way, 8 min left"
    )


def test_a_bar_shows_only_the_rest() -> None:
    run = Run(total=2).asks()
    run.does(GOOD)
    run.clock.now = 1
    figures = run.tracker.progress().figures
    assert figures == "0 calls/s, 0 tokens/s, 24/64 calls under way, 1 s left"


def test_calls_are_not_mentioned_without_models() -> None:
    run = Run(total=40)
    for _ in range(10):
        run.does(GOOD, IDLE)
    run.clock.now = 100
    assert run.tracker.progress().line == "judged 10 of 40 (25 %), 5 min left"


def test_speeds_are_of_the_last_ten_seconds() -> None:
    run = Run().asks()
    run.spends(calls=1000, tokens=90_000)
    run.clock.now = 30
    run.tracker.progress()
    run.clock.now = 34
    run.tracker.progress()
    run.spends(calls=25, tokens=500)
    run.clock.now = 40
    progress = run.tracker.progress()
    assert (progress.calls_per_second, progress.tokens_per_second) == (2.5, 50.0)


def test_the_time_left_follows_the_last_minute_and_forgets_what_was_remembered() -> None:
    run = Run(total=1000)
    for _ in range(900):
        run.does(GOOD)
    for _ in range(13):
        run.clock.now += 10
        run.tracker.progress()
        run.does(GOOD)
    run.clock.now += 10
    progress = run.tracker.progress()
    assert progress.seconds_left == pytest.approx(870)
    assert progress.done == 913
    assert "14 min left" in progress.line


def test_no_time_is_left_or_it_is_not_known() -> None:
    run = Run(total=1)
    assert run.tracker.progress().seconds_left is None
    run.clock.now = 5
    assert run.tracker.progress().seconds_left is None
    run.does(GOOD)
    assert run.tracker.progress().line == "judged 1 of 1 (100 %)"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(1, "1 s"), (119, "119 s"), (120, "2 min"), (7_199, "120 min"), (7_200, "2 h"), (3e5, "3 d")],
)
def test_a_duration_has_one_unit(seconds: float, shown: str) -> None:
    run = Run(total=2)
    run.does(GOOD)
    run.clock.now = seconds
    assert run.tracker.progress().line.endswith(f", {shown} left")


@pytest.mark.parametrize(
    ("price", "others", "tokens", "shown"),
    [
        (PRICE, [], 1_234_567, "$1.23"),
        (PRICE, [], 1_234, "$0.0012"),
        (PRICE, ["local"], 420_000, "~$0.42"),
        (TokenPrice(prompt=0, completion=0), [], 10, "$0.00"),
        (None, [], 10, ""),
    ],
)
def test_a_cost_is_shown_as_far_as_it_is_known(
    price: TokenPrice | None, others: list[str], tokens: int, shown: str
) -> None:
    run = Run(price=price).asks()
    for name in others:
        run.meter.account(name=name, price=None)
    run.spends(calls=1, tokens=tokens)
    assert run.tracker.progress().cost == shown


def test_the_calls_of_this_run_are_shown_only_if_there_are_any() -> None:
    run = Run().asks()
    assert not spent(run.meter)
    run.spends(calls=1_204, tokens=1_240_000)
    assert spent(run.meter) == "this run: 1,204 calls, 1.2M tokens, $1.24"
    free = Run(price=None).asks()
    free.spends(calls=2, tokens=1_000)
    assert spent(free.meter) == "this run: 2 calls, 1,000 tokens"


def test_a_slow_models_speed_is_taken_over_a_minute() -> None:
    run = Run().asks()
    for second in range(0, 60, 5):
        run.clock.now = second
        run.tracker.progress()
        if second % 20 == 0:
            run.spends(calls=1, tokens=600)
    run.clock.now = 60
    progress = run.tracker.progress()
    assert (progress.calls_per_second, progress.tokens_per_second) == (3 / 60, 30.0)
    assert "0.05 calls/s, 30 tokens/s" in progress.line
