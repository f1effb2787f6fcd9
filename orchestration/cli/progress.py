"""Progress of a run on the screen: a bar on a terminal, elsewhere a line now and then.

Both measure when they show, in a thread of their own: a result costs them nothing.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from spanjury.orchestration.engine.progress import Tracker

_REDRAWS = 2.0
"""Redraws of a bar in a second."""
_EVERY = 10.0
"""Seconds between two lines."""


class ProgressBar(Progress):
    """A bar for ``with``, and below it the figures that a bar has no place for.

    Parameters
    ----------
    tracker
        Measures the progress.
    console
        A terminal; what else is printed there must be printed by the same console.
    """

    def __init__(self, tracker: Tracker, *, console: Console) -> None:
        self._tracker = tracker  # the next line measures already
        super().__init__(
            TextColumn("judged"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(),
            console=console,
            refresh_per_second=_REDRAWS,
            transient=True,
        )
        self.add_task("judged", total=tracker.total)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Measure, and yield the bar and the line of figures."""
        progress = self._tracker.progress()
        for task in self.task_ids:
            self.update(task, completed=progress.done)
        yield from super().get_renderables()
        if progress.figures:
            yield Text(progress.figures, style="dim", overflow="ellipsis", no_wrap=True)


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
