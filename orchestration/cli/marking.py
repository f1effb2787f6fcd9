"""A text with its error spans marked, the same with and without colours: ``[words](1)``."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from rich.text import Text

from spanjury.judges.core import ErrorSpan

__all__ = ["marked_text", "severity_style"]

_STYLES = {1: "cyan", 2: "cyan", 3: "yellow", 4: "red", 5: "bold red"}
_LONG = 1500
"""Texts of more characters are shown around their spans only."""
_AROUND = 120
"""Characters shown on either side of a span in a long text."""


def marked_text(output: str, spans: Mapping[int, ErrorSpan]) -> Text:
    """Return `output` with each located span in brackets, and behind them its number."""
    placed = {number: span for number, span in spans.items() if span.interval is not None}
    text = Text()
    for start, end in _windows(output, placed):
        text.append("… " if start > 0 else "", style="dim")
        cuts = {start, end, *(cut for span in placed.values() for cut in _interval(span))}
        for cut, following in pairwise([*sorted(c for c in cuts if start <= c <= end), end]):
            _close(text, cut, placed)
            _open(text, cut, placed)
            inside = [span for span in placed.values() if _covers(span, cut)]
            gravest = max((span.severity or 1 for span in inside), default=None)
            text.append(output[cut:following], severity_style(gravest) if inside else "")
        text.append(" …\n" if end < len(output) else "", style="dim")
    return text


def severity_style(severity: int | None) -> str:
    """Return the colour of a severity."""
    return _STYLES.get(severity or 1, "cyan")


def _open(text: Text, cut: int, placed: Mapping[int, ErrorSpan]) -> None:
    for span in placed.values():
        if _interval(span)[0] == cut:
            text.append("[", severity_style(span.severity))


def _close(text: Text, cut: int, placed: Mapping[int, ErrorSpan]) -> None:
    for number, span in placed.items():
        if _interval(span)[1] == cut:
            text.append(f"]({number})", severity_style(span.severity))


def _covers(span: ErrorSpan, place: int) -> bool:
    start, end = _interval(span)
    return start <= place < end


def _interval(span: ErrorSpan) -> tuple[int, int]:
    assert span.interval is not None
    return span.interval


def _windows(output: str, placed: Mapping[int, ErrorSpan]) -> Sequence[tuple[int, int]]:
    """Choose what is shown: all of a text, or the surroundings of the spans of a long one."""
    if len(output) <= _LONG:
        return [(0, len(output))]
    windows: list[tuple[int, int]] = []
    for start, end in sorted(_interval(span) for span in placed.values()) or [(0, 0)]:
        opens, closes = max(0, start - _AROUND), min(len(output), end + _AROUND)
        if windows and opens <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(windows[-1][1], closes)
        else:
            windows.append((opens, closes))
    return windows
