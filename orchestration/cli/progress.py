"""How a run shows how far it is: a bar on a terminal, lines now and then where there is none.

Both look when they show, in a thread of their own: a result costs them nothing.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from spanjury.orchestration.cli.standing import Watch

__all__ = ["ProgressBar", "ProgressLines"]

_REDRAWS = 2.0
"""How often a bar is drawn anew, a second."""
_EVERY = 10.0
"""Seconds between two lines."""


class ProgressBar(Progress):
    """A bar for ``with``, and below it the figures that a bar has no place for.

    Parameters
    ----------
    watch
        Looks how far it is.
    console
        A terminal; what else is printed there must be printed by the same console.
    """

    def __init__(self, watch: Watch, *, console: Console) -> None:
        self._watch = watch  # the first look is taken by what follows
        super().__init__(
            TextColumn("judged"),
            BarColumn(),
            MofNCompleteColumn(),
            TaskProgressColumn(),
            console=console,
            refresh_per_second=_REDRAWS,
            transient=True,
        )
        self.add_task("judged", total=watch.total)

    def get_renderables(self) -> Iterable[RenderableType]:
        """Look how far it is, and yield the bar and the line of figures."""
        standing = self._watch.look()
        for task in self.task_ids:
            self.update(task, completed=standing.done)
        yield from super().get_renderables()
        if standing.figures:
            yield Text(standing.figures, style="dim", overflow="ellipsis", no_wrap=True)


class ProgressLines:
    """Lines for ``with``: one every 10 s, and a last one at the end of a run that had any.

    Parameters
    ----------
    watch
        Looks how far it is.
    write
        Writes a line. It is called by a thread; once it fails, nothing more is written.
    every
        Seconds between two lines.
    """

    def __init__(
        self, watch: Watch, *, write: Callable[[str], None], every: float = _EVERY
    ) -> None:
        self._watch = watch
        self._write = write
        self._every = every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tell, name="progress", daemon=True)

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

    def _tell(self) -> None:
        with suppress(OSError):  # who reads standard error may leave
            while not self._ended.wait(self._every):
                self._write(self._watch.look().line)
            if self._watch.seconds >= self._every:
                self._write(self._watch.look().line)
