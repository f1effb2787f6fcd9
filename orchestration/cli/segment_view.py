"""A segment on a terminal: its text with the errors marked, and its reports.

A trajectory is shown turn by turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from spanjury.judges.core import (
    USABLE,
    VOUCHED,
    Decision,
    ErrorSpan,
    PanelReport,
    Result,
    Segment,
    counted,
    one_line,
)
from spanjury.judges.core.transcript import Position, Transcript, position_in, transcript_of
from spanjury.orchestration.engine.summary import open_questions

_STYLES = {1: "cyan", 2: "cyan", 3: "yellow", 4: "red", 5: "bold red"}
_DECISION_STYLES = {
    Decision.OK: "not bold green",
    Decision.UNSURE: "not bold yellow",
    Decision.FAULTY: "bold red",
}
_SPEAKERS = {"system": "Instructions", "user": "User", "assistant": "Agent", "tool": "Result"}
_LINE = 90
"""Maximum number of characters of a call on one line; a longer one has a line for each value."""
_GIVEN = 300
"""Maximum number of characters shown of a turn that is not the agent's."""
_LONG = 1500
"""Texts with more characters are shown only around their spans."""
_AROUND = 120
"""Characters shown on either side of a span in a long text."""
_QUOTE = 60
"""Maximum number of characters shown of evidence, or of a quote that is not in the text."""
_SENTENCES = 4
"""Maximum number of unverified sentences shown of a report."""
_EVIDENCE = 2
"""Maximum number of passages of evidence shown for an error."""


def segment_view(results: Sequence[Result]) -> RenderableType:
    """Show one segment with its results on one or more aspects."""
    segment = results[0].segment
    spans: dict[int, ErrorSpan] = {}
    lines: list[RenderableType] = []
    for result in results:
        lines.append(_aspect_line(result))
        for span in result.report.spans:
            spans[len(spans) + 1] = span
            lines.append(_span_line(len(spans), span, position_in(segment, span)))
            if span.evidence:
                lines.append(_evidence_line(span))
        lines.extend(Padding(line, (0, 0, 0, 4)) for line in _remarks(result.report))
    title = Text(one_line(segment.segment_id), style="bold underline")
    if segment.system and segment.system not in segment.segment_id:
        title.append(f"  {one_line(segment.system)}", style="dim")
    return Group(title, *_body(segment, spans), *lines, Text())


def _body(segment: Segment, spans: Mapping[int, ErrorSpan]) -> Iterator[RenderableType]:
    """Yield the text, or each turn of a trajectory with its speaker."""
    transcript = transcript_of(segment)
    if transcript is None or segment.trajectory is None:
        text = marked_text(segment.output, spans) if segment.output else Text("(empty)", "dim")
        yield Padding(text, (0, 0, 0, 2))
        return
    for number, turn in enumerate(segment.trajectory.turns, 1):
        speaker = f"{number} {_SPEAKERS[turn.role]}"
        text = Text()
        if turn.role != "assistant":
            call = segment.trajectory.caller_of(number)
            name = turn.name or (call.name if call else "")
            speaker += f" {one_line(name)}" * bool(name) + " (failed)" * turn.failed
            text.append(_in_short(turn.text), "dim")
        elif spoken := transcript.interval(number):
            text.append_text(marked_text(transcript.text, spans, first=spoken[0], last=spoken[1]))
        yield Padding(Text(speaker, "bold red" if turn.failed else "bold"), (0, 0, 0, 2))
        if text:
            yield Padding(text, (0, 0, 0, 4))
        for count in range(1, len(turn.calls) + 1):
            yield Padding(_call(transcript, spans, turn=number, call=count), (0, 0, 0, 4))
        for image in turn.images:
            yield Padding(Text(f"image: {_in_short(image)}", "dim"), (0, 0, 0, 4))


def _call(made: Transcript, spans: Mapping[int, ErrorSpan], *, turn: int, call: int) -> Text:
    """Return a call on one line, or with a line for each argument value if it is long."""
    parts = [part for part in made.parts if part.position.turn == turn]
    parts = [part for part in parts if part.position.call == call]
    name, values = parts[0], parts[1:]
    start, end = name.start, max(part.end for part in parts)
    text = Text("call ", "dim")
    if end - start <= _LINE:
        return text.append_text(marked_text(made.text, spans, first=start, last=end))
    leaves = [
        part
        for part in values
        if not any(
            part is not inner and part.start <= inner.start and inner.end <= part.end
            for inner in values
        )
    ]
    text.append_text(marked_text(made.text, spans, first=name.start, last=name.end))
    for number, span in spans.items():
        if span.start is None or not start <= span.start < end:
            continue
        if not any(
            part.start <= span.start and (span.end or 0) <= part.end for part in (name, *leaves)
        ):
            text.append(f" ({number})", _style(span.severity))
    for leaf in leaves:
        text.append(f"\n  {leaf.position.path.removeprefix('$').removeprefix('.')}: ", "dim")
        text.append_text(marked_text(made.text, spans, first=leaf.start, last=leaf.end))
    return text


def _in_short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _GIVEN else f"{line[:_GIVEN].rstrip()} …"


def _aspect_line(result: Result) -> RenderableType:
    report, scale = result.report, result.aspect.scale
    line = Text(one_line(result.aspect.name), style="bold")
    if report.score is None:
        line.append(f": {report.outcome.value}", style="not bold magenta")
        line.append(f" ({one_line(report.reason)})", style="not bold dim")
        return Padding(line, (0, 0, 0, 2))
    line.append(": ", style="not bold")
    if report.decision is not None:
        line.append(report.decision.value, style=_DECISION_STYLES[report.decision])
        line.append("; ", style="not bold")
    if report.cannot_tell:
        line.append(
            f"cannot tell: P(error) {report.error_probability:.2f}; {report.score:.2f} of"
            f" {scale.high}",
            "not bold",
        )
        return Padding(line, (0, 0, 0, 2))
    label = scale.label(report.score)
    # A score made in another way may be the best one, whatever the probability of an error.
    is_likely = (report.error_probability or 0.0) >= VOUCHED
    is_best = label == scale.labels[-1] and not is_likely
    praise = "" if is_likely and label == scale.labels[-1] else f", {label}"
    line.append(f"{report.score:.2f} of {scale.high}{praise}", "not bold")
    if result.aspect.criteria and report.basis is not None:
        line.append(f"; {one_line(report.basis.reason)}", "not bold dim")
    elif not any(span.interval for span in report.spans):
        line.append(*_unlocated_note(report, is_best=is_best))
    return Padding(line, (0, 0, 0, 2))


def _remarks(report: PanelReport) -> Iterator[Text]:
    """Yield what keeps a text from being ok, and the seats that failed or were not asked."""
    if report.decision in {Decision.UNSURE, Decision.FAULTY}:
        for sentence in report.unverified[:_SENTENCES]:
            words = f": {one_line(', '.join(sentence.words))}" if sentence.words else "."
            line = Text("not verified: ", style="yellow")
            line.append(_quoted(sentence.text), style="default")
            reason = one_line(sentence.reason).rstrip(".")
            line.append(f" P(error) {sentence.probability:.2f}. {reason}{words}", style="dim")
            yield line
        if (more := len(report.unverified) - _SENTENCES) > 0:
            yield Text(f"not verified: {counted(more, 'more sentence')}", style="dim")
    for question in open_questions(report):
        yield Text(question, style="dim")
    for seat in report.seats if report.score is not None else ():
        outcome = seat.report.outcome
        if outcome not in USABLE:
            reason = one_line(seat.report.reason)
            yield Text(f"{one_line(seat.seat)}: {outcome.value} ({reason})", style="magenta")
    if report.unasked is not None:
        names = ", ".join(map(one_line, report.unasked.seats))
        yield Text(f"not asked: {names}. {one_line(report.unasked.reason)}", style="dim")


def _unlocated_note(report: PanelReport, *, is_best: bool) -> tuple[str, str]:
    if report.decision in {Decision.UNSURE, Decision.FAULTY}:
        return ("; no place could be marked", "not bold dim")
    if report.spans:
        return ("", "")
    if is_best:
        return ("; no error found", "not bold green")
    return ("; no error marked", "not bold dim")


def _span_line(number: int, span: ErrorSpan, position: Position | None) -> RenderableType:
    line = Text(f"({number}) ", style=_style(span.severity))
    facts = [one_line(str(position))] if position else []
    facts.append("severity not given" if span.severity is None else f"severity {span.severity}")
    if span.probability is not None:
        facts.append(f"probability {span.probability:.2f}")
    if span.category:
        facts.append(one_line(span.category))
    if span.interval is None:
        facts.append(f"not in the text: {span.text[:_QUOTE]!r}" if span.text else "no place")
    line.append(", ".join(facts))
    if span.found_by:
        line.append(f" [{one_line(', '.join(span.found_by))}]", style="dim")
    line.append(f" {one_line(span.explanation)}", style="default")
    return Padding(line, (0, 0, 0, 4))


def _evidence_line(span: ErrorSpan) -> RenderableType:
    """Quote the first passages of the evidence, each after the header of its input."""
    quotes = [f"{one_line(source.input)}: {_quoted(source.text)}" for source in span.evidence]
    more = len(quotes) - _EVIDENCE
    shown = "; ".join(quotes[:_EVIDENCE]) + (f"; and {more} more" if more > 0 else "")
    return Padding(Text(shown, style="dim"), (0, 0, 0, 8))


def _quoted(text: str) -> str:
    """Return `text` in quotation marks, with the middle of a long text left out."""
    line = one_line(text)
    if len(line) > _QUOTE:
        line = f"{line[: _QUOTE // 2].rstrip()} … {line[-_QUOTE // 2 :].lstrip()}"
    return f"'{line}'"


def marked_text(
    output: str, spans: Mapping[int, ErrorSpan], *, first: int = 0, last: int | None = None
) -> Text:
    """Return ``output[first:last]`` with each located span in brackets, followed by its number."""
    last = len(output) if last is None else last
    placed = {
        number: span
        for number, span in spans.items()
        if span.interval is not None and span.interval[0] < last and first < span.interval[1]
    }
    text = Text()
    for start, end in _windows(placed, first=first, last=last):
        text.append("… " if start > first else "", style="dim")
        cuts = {start, end, *(cut for span in placed.values() for cut in _interval(span))}
        for cut, following in pairwise([*sorted(c for c in cuts if start <= c <= end), end]):
            for number, span in placed.items():
                if _interval(span)[1] == cut:
                    text.append(f"]({number})", _style(span.severity))
            for span in placed.values():
                if _interval(span)[0] == cut:
                    text.append("[", _style(span.severity))
            inside = [span for span in placed.values() if cut in range(*_interval(span))]
            gravest = max((span.severity or 1 for span in inside), default=None)
            text.append(output[cut:following], _style(gravest) if inside else "")
        text.append(" …\n" if end < last else "", style="dim")
    return text


def _style(severity: int | None) -> str:
    return _STYLES.get(severity or 1, "cyan")


def _interval(span: ErrorSpan) -> tuple[int, int]:
    assert span.interval is not None
    return span.interval


def _windows(
    placed: Mapping[int, ErrorSpan], *, first: int, last: int
) -> Sequence[tuple[int, int]]:
    """Return the intervals to show: all of a text, or the surroundings of a long text's spans."""
    if last - first <= _LONG:
        return [(first, last)]
    windows: list[tuple[int, int]] = []
    for start, end in sorted(_interval(span) for span in placed.values()) or [(first, first)]:
        opens, closes = max(first, start - _AROUND), min(last, end + _AROUND)
        if windows and opens <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(windows[-1][1], closes)
        else:
            windows.append((opens, closes))
    return windows
