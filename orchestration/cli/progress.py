"""Progress without a bar: periodic lines, and the current step of a command.

Progress is computed when it is displayed, in a separate thread, so that results cost nothing.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Self

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.engine.progress import Tracker

with lazily():
    from spanjury.orchestration.cli import console, progress_bar

EVERY = 10.0
"""Seconds between two lines."""
_SILENT = 2.0
"""Seconds that a command may work silently."""
_REDRAWN = 0.5
"""Seconds between two updates of a line on a terminal."""


class Stage:
    """The current step of a command, and the time since the work began.

    `part` is the first step; `begin` names the next ones, from any thread.
    """

    def __init__(self, part: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._part = part
        self._clock = clock
        self._began = clock()

    def begin(self, part: str) -> None:
        """Name the step that begins now."""
        self._part = part

    @property
    def seconds(self) -> float:
        """The duration of the whole work so far."""
        return self._clock() - self._began

    @property
    def line(self) -> str:
        """The step, and the seconds since the work began."""
        return f"{self._part} ({self.seconds:.0f} s)"


def judging(tracker: Tracker, *, quiet: bool) -> AbstractContextManager[object]:
    """Return a context manager that shows progress: by a bar on a terminal, elsewhere by lines."""
    if quiet:
        return nullcontext()
    side = console.CleanConsole(stderr=True)
    if side.is_watched:
        return progress_bar.ProgressBar(tracker, console=side)
    return ProgressLines(tracker, write=say)


@contextmanager
def working(
    part: str, *, quiet: bool = False, first_line: float = _SILENT
) -> Iterator[Callable[[str], None]]:
    """Show the current step of a command after 2 s; yield a function that names the next step.

    A terminal shows one line, which disappears at the end. Elsewhere a line is written after
    `first_line` seconds, and then every 10 s.
    """
    stage = Stage(part)
    if quiet:
        yield stage.begin
        return
    side = console.CleanConsole(stderr=True)
    if not side.is_watched:
        with ProgressLines(stage, write=say, first=first_line, ends=False):
            yield stage.begin
        return
    status = side.status("")

    def write(line: str) -> None:
        status.update(line)
        status.start()

    try:
        with ProgressLines(stage, write=write, first=_SILENT, every=_REDRAWN, ends=False):
            yield stage.begin
    finally:
        status.stop()


class ProgressLines:
    """A context manager that writes a line every 10 s, and a last one at the end of a long run.

    A thread calls `write`; once it fails, nothing more is written. The first line comes after
    `first` seconds, further ones after `every` seconds each. With `ends`, work that lasted at least
    `every` seconds ends with a line. A line that has not changed is not repeated.
    """

    def __init__(
        self,
        work: Tracker | Stage,
        *,
        write: Callable[[str], None],
        first: float | None = None,
        every: float = EVERY,
        ends: bool = True,
    ) -> None:
        self._work = work
        self._write = write
        self._first = every if first is None else first
        self._every = every
        self._ends = ends
        self._last = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        wait = self._first
        with suppress(OSError):  # the reader of standard error may disconnect
            while not self._ended.wait(wait):
                self._write_change()
                wait = self._every
            if self._ends and self._work.seconds >= self._every:
                self._write_change()

    def _write_change(self) -> None:
        line = self._work.line
        if line != self._last:
            self._last = line
            self._write(line)
