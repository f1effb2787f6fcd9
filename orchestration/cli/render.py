"""A segment on a terminal: its text with the errors marked, and what was said of it."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from spanjury.judges.core import ErrorSpan, Outcome, PanelReport, Result, one_line
from spanjury.orchestration.cli.marking import marked_text, severity_style

__all__ = ["segment_view"]

_QUOTE = 60
"""Characters shown of a quote that is not in the text."""


def segment_view(results: Sequence[Result]) -> RenderableType:
    """Show one segment with its results on one or more aspects."""
    segment = results[0].segment
    spans: dict[int, ErrorSpan] = {}
    told: list[RenderableType] = []
    for result in results:
        told.append(_aspect_line(result))
        for span in result.report.spans:
            spans[len(spans) + 1] = span
            told.append(_span_line(len(spans), span))
        told.extend(_failed_seats(result.report))
    title = Text(one_line(segment.segment_id), style="bold underline")
    if segment.system and segment.system not in segment.segment_id:
        title.append(f"  {one_line(segment.system)}", style="dim")
    text = marked_text(segment.output, spans) if segment.output else Text("(empty)", "dim")
    return Group(title, Padding(text, (0, 0, 0, 2)), *told, Text())


def _aspect_line(result: Result) -> RenderableType:
    report, scale = result.report, result.aspect.scale
    line = Text(one_line(result.aspect.name), style="bold")
    if report.score is None:
        line.append(f": {report.outcome.value}", style="not bold magenta")
        line.append(f" ({one_line(report.reason)})", style="not bold dim")
    else:
        label = scale.label(report.score)
        line.append(f": {report.score:.2f} of {scale.high}, {label}", style="not bold")
        if not report.spans:
            line.append("; no error found", style="not bold green")
    return Padding(line, (0, 0, 0, 2))


def _span_line(number: int, span: ErrorSpan) -> RenderableType:
    line = Text(f"({number}) ", style=severity_style(span.severity))
    told = ["severity not given" if span.severity is None else f"severity {span.severity}"]
    if span.category:
        told.append(one_line(span.category))
    if span.interval is None:
        told.append(f"not in the text: {span.text[:_QUOTE]!r}" if span.text else "no place")
    line.append(", ".join(told))
    line.append(f" [{one_line(', '.join(span.found_by))}]", style="dim")
    line.append(f" {one_line(span.explanation)}", style="default")
    return Padding(line, (0, 0, 0, 4))


def _failed_seats(report: PanelReport) -> Iterator[RenderableType]:
    """Name the seats that failed although the panel has a score."""
    for seat in report.seats if report.score is not None else ():
        outcome = seat.report.outcome
        if outcome not in {Outcome.SCORED, Outcome.ABSTAINED}:
            said = f"{one_line(seat.seat)}: {outcome.value} ({one_line(seat.report.reason)})"
            yield Padding(Text(said, style="magenta"), (0, 0, 0, 4))
