"""Reports as text, for frameworks that show a reason next to a score."""

from collections.abc import Iterator, Mapping, Sequence

from spanjury.judges.core import Decision, ErrorSpan, PanelReport, one_line
from spanjury.orchestration.engine.summary import open_questions, risk_of
from spanjury.orchestration.services.judging.text_report import TextReport


def in_words(report: PanelReport) -> str:
    """Return the decision and its basis, and the errors with their evidence, line by line.

    Unless the text is ok, unverified sentences follow; for an unsure text also the judges that
    could not judge it. A report without a score says why it has none.
    """
    unverified = (
        f'not verified: "{one_line(sentence.text)}": {one_line(sentence.reason)}'
        for sentence in (report.unverified if report.decision is not Decision.OK else ())
    )
    lines = (_verdict(report), *error_lines(report.spans), *unverified, *open_questions(report))
    return "\n".join(lines)


def no_verdict(report: TextReport) -> str:
    """Return the aspects without a score, each with its reason, on one line."""
    return one_line(
        "; ".join(f"{name} has no score: {why}" for name, why in report.unscored.items())
    )


def why_unscored(report: PanelReport) -> str:
    """Return the outcome and the reason of an assessment without a score."""
    return one_line(f"no score ({report.outcome.value}): {report.reason}")


def error_lines(spans: Sequence[ErrorSpan]) -> Iterator[str]:
    """Yield errors, numbered from 1, each with its evidence from the source."""
    for number, span in enumerate(spans, start=1):
        quote = f'"{one_line(span.text)}"' if span.text else "an omission"
        severity = "" if span.severity is None else f" (severity {span.severity})"
        yield f"{number}. {quote}{severity}: {one_line(span.explanation)}"
        for evidence in span.evidence:
            yield f'   {one_line(evidence.input)}: "{one_line(evidence.text)}"'


def marked(text: str, spans: Sequence[ErrorSpan]) -> str:
    """Return `text` with each located span in brackets, with its number.

    Examples
    --------
    >>> from spanjury.judges.core import Located
    >>> span = ErrorSpan(
    ...     text="1935", explanation="", severity=4, start=13, end=17, located=Located.EXACT
    ... )
    >>> marked("It opened in 1935.", [span])
    'It opened in [1: 1935].'
    """
    marks: list[tuple[int, int, int, str]] = []
    for number, span in enumerate(spans, start=1):
        if span.start is not None and span.end is not None:
            # At the same offset, spans that end come first; longer spans open first and close last.
            marks.append((span.start, 1, -span.end, f"[{number}: "))
            marks.append((span.end, 0, -span.start, "]"))
    pieces, done = [], 0
    for offset, _, _, mark in sorted(marks):
        pieces += [text[done:offset], mark]
        done = offset
    return "".join([*pieces, text[done:]])


def texts_of(values: Mapping[str, object]) -> dict[str, str | Sequence[str]]:
    """Return the texts and lists of texts among `values`; other values are no sources."""
    texts: dict[str, str | Sequence[str]] = {}
    for header, value in values.items():
        if isinstance(value, str):
            texts[header] = value
        elif isinstance(value, list | tuple):
            passages = [passage for passage in value if isinstance(passage, str)]
            if passages and len(passages) == len(value):
                texts[header] = passages
    return texts


def _verdict(report: PanelReport) -> str:
    if report.score is None:
        return why_unscored(report)
    if report.decision is None or report.basis is None:
        return one_line(report.rationale) or "no decision"
    risk = risk_of(report)
    rate = f" {risk.words}." if risk is not None and risk.words else ""
    return one_line(f"{report.decision.value}: {report.basis.reason}{rate}")
