"""A text with its errors marked, as an HTML fragment for notebooks and pages.

The text is escaped, and the fragment needs no style sheet, script or file.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from spanjury.judges.core import ErrorSpan
from spanjury.orchestration.report.page import safe

_FILLS: Mapping[int, str] = MappingProxyType(
    {1: "#5b9bd533", 2: "#5b9bd555", 3: "#e0a80066", 4: "#d6453066", 5: "#d6453099"}
)
"""Severity -> colour, translucent, so that text is legible on light and dark pages."""
_NO_SEVERITY = "#88888855"


def marked_html(text: str, spans: Sequence[ErrorSpan]) -> str:
    """Return `text` with `spans` marked and numbered, and a list that explains them.

    Parameters
    ----------
    text
        The judged text.
    spans
        Errors, numbered from 1 in this order; those without offsets are only in the list.

    Raises
    ------
    ValueError
        If a span is not in the text.
    """
    for span in spans:
        if span.start is not None and text[span.start : span.end] != span.text:
            raise ValueError(f"{span.interval} is not {span.text!r} in the text")
    marked = "".join(_pieces(text, spans))
    items = "".join(f"<li>{_explained(span)}</li>" for span in spans)
    listed = f"<ol>{items}</ol>" if items else ""
    return f'<div dir="auto" style="white-space: pre-wrap">{marked}</div>{listed}'


def _pieces(text: str, spans: Sequence[ErrorSpan]) -> Iterator[str]:
    """Cut the text at every border of a span, so that spans may overlap."""
    cuts = {0, len(text)}.union(*(span.interval for span in spans if span.interval))
    for start, end in pairwise(sorted(cuts)):
        here = [
            (number, span)
            for number, span in enumerate(spans, start=1)
            if span.start is not None and span.start <= start and end <= (span.end or 0)
        ]
        yield _piece(text[start:end], here, closed=[n for n, span in here if span.end == end])


def _piece(text: str, here: Sequence[tuple[int, ErrorSpan]], *, closed: Sequence[int]) -> str:
    if not here:
        return safe(text)
    gravest = max((span.severity or 0 for _, span in here), default=0)
    why = "\n".join(f"({number}) {_why(span)}" for number, span in here)
    numbers = f"<sup>{','.join(map(str, closed))}</sup>" if closed else ""
    fill = _FILLS.get(gravest, _NO_SEVERITY)
    style = f"background: {fill}; color: inherit"
    return f'<mark style="{style}" title="{safe(why)}">{safe(text)}</mark>{numbers}'


def _explained(span: ErrorSpan) -> str:
    quote = f"<q>{safe(span.text)}</q> " if span.text else "(an omission) "
    remark = "" if span.interval or not span.text else "(not in the text) "
    evidence = "".join(
        f"<br>{safe(passage.input)}: <q>{safe(passage.text)}</q>" for passage in span.evidence
    )
    return f"<bdi>{quote}{remark}{safe(_why(span))}{evidence}</bdi>"


def _why(span: ErrorSpan) -> str:
    severity = "" if span.severity is None else f"severity {span.severity}"
    facts = ", ".join(filter(None, (severity, span.category)))
    return f"{facts}: {span.explanation}" if facts else span.explanation
