"""Conditions under which a report fails its row: ``severity>=4``, ``decision=faulty``.

A condition is one comparison, or several joined by ``and``; a report fails if it meets all of
them. Comparisons of spans are met by one span together. A quote that is not in the text counts
only in a condition that names `located`: a judge made it up. What has no value meets none: a span
without a severity none on its severity, a report without a score none but those on its outcome,
its aspect and its spans. Only ``decision!=`` is also met by a report without a decision.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import (
    ConfigError,
    Decision,
    ErrorSpan,
    Located,
    Outcome,
    Result,
    choices_for,
)
from spanjury.judges.core.transcript import Position, position_in
from spanjury.orchestration.studies.relations import RELATIONS, Comparison, parse_comparison

_Value = float | str | None
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_EQUALITY = ("=", "!=")
_GRAVITY = tuple(Decision)
"""Decisions from the mildest to the gravest."""

_SPAN: Mapping[str, Callable[[ErrorSpan], _Value]] = {
    "severity": lambda span: span.severity,
    "probability": lambda span: span.probability,
    "category": lambda span: span.category.casefold() or None,
    "located": lambda span: span.located.value if span.text else None,
}
_REPORT: Mapping[str, Callable[[Result], _Value]] = {
    # A criterion counts through its rubric, by its weight or as a must-have.
    "decision": lambda result: None if result.aspect.rubric else _gravity(result.report.decision),
    "score": lambda result: result.report.score,
    "error_probability": lambda result: result.report.error_probability,
    "outcome": lambda result: result.report.outcome.value,
    "aspect": lambda result: result.aspect.name,
}
_COUNT = "spans"
_RANGES: Mapping[str, tuple[float, float]] = {
    "severity": (1, 5),
    "probability": (0, 1),
    "error_probability": (0, 1),
}
_WORDS: Mapping[str, Sequence[str]] = {
    "outcome": [*Outcome],
    "located": [*Located],
    "aspect": (),
    "category": (),
}
"""Fields that are compared with words -> the allowed words; empty if any word is."""
FIELDS = (*_SPAN, *_REPORT, _COUNT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition as it was written: comparisons of a span, of their count and of the report."""

    text: str
    of_span: tuple["_Compared", ...] = ()
    of_count: tuple["_Compared", ...] = ()
    of_report: tuple["_Compared", ...] = ()

    @property
    def aspects(self) -> Iterator[str]:
        """The names of the aspects that it is about, or leaves out."""
        return (str(part.value) for part in self.of_report if part.field == "aspect")

    @property
    def asks_for_unlocated(self) -> bool:
        """True if quotes that are not in the text count."""
        return any(part.field == "located" for part in self.of_span)

    def failing_spans(self, result: Result) -> tuple[ErrorSpan, ...] | None:
        """Return the spans that fail `result`, none if its report alone does; None if it passes."""
        if not all(part.is_met(_REPORT[part.field](result)) for part in self.of_report):
            return None
        asked = self.asks_for_unlocated
        spans = [span for span in result.report.spans if asked or not span.hallucinated]
        count = None if result.report.score is None else len(spans)
        if not all(part.is_met(count) for part in self.of_count):
            return None
        if not self.of_span:
            return ()
        return tuple(filter(self._is_met_by, spans)) or None

    def _is_met_by(self, span: ErrorSpan) -> bool:
        return all(part.is_met(_SPAN[part.field](span)) for part in self.of_span)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    field: str
    relation: str
    value: float | str

    def is_met(self, value: _Value) -> bool:
        return value is not None and RELATIONS[self.relation](value, self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A row that fails."""

    segment_id: str
    system: str
    task: str
    aspect: str
    conditions: tuple[str, ...]
    """Those that it meets, as they were written."""
    spans: tuple[ErrorSpan, ...]
    """The spans that meet one; empty if the report alone does."""
    says: str
    """Outcome, decision and score of the report, with their reason."""
    positions: tuple[Position | None, ...]
    """The position of each span in a trajectory; None in a text."""


def parse_condition(text: str) -> Condition:
    """Read a condition; raise `ConfigError` if it is of another form, or can never be met.

    Examples
    --------
    >>> condition = parse_condition("aspect=consistency and severity >= 4")
    >>> [(part.field, part.relation, part.value) for part in condition.of_span]
    [('severity', '>=', 4.0)]
    """
    compared = [_compared(part, text) for part in _AND.split(text.strip())]
    return Condition(
        text=text.strip(),
        of_span=tuple(part for part in compared if part.field in _SPAN),
        of_count=tuple(part for part in compared if part.field == _COUNT),
        of_report=tuple(part for part in compared if part.field in _REPORT),
    )


def failure_of(result: Result, conditions: Sequence[Condition]) -> Failure | None:
    """Return why `result` fails under any of `conditions`; None if it passes."""
    met = {condition.text: condition.failing_spans(result) for condition in conditions}
    failing = {text: spans for text, spans in met.items() if spans is not None}
    if not failing:
        return None
    marked = {id(span) for spans in failing.values() for span in spans}
    spans = tuple(span for span in result.report.spans if id(span) in marked)
    return Failure(
        segment_id=result.segment.segment_id,
        system=result.segment.system,
        task=result.aspect.task.name,
        aspect=result.aspect.name,
        conditions=tuple(failing),
        spans=spans,
        says=_says(result),
        positions=tuple(position_in(result.segment, span) for span in spans),
    )


def failing(results: Iterable[Result], *conditions: str) -> list[Failure]:
    """Return the rows of `results` that fail under any of `conditions`.

    Raise `ConfigError` if one of these cannot be read.
    """
    parsed = [*map(parse_condition, conditions)]
    failures = (failure_of(result, parsed) for result in results)
    return [failure for failure in failures if failure is not None]


def _compared(part: str, whole: str) -> _Compared:
    written = parse_comparison(part)
    if written is None:
        raise ConfigError(
            f"a condition is FIELD>=VALUE (or <=, >, <, =, !=), several joined by 'and', not"
            f" {whole!r}; fields: {', '.join(FIELDS)}"
        )
    if written.name not in FIELDS:
        choices = choices_for(written.name, FIELDS)
        raise ConfigError(f"{whole!r}: no field {written.name!r}; {choices}")
    return _Compared(field=written.name, relation=written.relation, value=_value(written))


def _value(written: Comparison) -> float | str:
    if written.name == "decision":
        return _gravity(_decision(written))
    if written.name not in _WORDS:
        return _number(written)
    if written.relation not in _EQUALITY:
        raise ConfigError(f"{written.name} is compared by = or !=, not by {written.relation}")
    if words := _WORDS[written.name]:
        return _word(written, words)
    return written.value.casefold() if written.name == "category" else written.value


def _decision(written: Comparison) -> Decision:
    try:
        return Decision(written.value)  # which reads a former word, too
    except ValueError:
        return Decision(_word(written, [*Decision]))


def _word(written: Comparison, words: Sequence[str]) -> str:
    if written.value not in words:
        raise ConfigError(f"{written.name} is {', '.join(words)}, not {written.value!r}")
    return written.value


def _number(written: Comparison) -> float:
    number = written.number
    if number is None:
        raise ConfigError(f"{written.name} is a number, not {written.value!r}")
    low, high = _RANGES.get(written.name, (number, number))
    if not low <= number <= high:
        raise ConfigError(f"{written.name} is {low} to {high}, not {written.value}")
    return number


def _gravity(decision: Decision | None) -> float:
    """Return the rank of a decision; without one, NaN, which is only unequal to every rank."""
    return math.nan if decision is None else _GRAVITY.index(decision)


def _says(result: Result) -> str:
    report = result.report
    if report.score is None:
        return f"{report.outcome.value}: {report.reason}"
    words = [f"score {report.score:.2f}"]
    if report.decision is not None and report.basis is not None:
        words = [report.decision.value, *words, report.basis.reason]
    return ", ".join(words)
