"""The view of a run: segments as they are judged, progress, and the closing tables."""

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from spanjury.judges.core import (
    USABLE,
    Decision,
    Outcome,
    Result,
    Segment,
    StopReason,
    Usage,
    counted,
    one_line,
    shown_json,
)
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.cli.console import CleanConsole
from spanjury.orchestration.cli.exits import say
from spanjury.orchestration.cli.progress import ProgressLines
from spanjury.orchestration.cli.segment_view import segment_view
from spanjury.orchestration.cli.shown import Selector, Shown
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.progress import Tracker, spent
from spanjury.orchestration.engine.summary import Risk, Row, Summary, is_open, risk_of
from spanjury.orchestration.wiring.results import result_row

with lazily():
    from spanjury.orchestration.cli import progress_bar

_REASONS = 3
"""Maximum number of reasons for missing scores that are shown."""
_FIGURES = ("faulty /\nunsure", "decided", "mean\nscore", "coverage", "spans\n/ text")
_NARROW = 72
"""Width of the terminal below which figures are printed as text."""
_WORST_FIRST = (Decision.FAULTY, Decision.UNSURE, Decision.OK)


def summary_view(summary: Summary, *, unsure: int) -> RenderableType:
    """Show means with their coverage, failures, and the tokens of each judge.

    `unsure` is the number of unsure texts that other judges might decide.
    """
    return Group(
        *([_means(summary)] if summary.rows else ()),
        *_risks(summary),
        *_hint(summary, unsure),
        *_failures(summary),
        *_unasked(summary),
        *_replaced(summary),
        *_usage(summary),
    )


def outlook(summary: Summary, *, unsure: int) -> RenderableType:
    """Show how often decisions are wrong, and how to decide the `unsure` texts."""
    return Group(*_risks(summary), *_hint(summary, unsure))


def _means(summary: Summary) -> RenderableType:
    """Show decisions, mean score, coverage and spans, by aspect and by system."""
    table = Table(title_justify="left", title="Mean scores", caption_justify="left")
    if summary.whole.decisions and summary.whole.scored < summary.whole.total:
        table.caption = "Decisions: shares of all texts, scored or not"
    table.add_column("aspect", overflow="fold")
    with_systems = any(system for _, _, system in summary.rows)
    if with_systems:
        table.add_column("system", overflow="fold")
    for heading in _FIGURES:
        table.add_column(heading, justify="right", no_wrap=True)  # names wrap, figures do not
    tasks = {task for task, _, _ in summary.rows}
    for (task, aspect), whole in summary.by_aspect().items():
        name = aspect if len(tasks) == 1 else f"{task}: {aspect}"
        if not with_systems:
            table.add_row(name, *_cells(whole))
            continue
        rows = summary.rows.items()
        systems = {system: row for (*names, system), row in rows if names == [task, aspect]}
        table.add_row(name, "all" if len(systems) > 1 else next(iter(systems)), *_cells(whole))
        if len(systems) > 1:
            for system, row in sorted(systems.items()):
                table.add_row("", system, *_cells(row), style="dim")
    return _ByWidth(wide=table, narrow=Group(*_mean_lines(summary)))


def _mean_lines(summary: Summary) -> Iterator[RenderableType]:
    yield Text("Mean scores", "italic")
    headings = [heading.replace("\n", " ") for heading in _FIGURES]
    for names, row in summary.rows.items():
        figures = zip(headings, _cells(row), strict=True)
        yield Text(f"{', '.join(filter(None, names))}: {'; '.join(map(' '.join, figures))}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ByWidth:
    """A table, or its text where the table has no room for names."""

    wide: RenderableType
    narrow: RenderableType

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        yield self.wide if options.max_width >= _NARROW else self.narrow


def _cells(row: Row) -> tuple[str, ...]:
    faulty, unsure = row.share(Decision.FAULTY), row.share(Decision.UNSURE)
    return (
        "-" if faulty is None else f"{faulty:.0%} / {unsure:.0%}",  # the shares of decisions
        "-" if row.decided is None else f"{row.decided:.0%}",
        "-" if row.mean is None else f"{row.mean:.2f}",
        f"{row.coverage:.0%} ({row.scored}/{row.total})",
        "-" if row.spans_per_text is None else f"{row.spans_per_text:.2f}",
    )


def _risks(summary: Summary) -> Iterator[RenderableType]:
    """Yield the known error rates of the decisions, and a note on unknown ones."""
    by_origin: dict[str, dict[Decision, Risk]] = {}
    for risk in summary.risks:
        if risk.share is not None:
            by_origin.setdefault(risk.measured_on, {})[risk.decision] = risk
    for texts, risks in by_origin.items():
        rates = ", ".join(risks[decision].words for decision in _WORST_FIRST if decision in risks)
        yield Text(f"{rates[0].upper()}{rates[1:]}. Basis: {texts}.", "dim")
    yield from _unknown(summary, "The false-alarm rate", {Decision.UNSURE, Decision.FAULTY})
    yield from _unknown(summary, "The miss rate", {Decision.OK})


def _unknown(
    summary: Summary, rate: str, decisions: Collection[Decision]
) -> Iterator[RenderableType]:
    decided = sum(count for risk, count in summary.risks.items() if risk.decision in decisions)
    by_aspect: Counter[str] = Counter()
    for (decision, aspect), count in summary.unmeasured.items():
        by_aspect[aspect] += count if decision in decisions else 0
    unknown = by_aspect.total()
    if unknown:
        words = " or ".join(decision.value for decision in _WORST_FIRST if decision in decisions)
        part = "" if unknown == decided else f" ({unknown} of {decided} {words} results)"
        aspects = ", ".join(sorted(+by_aspect))
        yield Text(
            f"{rate} is unknown on {aspects}{part}, because it was not measured for these judges or"
            " this language.",
            "dim",
        )


def _hint(summary: Summary, unsure: int) -> Iterator[RenderableType]:
    """Yield advice on unsure texts that these judges cannot decide."""
    if unsure and not any(usage.calls for usage in summary.usage.values()):
        texts = counted(unsure, "text is", "texts are")
        yield Text(f"{texts} unsure: add --model NAME or another judge to decide.")


def _failures(summary: Summary) -> Iterator[RenderableType]:
    unscored = summary.whole.total - summary.whole.scored
    if unscored:
        counts = _counted((o.value, n) for o, n in summary.outcomes.items() if o != Outcome.SCORED)
        total = summary.whole.total
        yield Text(f"{unscored} of {total} assessments have no score: {counts}", "magenta")
        for reason, count in summary.reasons.most_common(_REASONS):
            yield Text(f"  {count} x {one_line(reason)}", "dim")
    for seat, outcomes in summary.seats.items():
        failed = [
            (outcome.value, count) for outcome, count in outcomes.items() if outcome not in USABLE
        ]
        if failed:
            yield Text(
                f"seat {one_line(seat)}: {_counted(failed)} of {outcomes.total()}", "magenta"
            )


def _unasked(summary: Summary) -> Iterator[RenderableType]:
    """Yield a line on how often a cascade asked seats that it sometimes skips, and one on why."""
    total = summary.whole.total
    if not summary.unasked:
        return
    shares = ", ".join(
        f"{one_line(seat)} {total - missed} ({(total - missed) / total:.0%})"
        for seat, missed in sorted(summary.unasked.items(), key=lambda item: item[1])
    )
    yield Text(f"Some seats were asked about only part of the {total} assessments: {shares}.")
    words = {
        StopReason.SURE: "because the seats before were sure",
        StopReason.SETTLED: "because no other seat could move the score across the cutoff",
        StopReason.BUDGET: "because the budget was spent",
    }
    reasons = _counted((words[why], count) for why, count in summary.stops.most_common())
    yield Text(f"The cascade stopped early: {reasons}.", "dim")


def _replaced(summary: Summary) -> Iterator[RenderableType]:
    """Yield a line on the results whose spans the requested consolidator did not merge."""
    for how, count in summary.replaced.items():
        yield Text(f"{count} of {summary.whole.total} results: spans merged by {how}", "magenta")


def _counted(counts: Iterator[tuple[str, int]] | list[tuple[str, int]]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts)


def _usage(summary: Summary) -> Iterator[RenderableType]:
    asking = {seat: usage for seat, usage in summary.usage.items() if usage != Usage()}
    if not asking:
        return
    title = "Tokens used by the judges (a cached reply counts with its original cost)"
    table = Table(title_justify="left", title=title)
    table.add_column("judge", overflow="fold")
    for heading in ("calls", "prompt", "cached", "completion", "reasoning"):
        table.add_column(heading, justify="right")
    for seat, usage in asking.items():
        counts = (usage.calls, usage.prompt, usage.cached, usage.completion, usage.reasoning)
        table.add_row(seat, *(f"{count:,}" for count in counts))
    yield table
    for seat, count in summary.uncounted.items():
        reports = counted(count, "report")
        words = f"{one_line(seat)}: the server counted no tokens for {reports}"
        yield Text(f"{words}: the table shows 0, and limits assume the maximum", "dim")


class Output(CleanConsole):
    """A console for texts and tables."""

    def show(self, view: RenderableType) -> None:
        """Print `view`; in a file, without the trailing blanks of terminal lines."""
        if self.is_terminal:
            self.print(view)
            return
        with self.capture() as capture:
            self.print(view)
        lines = capture.get().removesuffix("\n").split("\n")
        self.out("\n".join(line.rstrip() for line in lines), highlight=False)


class _LastingOutput(Output):
    """An output of a run, which goes on when its reader disconnects, as `head` does."""

    has_reader = True

    def on_broken_pipe(self) -> None:
        """Discard further output, where rich would exit the program."""
        self.quiet = True
        self.has_reader = False


class View:
    """Prints results and tables on standard output, and progress on standard error.

    If results are JSON, the tables go to standard error, too. Results are also written to a file,
    so if a reader disconnects, only the view ends, not the run.

    Only the texts of `shown` are prepared for printing. `progress` is shown by a bar if standard
    error is a terminal, otherwise by lines. The bar is below the report if that is printed on a
    terminal, too.
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
        self._out = _LastingOutput()
        self._side = _LastingOutput(stderr=True)
        self._parts: list[Result | FinishedRow] = []
        self._unsure = self._unshown_faulty = 0
        tracker = Tracker(total=total, summary=self.summary, meter=meter)
        self._progress = self._shown(tracker) if progress else nullcontext()

    def _shown(self, tracker: Tracker) -> AbstractContextManager[object]:
        if not self._side.is_watched:
            return ProgressLines(tracker, write=say)
        if not self._out.is_terminal:
            return progress_bar.ProgressBar(tracker, console=self._side)
        # JSON rows on a terminal are printed past rich, which would not keep a bar below them.
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
        """Return whether the results of `segment` may be shown; call it in order of segments."""
        return not self._as_json and self._selector.wants(segment)

    def show(self, result: Result) -> None:
        """Count a result and print it; a segment is printed once all its aspects are judged."""
        self.summary.add(result)
        if self._as_json:
            self._print_row(result_row(result))
        self._take(result)

    def count(self, row: FinishedRow) -> None:
        """Count a remembered row; it is printed only as JSON."""
        self.summary.count(row.figures)
        if self._as_json:
            self._print_row(json.loads(row.line))
        self._take(row)

    def _print_row(self, row: Mapping[str, object]) -> None:
        self._out.out(shown_json(row), highlight=False)

    def _take(self, part: Result | FinishedRow) -> None:
        """Add a part of a segment; the first part of a new segment completes the previous one."""
        if self._parts and self._parts[0].segment is not part.segment:
            self._flush_segment()
        self._parts.append(part)

    def close(self) -> None:
        """Print the worst texts, the closing tables, and the spending of this session."""
        self._flush_segment()
        console = self._side if self._as_json else self._out
        for results in self._selector.at_the_end():
            console.show(segment_view(results))
        console.show(summary_view(self.summary, unsure=self._unsure))
        if words := self._rest():
            console.print(Text(words, "dim"), soft_wrap=True)  # a truncated command is useless
        if words := spent(self._meter):
            console.print(Text(words, "dim"), soft_wrap=True)

    def require_reader(self) -> None:
        """Raise `BrokenPipeError` if the reader of standard output has disconnected."""
        if not self._out.has_reader:
            raise BrokenPipeError

    def _rest(self) -> str:
        """Return a line on the texts that were not shown, with the command that shows them."""
        pages = "" if self._as_json or not self.summary.whole.total else self._pages
        count = self._selector.left_out
        if self._selector.shown.kind == "first" and count:
            faulty = self._unshown_faulty
            more = counted(count, "more text") + (f", {faulty:,} of them faulty" if faulty else "")
            see = f"{more}: see {'--show worst:10' if faulty else '--show all'}"
            return f"{see}, or on a page: {pages}" if pages else see
        return f"all texts on a page: {pages}" if pages else ""

    def _flush_segment(self) -> None:
        """Count the text that has ended, and print it if it is to be shown."""
        parts, self._parts = self._parts, []
        # A criterion of a rubric counts through the result of the rubric.
        figures = [
            (risk_of(part.report), part.report.decision)
            if isinstance(part, Result)
            else (part.figures.risk, part.figures.decision)
            for part in parts
            if not part.aspect.rubric
        ]
        self._unsure += is_open(risk for risk, _ in figures)
        if self._as_json:
            return
        results = [part for part in parts if isinstance(part, Result)]
        if len(results) < len(parts):
            self._selector.pass_by()
        elif results and self._selector.now(results):
            self._out.show(segment_view(results))
            return
        self._unshown_faulty += any(decision is Decision.FAULTY for _, decision in figures)
