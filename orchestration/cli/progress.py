"""Progress where there is no bar: a line now and then, and what a command is doing at the moment.

Progress is measured when it is shown, in a thread of its own: a result costs nothing.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Protocol, Self

from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.engine.progress import Tracker

with lazily():
    from spanjury.orchestration.cli import console, progress_bar

_EVERY = 10.0
"""Seconds between two lines."""
_SILENT = 2.0
"""Seconds for which a command may work without a word."""
_REDRAWN = 0.5
"""Seconds between two states of a line on a terminal."""


class Measured(Protocol):
    """Work that knows how far it is."""

    @property
    def seconds(self) -> float:
        """Its duration until now."""

    @property
    def line(self) -> str:
        """Its progress, in words."""


class Stage:
    """The part of a command's work that is under way, and since when.

    `part` is the first part; `begin` names the next ones, from any thread.
    """

    def __init__(self, part: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._part = part
        self._clock = clock
        self._began = clock()

    def begin(self, part: str) -> None:
        """Name the part that begins now."""
        self._part = part

    @property
    def seconds(self) -> float:
        """The duration of the whole work until now."""
        return self._clock() - self._began

    @property
    def line(self) -> str:
        """The part, and the seconds since the first one began."""
        return f"{self._part} ({self.seconds:.0f} s)"


def judging(tracker: Tracker, *, quiet: bool) -> AbstractContextManager[object]:
    """Show for ``with`` how far judges are: by a bar on a terminal, elsewhere by lines."""
    if quiet:
        return nullcontext()
    side = console.CleanConsole(stderr=True)
    if side.is_watched:
        return progress_bar.ProgressBar(tracker, console=side)
    return ProgressLines(tracker, write=say)


@contextmanager
def working(part: str, *, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show what a command is doing once it has lasted 2 s; yield what names the next part.

    A terminal shows one line, which disappears at the end. Elsewhere a line is written every 10 s.
    """
    stage = Stage(part)
    if quiet:
        yield stage.begin
        return
    side = console.CleanConsole(stderr=True)
    if not side.is_watched:
        with ProgressLines(stage, write=say, first=_SILENT, ends=False):
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
    """Lines for ``with``: one every 10 s, and a last one at the end of a run that had any.

    `write` is called by a thread; once it fails, nothing more is written. The first line comes
    after `first` seconds, further ones after `every` seconds each. With `ends`, work that lasted
    for `every` seconds ends with a line.
    """

    def __init__(
        self,
        work: Measured,
        *,
        write: Callable[[str], None],
        first: float | None = None,
        every: float = _EVERY,
        ends: bool = True,
    ) -> None:
        self._work = work
        self._write = write
        self._first = every if first is None else first
        self._every = every
        self._ends = ends
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
        with suppress(OSError):  # the reader of standard error may leave
            while not self._ended.wait(wait):
                self._write(self._work.line)
                wait = self._every
            if self._ends and self._work.seconds >= self._every:
                self._write(self._work.line)
