"""The view of a run while it goes on: segments as they are done, and progress."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Self

from rich.console import RenderableType
from rich.text import Text

from spanjury.judges.core import Result, Segment, shown_json
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.progress import ProgressLines
from spanjury.orchestration.cli.segment_view import segment_view
from spanjury.orchestration.cli.shown import Selector, Shown
from spanjury.orchestration.cli.summary_view import summary_view
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.progress import Tracker, spent
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.wiring.results import result_row

with lazily():
    from spanjury.orchestration.cli import progress_bar


class _Output(CleanConsole):
    """A console whose reader may leave, as `head` does, without ending the program."""

    def on_broken_pipe(self) -> None:
        """Throw away what is still to come, where rich would exit at once."""
        self.quiet = True

    @property
    def is_watched(self) -> bool:
        """True if it is a terminal on which something can move."""
        # FORCE_COLOR makes rich take a file for a terminal, which is right for colours only.
        return self.is_interactive and self.file.isatty()

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
    """Shows results on standard output, progress and, beside JSON, the table on standard error.

    Parameters
    ----------
    total
        How many assessments there will be.
    as_json
        Print each result as a row of JSON Lines in place of the report.
    shown
        Which texts are printed; of those that are not, none is made ready to be.
    progress
        Show progress: by a bar where standard error is a terminal, which is drawn below the
        report if that goes to a terminal too; by lines elsewhere.
    meter
        Counts the calls to models.
    pages
        The command that shows the results on a page, which is named at the end; or empty.

    Notes
    -----
    Results are written to a file beside this; a reader who leaves ends the view, not the run.
    """

    def __init__(
        self,
        *,
        total: int,
        as_json: bool,
        shown: Shown,
        progress: bool,
        meter: Meter,
        pages: str = "",
    ) -> None:
        self.summary = Summary()
        self._selector = Selector(shown=shown)
        self._meter = meter
        self._as_json = as_json
        self._pages = pages
        self._out = _Output()
        self._side = _Output(stderr=True)
        self._parts: list[Result | FinishedRow] = []
        tracker = Tracker(total=total, summary=self.summary, meter=meter)
        self._progress = self._shown(tracker) if progress else nullcontext()

    def _shown(self, tracker: Tracker) -> AbstractContextManager[object]:
        if not self._side.is_watched:
            return ProgressLines(tracker, write=say)
        if not self._out.is_terminal:
            return progress_bar.ProgressBar(tracker, console=self._side)
        # Rows of JSON on a terminal are printed past a bar, not above it.
        return (
            nullcontext() if self._as_json else progress_bar.ProgressBar(tracker, console=self._out)
        )

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.__exit__(kind, error, trace)
        self._flush_segment()

    def wants(self, segment: Segment) -> bool:
        """Say whether the results of `segment` may be shown; call it in the order of segments."""
        return not self._as_json and self._selector.wants(segment)

    def show(self, result: Result) -> None:
        """Count a result and print it; a segment is printed when all its aspects are in."""
        self.summary.add(result)
        if self._as_json:
            self._print_row(result_row(result))
        else:
            self._take(result)

    def count(self, row: FinishedRow) -> None:
        """Count a row that is remembered; only as JSON it is printed."""
        self.summary.count(row.figures)
        if self._as_json:
            self._print_row(json.loads(row.line))
        else:
            self._take(row)

    def _print_row(self, row: Mapping[str, object]) -> None:
        self._out.out(shown_json(row), highlight=False)

    def _take(self, part: Result | FinishedRow) -> None:
        """Take a part of what there is on a segment, which ends the one before."""
        if self._parts and self._parts[0].segment is not part.segment:
            self._flush_segment()
        self._parts.append(part)

    def close(self) -> None:
        """Print the worst texts, the closing tables, and what this go at the run took."""
        console = self._side if self._as_json else self._out
        for results in self._selector.at_the_end():
            console.show(segment_view(results))
        console.show(summary_view(self.summary))
        if words := self._rest():
            console.print(Text(words, "dim"), soft_wrap=True)  # a command that is cut is useless
        if words := spent(self._meter):
            console.print(Text(words, "dim"), soft_wrap=True)

    def _rest(self) -> str:
        """Say what was not shown, and what shows it."""
        pages = "" if self._as_json or not self.summary.whole.total else self._pages
        count = self._selector.left_out
        if self._selector.shown.kind == "first" and count:
            if pages:
                return f"{count} more texts (--show all, worst:N): {pages}"
            return f"{count} more texts: --show all, worst:N or failures shows others"
        return f"all texts on a page: {pages}" if pages else ""

    def _flush_segment(self) -> None:
        results = [part for part in self._parts if isinstance(part, Result)]
        if len(results) < len(self._parts):
            self._selector.pass_by()
        elif results and self._selector.now(results):
            self._out.show(segment_view(results))
        self._parts = []
