"""Progress of a run where there is no terminal: a line now and then.

It is measured when it is shown, in a thread of its own: a result costs nothing.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from spanjury.orchestration.engine.progress import Tracker

_EVERY = 10.0
"""Seconds between two lines."""


class ProgressLines:
    """Lines for ``with``: one every 10 s, and a last one at the end of a run that had any.

    Parameters
    ----------
    tracker
        Measures the progress.
    write
        Writes a line. It is called by a thread; once it fails, nothing more is written.
    every
        Seconds between two lines.
    """

    def __init__(
        self, tracker: Tracker, *, write: Callable[[str], None], every: float = _EVERY
    ) -> None:
        self._tracker = tracker
        self._write = write
        self._every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        with suppress(OSError):  # the reader of standard error may leave
            while not self._ended.wait(self._every):
                self._write(self._tracker.progress().line)
            if self._tracker.seconds >= self._every:
                self._write(self._tracker.progress().line)
