"""The progress of a run: on a terminal, in a file, and not shown at all."""

import io
import os
import pty
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TextIO

import pytest
from fakes.clock import FakeClock
from fakes.judges import ASPECT, segment
from rich.console import Console

from spanjury.judges.core import PanelReport, Result, Usage
from spanjury.orchestration.cli.progress import ProgressLines, Stage, working
from spanjury.orchestration.cli.progress_bar import ProgressBar
from spanjury.orchestration.cli.run_view import View
from spanjury.orchestration.cli.shown import Shown
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.progress import Tracker
from spanjury.orchestration.engine.summary import Summary

RESULT = Result(segment=segment(), aspect=ASPECT, report=PanelReport(score=3))
OFTEN = 0.001


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
    clock, lines = FakeClock(), Lines(2)
    with ProgressLines(tracker(clock, done=1), write=lines.write, every=OFTEN):
        assert lines.full.wait(20)
        clock.now = 12
    assert len(lines.lines) >= 3
    assert set(lines.lines[:2]) == {"judged 1 of 4 (25 %)"}


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
