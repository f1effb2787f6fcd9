"""The report on a text: a panel's reports, aspect by aspect, together with the text.

In a notebook its errors are marked; the fragment needs no style sheet, script or file.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from spanjury.judges.core import (
    ConfigError,
    Decision,
    ErrorSpan,
    PanelReport,
    Result,
    Segment,
    choices_for,
    counted,
    one_line,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.transcript import Position, position_in
from spanjury.orchestration.engine.rubric import deciding
from spanjury.orchestration.engine.summary import open_questions
from spanjury.orchestration.report.page import safe
from spanjury.orchestration.wiring.results import result_row

with lazily():
    from spanjury.orchestration.studies.failing import gate

_GRAVEST = (Decision.FAULTY, Decision.UNSURE)
_FILLS: Mapping[int, str] = {
    1: "#5b9bd533",
    2: "#5b9bd555",
    3: "#e0a80066",
    4: "#d6453066",
    5: "#d6453099",
}
"""Severity -> colour, translucent, so that text is legible on light and dark pages."""
_NO_SEVERITY = "#88888855"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TextReport:
    """A panel's reports on one text, one for each aspect.

    Parameters
    ----------
    segment
        The text, with its inputs.
    results
        One for each aspect, in the requested order; at least one.

    Raises
    ------
    ValueError
        If there is no result, two have the same aspect, or one is about another segment.
    """

    segment: Segment
    results: tuple[Result, ...]

    def __post_init__(self) -> None:
        if not self.results or len(self.reports) != len(self.results):
            raise ValueError(f"got {len(self.results)} results on {len(self.reports)} aspects")
        if any(result.segment is not self.segment for result in self.results):
            raise ValueError("a result is on another segment")

    @property
    def text(self) -> str:
        """The text that was judged."""
        return self.segment.output

    @property
    def reports(self) -> Mapping[str, PanelReport]:
        """Name of the aspect -> the panel's report on it."""
        return MappingProxyType({result.aspect.name: result.report for result in self.results})

    @property
    def decision(self) -> Decision | None:
        """The most severe decision on any aspect; the criteria of a rubric count through it.

        None if no aspect is faulty or unsure but one has no decision: what was not judged is not
        ok.
        """
        decisions = {result.report.decision for result in deciding(self.results)}
        for decision in _GRAVEST:
            if decision in decisions:
                return decision
        return None if None in decisions else Decision.OK

    @property
    def ok(self) -> bool:
        """True if every aspect is ok; False if one is faulty, unsure or was not judged."""
        return self.decision is Decision.OK

    @property
    def undecided(self) -> str:
        """Why there is no decision, aspect by aspect; empty if there is one."""
        if self.decision is not None:
            return ""
        results = (result for result in deciding(self.results) if result.report.decision is None)
        return "; ".join(map(_why_undecided, results))

    def passed(
        self, *, fail_on: str | Sequence[str] = (), fail_under: str | Sequence[str] = ()
    ) -> bool:
        """Return whether the report meets terms, stated like the flags of the command line.

        Parameters
        ----------
        fail_on
            Conditions that no aspect may meet, as ``"severity>=4"`` or ``"decision=faulty"``.
        fail_under
            Least scores: ``"4"`` for each aspect, on a scale of 1 to 5 that is mapped to that of
            the aspect; ``"consistency=4"`` for one, on its own scale. An aspect without a score
            meets none.

        Raises
        ------
        ConfigError
            If there is no term, or one cannot be parsed, can never hold, always holds, or names an
            aspect on which the text was not judged.

        Examples
        --------
        ::

            assert report.passed(fail_on=["severity>=4", "decision=unsure"])
        """
        conditions = (fail_on,) if isinstance(fail_on, str) else tuple(fail_on)
        means = (fail_under,) if isinstance(fail_under, str) else tuple(fail_under)
        terms = gate.parse_terms(fail_on=conditions, fail_under=means)
        if not terms:
            raise ConfigError(
                "passed() needs a term, as in passed(fail_on='severity>=4'); report.ok has none"
            )
        if unjudged := sorted(terms.aspects - self.reports.keys()):
            names, judged = ", ".join(map(repr, unjudged)), ", ".join(self.reports)
            raise ConfigError(f"the text was not judged on {names}; aspects: {judged}")
        return not any(gate.held_to(terms, self.results).missed())

    def __bool__(self) -> bool:
        """Raise `TypeError`: the truth value of a report would be ambiguous."""
        raise TypeError(
            "a report is neither true nor false: use report.ok, report.passed(…) or report.decision"
        )

    @property
    def spans(self) -> tuple[ErrorSpan, ...]:
        """All errors, aspect by aspect."""
        return tuple(span for result in self.results for span in result.report.spans)

    def position_of(self, span: ErrorSpan) -> Position | None:
        """Return the position of `span` in a trajectory: its turn, its call, and the JSON path.

        None for a text, or for a span without offsets.
        """
        return position_in(self.segment, span)

    @property
    def scores(self) -> Mapping[str, float]:
        """Name of the aspect -> score; aspects without a score are left out."""
        scored = {name: report.score for name, report in self.reports.items()}
        return MappingProxyType(
            {name: score for name, score in scored.items() if score is not None}
        )

    @property
    def unscored(self) -> Mapping[str, str]:
        """Name of the aspect -> the reason why it has no score."""
        return MappingProxyType(
            {
                name: f"{report.outcome.value}: {report.reason}"
                for name, report in self.reports.items()
                if report.score is None
            }
        )

    def __getitem__(self, aspect: str) -> PanelReport:
        """Return the report on an aspect; raise `KeyError` with the choices if there is none."""
        reports = self.reports
        if aspect not in reports:
            raise KeyError(f"{aspect!r} was not judged; {choices_for(str(aspect), reports)}")
        return reports[aspect]

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON: id, task, system, output, decision and `results`.

        The results are rows as in a results file (``docs/data.md``).
        """
        return {
            "id": self.segment.segment_id,
            "task": self.results[0].aspect.task.name,
            "system": self.segment.system,
            "output": self.segment.output,
            "decision": self.decision.value if self.decision else None,
            "results": [result_row(result) for result in self.results],
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return `to_dict` as JSON; raise `ValueError` if a number in it is not finite."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)

    def __repr__(self) -> str:
        """Return the decision, the number of errors and the scores in one line."""
        scores = ", ".join(
            f"{name} {report.outcome.value if report.score is None else f'{report.score:.2f}'}"
            for name, report in self.reports.items()
        )
        decision = self.decision.value if self.decision else f"no decision ({self.undecided})"
        errors = counted(len(self.spans), "error")
        return f"<TextReport {self.segment.segment_id!r}: {decision}, {errors}; {scores}>"

    def _repr_html_(self) -> str:
        """Return the text with its errors marked, for a notebook."""
        lines = (line for result in self.results for line in (_line(result), *_unverified(result)))
        return f"{_marked(self.text, self.spans)}<p>{'<br>'.join(map(safe, lines))}</p>"


def _why_undecided(result: Result) -> str:
    name = result.aspect.name
    inputs = result.segment.inputs
    if lacking := result.aspect.lacking(inputs):
        needs = f"{name} needs {' and '.join(lacking)}"
        return f"{needs}, which the source lacks" if inputs else f"{needs}: the text has no source"
    return f"{name} has no score: {one_line(result.report.reason) or result.report.outcome.value}"


def _marked(text: str, spans: Sequence[ErrorSpan]) -> str:
    """Return `text` with `spans` marked and numbered, and a list that explains them.

    Those without offsets are only in the list. Raise `ValueError` if a span is not in the text.
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
        piece = safe(text[start:end])
        if not here:
            yield piece
            continue
        gravest = max(span.severity or 0 for _, span in here)
        why = "\n".join(f"({number}) {_why(span)}" for number, span in here)
        closed = ",".join(str(number) for number, span in here if span.end == end)
        style = f"background: {_FILLS.get(gravest, _NO_SEVERITY)}; color: inherit"
        yield f'<mark style="{style}" title="{safe(why)}">{piece}</mark>'
        if closed:
            yield f"<sup>{closed}</sup>"


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


def _unverified(result: Result) -> Iterator[str]:
    for sentence in result.report.unverified if result.report.decision is not Decision.OK else ():
        yield f"not verified: “{sentence.text}” {sentence.reason}"
    yield from open_questions(result.report)


def _line(result: Result) -> str:
    report, scale = result.report, result.aspect.scale
    if report.score is None:
        return f"{result.aspect.name}: {report.outcome.value} ({report.reason})"
    decision = f"{report.decision.value}; " if report.decision else ""
    if report.cannot_tell:
        decision += f"cannot tell: P(error) {report.error_probability:.2f}; "
    return f"{result.aspect.name}: {decision}{report.score:.2f} of {scale.high}"
