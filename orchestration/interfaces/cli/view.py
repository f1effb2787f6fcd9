"""What a run shows while it goes on: segments as they are done, and how far it is."""

import json
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from spanjury.judges.core import Result
from spanjury.orchestration.interfaces.cli.render import segment_view
from spanjury.orchestration.interfaces.cli.table import summary_view
from spanjury.orchestration.summary import Summary
from spanjury.orchestration.wiring import result_row

__all__ = ["View"]


class _Output(Console):
    """A console whose reader may leave, as `head` does, without ending the program."""

    def on_broken_pipe(self) -> None:
        """Throw away what is still to come, where rich would exit at once."""
        self.quiet = True

    def show(self, view: RenderableType) -> None:
        """Print `view`; in a file without the blanks that fill a terminal's lines."""
        if self.is_terminal:
            self.print(view)
            return
        with self.capture() as capture:
            self.print(view)
        lines = capture.get().removesuffix("\n").split("\n")
        self.out("\n".join(line.rstrip() for line in lines), highlight=False)


class View:
    """Show results on standard output, progress and, beside JSON, the table on standard error.

    Parameters
    ----------
    total
        How many assessments there will be.
    as_json
        Print each result as a row of JSON Lines in place of the report.
    progress
        Show a progress bar, where standard error or output is a terminal.

    Notes
    -----
    Results are written to a file beside this; a reader who leaves ends the view, not the run.
    """

    def __init__(self, *, total: int, as_json: bool, progress: bool) -> None:
        self.summary = Summary()
        self._as_json = as_json
        self._out = _Output(highlight=False)
        self._side = self._out if self._out.is_terminal else Console(stderr=True, highlight=False)
        self._segment: list[Result] = []
        shown = progress and self._side.is_terminal and not (as_json and self._out.is_terminal)
        self._bar = Progress(
            TextColumn("judged"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._side,
            transient=True,
            disable=not shown,
        )
        self._task = self._bar.add_task("judged", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()
        self._flush_segment()

    def show(self, result: Result) -> None:
        """Count a result and print it; a segment is printed when all its aspects are in."""
        self.summary.add(result)
        self._bar.advance(self._task)
        if self._as_json:
            row = json.dumps(result_row(result), ensure_ascii=False)
            self._out.out(row, highlight=False)
            return
        if self._segment and self._segment[0].segment is not result.segment:
            self._flush_segment()
        self._segment.append(result)

    def close(self) -> None:
        """Print the closing table."""
        console = _Output(stderr=True, highlight=False) if self._as_json else self._out
        console.show(summary_view(self.summary))

    def _flush_segment(self) -> None:
        if self._segment:
            self._out.show(segment_view(self._segment))
            self._segment = []
