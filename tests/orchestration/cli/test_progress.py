"""The progress of a run: on a terminal, in a file, and not shown at all."""

import io
import os
import pty
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from typing import TextIO

import pytest
from fakes.clock import FakeClock
from fakes.judges import ASPECT, segment
from rich.console import Console

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
from spanjury.orchestration.cli.progress import ProgressLines, Stage, working
from spanjury.orchestration.cli.progress_bar import ProgressBar
from spanjury.orchestration.cli.run_view import View
from spanjury.orchestration.cli.shown import Shown
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.progress import Tracker, spent
from spanjury.orchestration.engine.spending import Spending
from spanjury.orchestration.engine.summary import Summary

RESULT = Result(segment=segment(), aspect=ASPECT, report=PanelReport(score=3))
OFTEN = 0.001
PRICE = TokenPrice(prompt=1e-6, completion=1e-6)
LATE = Report(outcome=Outcome.TIMED_OUT, reason="late")
ODD = Report(outcome=Outcome.UNPARSEABLE, reason="odd")
IDLE = Report(outcome=Outcome.ABSTAINED, reason="not mine")
GOOD = Report(score=4)


class Lines:
    """A file that tells when it holds some lines, or breaks instead."""

    def __init__(self, wanted: int, *, breaks: bool = False) -> None:
        self.lines: list[str] = []
        self.full = threading.Event()
        self.wanted = wanted
        self.breaks = breaks

    def write(self, line: str) -> None:
        self.lines.append(line)
        if len(self.lines) >= self.wanted:
            self.full.set()
        if self.breaks:
            raise BrokenPipeError


def tracker(clock: FakeClock, *, done: int = 0, total: int = 4) -> Tracker:
    summary = Summary()
    for _ in range(done):
        summary.add(RESULT)
    return Tracker(total=total, summary=summary, meter=Meter(), clock=clock)


def test_lines_come_now_and_then_and_once_more_at_the_end() -> None:
    seconds, lines = count(1), Lines(2)
    stage = Stage("reading the files", clock=lambda: float(next(seconds)))
    with ProgressLines(stage, write=lines.write, every=OFTEN):
        assert lines.full.wait(20)
    assert len(lines.lines) >= 3
    assert len({*lines.lines}) == len(lines.lines)


def test_a_line_that_has_not_changed_is_not_repeated() -> None:
    class Stalled(Stage):
        def __init__(self) -> None:
            super().__init__("judging")
            self.reads = 0
            self.was_read = threading.Event()

        @property
        def line(self) -> str:
            self.reads += 1
            if self.reads == 3:
                self.was_read.set()
            return "judged 0 of 4 (0 %)"

    work, lines = Stalled(), Lines(1)
    with ProgressLines(work, write=lines.write, every=OFTEN):
        assert work.was_read.wait(20)
    assert lines.lines == ["judged 0 of 4 (0 %)"]


def test_a_short_run_prints_no_line() -> None:
    clock, lines = FakeClock(), Lines(1)
    with ProgressLines(tracker(clock), write=lines.write):
        clock.now = 9.9
    assert lines.lines == []


def test_a_long_run_ends_with_a_line_however_it_ends() -> None:
    clock, lines = FakeClock(), Lines(1)
    with suppress(KeyboardInterrupt), ProgressLines(tracker(clock, done=4), write=lines.write):
        clock.now = 10
        raise KeyboardInterrupt
    assert lines.lines == ["judged 4 of 4 (100 %)"]


def test_lines_name_the_part_that_is_under_way() -> None:
    clock, lines = FakeClock(), Lines(1)
    stage = Stage("reading the files", clock=clock)
    with ProgressLines(stage, write=lines.write, first=OFTEN, every=100, ends=False):
        assert lines.full.wait(20)
        clock.now = 200
    assert lines.lines == ["reading the files (0 s)"]
    stage.begin("studying fluency")
    assert stage.line == "studying fluency (200 s)"


def test_work_of_a_moment_is_not_mentioned(capsys: pytest.CaptureFixture[str]) -> None:
    with working("reading the files") as begin:
        begin("studying fluency")
    assert capsys.readouterr() == ("", "")


def test_a_reader_of_the_lines_may_leave() -> None:
    clock, lines = FakeClock(), Lines(1, breaks=True)
    with ProgressLines(tracker(clock), write=lines.write, every=OFTEN):
        assert lines.full.wait(20)
        clock.now = 12
    assert len(lines.lines) == 1


def test_a_bar_is_as_far_as_the_run_whenever_it_is_drawn() -> None:
    terminal = io.StringIO()
    console = Console(file=terminal, force_terminal=True, width=100, color_system=None)
    clock, summary = FakeClock(), Summary()
    run = Tracker(total=4, summary=summary, meter=Meter(), clock=clock)
    with ProgressBar(run, console=console) as bar:
        for _ in range(3):
            summary.add(RESULT)
        clock.now = 6
        bar.refresh()
    assert "3/4" in terminal.getvalue()
    assert "75%" in terminal.getvalue()
    assert "2 s left" in terminal.getvalue()


class Outputs:
    """Text that came to a terminal and to a file."""

    def __init__(self) -> None:
        self.terminal = bytearray()
        self.file = io.StringIO()


@contextmanager
def terminal_of(outputs: Outputs) -> Iterator[TextIO]:
    """Open a terminal; what comes to it is in `outputs` at the end."""
    ours, theirs = pty.openpty()

    def read() -> None:
        with suppress(OSError):  # the other end has closed
            while data := os.read(ours, 4096):
                outputs.terminal.extend(data)

    reading = threading.Thread(target=read)
    reading.start()
    try:
        with open(theirs, "w", encoding="utf-8") as terminal:  # noqa: PTH123  a descriptor
            yield terminal
    finally:
        reading.join()
        os.close(ours)


def shown(
    monkeypatch: pytest.MonkeyPatch,
    terminals: set[str],
    *,
    as_json: bool = False,
    progress: bool = True,
) -> Outputs:
    """Show a run of one result, with a terminal for each of the outputs that is named."""
    outputs = Outputs()
    monkeypatch.setenv("TERM", "xterm")
    with ExitStack() as stack:
        terminal = stack.enter_context(terminal_of(outputs))
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(f"sys.{name}", terminal if name in terminals else outputs.file)
        meter = Meter()
        view = View(total=1, as_json=as_json, shown=Shown(), progress=progress, meter=meter)
        with view:
            meter.count(Usage(calls=1, prompt=7, completion=3), price=None)
            view.show(RESULT)
        view.close()
        terminal.flush()
        monkeypatch.undo()
    return outputs


@pytest.mark.parametrize("as_json", [False, True])
def test_a_terminal_gets_a_bar_and_a_file_the_results(
    monkeypatch: pytest.MonkeyPatch, as_json: bool
) -> None:
    outputs = shown(monkeypatch, {"stderr"}, as_json=as_json)
    assert b"calls/s" in outputs.terminal
    assert "judged" not in outputs.file.getvalue()
    assert "consistency" in outputs.file.getvalue()


def test_a_terminal_for_both_gets_the_bar_below_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = shown(monkeypatch, {"stdout", "stderr"})
    assert b"calls/s" in outputs.terminal
    assert b"consistency" in outputs.terminal
    assert b"this run: 1 call, 10 tokens" in outputs.terminal


@pytest.mark.parametrize(("as_json", "progress"), [(True, True), (False, False)])
def test_no_bar_is_drawn_between_rows_or_where_none_is_wanted(
    monkeypatch: pytest.MonkeyPatch, as_json: bool, progress: bool
) -> None:
    outputs = shown(monkeypatch, {"stdout", "stderr"}, as_json=as_json, progress=progress)
    assert b"calls/s" not in outputs.terminal
    assert b"consistency" in outputs.terminal


@pytest.mark.parametrize("terminals", [set(), {"stdout"}])
def test_no_bar_is_drawn_where_standard_error_is_a_file_whatever_colours_are_forced(
    monkeypatch: pytest.MonkeyPatch, terminals: set[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    outputs = shown(monkeypatch, terminals)
    assert b"judged" not in outputs.terminal
    assert "judged" not in outputs.file.getvalue()


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
    resumed = Run(price=None).asks()
    resumed.meter.before["judge"] = Spending(calls=31, tokens=3_720)
    assert spent(resumed.meter) == "this run: no calls; with earlier runs: 31 calls, 3,720 tokens"


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
