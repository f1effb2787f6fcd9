"""Progress of a run on a terminal: a bar, and the figures that do not fit on it.

They are computed when they are displayed, in a separate thread, so that results cost nothing.
"""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn
from rich.text import Text

from spanjury.orchestration.engine.progress import Tracker

_REDRAWS = 2.0
"""Redraws of a bar per second."""


class ProgressBar(Progress):
    """A progress bar as a context manager, and below it the figures that do not fit on it.

    Everything else on the terminal must be printed by the same console.
    """

    def __init__(self, tracker: Tracker, *, console: Console) -> None:
        self._tracker = tracker  # the next line already measures
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
