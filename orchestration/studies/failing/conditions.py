"""Conditions under which a report fails its row: ``severity>=4``, ``decision=faulty``.

A condition is one comparison, or several joined by ``and``; a report fails if it meets all of
them. Comparisons of spans are met by one span together. A quote that is not in the text counts
only in a condition that names `located`: a judge made it up. What has no value meets none: a span
without a severity none on its severity, a report without a score none but those on its outcome,
its aspect and its spans. Only ``decision!=`` is also met by a report without a decision.

A score is on the aspect's own scale in a condition with ``aspect=NAME``. In any other it is on the
usual scale of 1 to 5, to which the scores of all aspects are mapped: ``score<3`` is met by the *no*
of a yes/no criterion and not by its *yes*, although these are 1 and 2.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from spanjury.judges.core import (
    MAX_SEVERITY,
    MIN_SEVERITY,
    Aspect,
    ConfigError,
    Decision,
    ErrorSpan,
    Located,
    Outcome,
    Result,
    Scale,
    choices_for,
    gravest,
)
from spanjury.judges.core.transcript import Position, position_in
from spanjury.orchestration.studies.relations import RELATIONS, Comparison, parse_comparison

_Value = float | str | None
_Meeting = Literal["none", "some", "all"]
"""Values of a field that meet a condition."""
_PROBLEMS: Mapping[_Meeting, str] = {"none": "can never hold", "some": "", "all": "always holds"}
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_EQUALITY = ("=", "!=")
_USUAL = Scale()
_DECISIONS = tuple(Decision)
_NO_RANK = math.nan
"""Rank of a missing decision, which is only unequal to every rank."""

_SPAN: Mapping[str, Callable[[ErrorSpan], _Value]] = {
    "severity": lambda span: span.severity,
    "probability": lambda span: span.probability,
    "category": lambda span: span.category.casefold() or None,
    "located": lambda span: span.located.value if span.text else None,
}
_REPORT: Mapping[str, Callable[[Result], _Value]] = {
    # A criterion counts through its rubric, by its weight or as a must-have.
    "decision": lambda result: None if result.aspect.rubric else _rank(result.report.decision),
    "score": lambda result: result.report.score,
    "error_probability": lambda result: result.report.error_probability,
    "outcome": lambda result: result.report.outcome.value,
    "aspect": lambda result: result.aspect.name,
}
_COUNT = "spans"
_RANGES: Mapping[str, tuple[float, float]] = {
    "severity": (MIN_SEVERITY, MAX_SEVERITY),
    "probability": (0, 1),
    "error_probability": (0, 1),
    "score": (_USUAL.low, math.inf),  # the best score depends on the aspect
    _COUNT: (0, math.inf),
}
_WHOLE = ("severity", _COUNT)
_OF_ALL_REPORTS = ("decision", "score", "error_probability", _COUNT)
"""Fields of which some value must not meet a condition: it would fail every report.

Those of spans are not among them: ``severity>=1`` asks for any error.
"""
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
    def asks_for_outcome(self) -> bool:
        """True if it tests reports without a score, too."""
        return any(part.field == "outcome" for part in self.of_report)

    def names(self, aspect: str) -> bool:
        """Return whether it is about some aspects by name, and `aspect` is one of them."""
        parts = [part for part in self.of_report if part.field == "aspect"]
        return bool(parts) and all(part.is_met(aspect) for part in parts)

    def is_about(self, aspect: Aspect) -> bool:
        """Return whether it compares the score of reports on `aspect`."""
        is_any = next(self.aspects, None) is None
        return bool(self._scores) and (is_any or self.names(aspect.name))

    def meeting(self, scale: Scale) -> "_Meeting":
        """Return how many of the scores on `scale` meet it."""
        high = scale.high if _names_aspect(self.of_report) else _USUAL.high
        return _meeting("score", self._scores, high=high)

    @property
    def _scores(self) -> Sequence["_Compared"]:
        return [part for part in self.of_report if part.field == "score"]

    @property
    def asks_for_unlocated(self) -> bool:
        """True if quotes that are not in the text count."""
        return any(part.field == "located" for part in self.of_span)

    def failing_spans(self, result: Result) -> tuple[ErrorSpan, ...] | None:
        """Return the spans that fail `result`, none if its report alone does; None if it passes."""
        if not all(part.is_met(self._reported(part.field, result)) for part in self.of_report):
            return None
        asked = self.asks_for_unlocated
        spans = [span for span in result.report.spans if asked or not span.hallucinated]
        count = None if result.report.score is None else len(spans)
        if not all(part.is_met(count) for part in self.of_count):
            return None
        if not self.of_span:
            return ()
        met = (span for span in spans if all(p.is_met(_SPAN[p.field](span)) for p in self.of_span))
        return tuple(met) or None

    def _reported(self, field: str, result: Result) -> _Value:
        """Return the value of a field of the report on the scale on which it is compared."""
        value = _REPORT[field](result)
        if field != "score" or not isinstance(value, float | int) or _names_aspect(self.of_report):
            return value
        # As if the scale had five labels; the lowest and the highest are exact.
        scale = result.aspect.scale
        steps, usual = scale.high - scale.low, _USUAL.high - _USUAL.low
        return value if steps == usual else _USUAL.low + (value - scale.low) * usual / steps


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
    """Outcome, decision and score of the report, with their reason unless there is a `worst`."""
    positions: tuple[Position | None, ...]
    """The position of each span in a trajectory; None in a text."""
    worst: ErrorSpan | None = None
    """The gravest error of the report; a quote that is not in the text is none."""
    worst_position: Position | None = None


def parse_condition(text: str) -> Condition:
    """Read a condition; raise `ConfigError` if it cannot be read, never holds or always does."""
    compared = [_compared(part, text) for part in _AND.split(text.strip())]
    for name in FIELDS:
        parts = [part for part in compared if part.field == name]
        if problem := _PROBLEMS[_meeting(name, parts, high=_RANGES.get(name, (0, 0))[1])]:
            raise ConfigError(f"{text.strip()!r} {problem}: {name} is {_range_of(name)}")
    _check_usual_scale(text.strip(), compared)
    return Condition(
        text=text.strip(),
        of_span=tuple(part for part in compared if part.field in _SPAN),
        of_count=tuple(part for part in compared if part.field == _COUNT),
        of_report=tuple(part for part in compared if part.field in _REPORT),
    )


def _check_usual_scale(text: str, compared: Sequence["_Compared"]) -> None:
    """Raise `ConfigError` if scores of all aspects are compared with one that divides none."""
    scores = [part for part in compared if part.field == "score"]
    if _names_aspect(compared):
        return
    problem = _PROBLEMS[_meeting("score", scores, high=_USUAL.high)]
    if any(float(part.value) > _USUAL.high for part in scores):
        problem = problem or "is beyond the scale"
    if problem:
        raise ConfigError(
            f"{text!r} {problem}: without aspect=NAME, the score is on the scale of {_USUAL.low} to"
            f" {_USUAL.high}; name an aspect to use its own scale"
        )


def unfit_score(conditions: Iterable[Condition], aspects: Collection[Aspect]) -> str:
    """Return which condition compares scores of `aspects`, and is met by all of them or by none.

    The text is empty if there is no such condition.
    """
    for condition in conditions:
        judged = [*filter(condition.is_about, aspects)]
        meetings = {condition.meeting(aspect.scale) for aspect in judged}
        if len(meetings) == 1 and (problem := _PROBLEMS[meetings.pop()]):
            ranges = dict.fromkeys(f"{each.name} from 1 to {each.scale.high}" for each in judged)
            return f"{condition.text!r} {problem}; scores: {', '.join(ranges)}"
    return ""


def failure_of(result: Result, conditions: Sequence[Condition]) -> Failure | None:
    """Return why `result` fails under any of `conditions`; None if it passes."""
    met = {condition.text: condition.failing_spans(result) for condition in conditions}
    failing = {text: spans for text, spans in met.items() if spans is not None}
    if not failing:
        return None
    marked = {id(span) for spans in failing.values() for span in spans}
    spans = tuple(span for span in result.report.spans if id(span) in marked)
    errors = [span for span in result.report.spans if not span.hallucinated]
    worst = next(iter(gravest(errors, limit=1)), None)
    return Failure(
        segment_id=result.segment.segment_id,
        system=result.segment.system,
        task=result.aspect.task.name,
        aspect=result.aspect.name,
        conditions=tuple(failing),
        spans=spans,
        says=_says(result, why=worst is None),
        positions=tuple(position_in(result.segment, span) for span in spans),
        worst=worst,
        worst_position=None if worst is None else position_in(result.segment, worst),
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
        with suppress(ValueError):
            return _rank(Decision(written.value))  # which reads a former word, too
        return _rank(Decision(_word(written, [*Decision])))
    if written.name not in _WORDS:
        return _number(written)
    if written.relation not in _EQUALITY:
        raise ConfigError(f"{written.name} is compared by = or !=, not by {written.relation}")
    if words := _WORDS[written.name]:
        return _word(written, words)
    return written.value.casefold() if written.name == "category" else written.value


def _word(written: Comparison, words: Sequence[str]) -> str:
    if written.value not in words:
        raise ConfigError(
            f"{written.name} is {', '.join(words)}, not {written.value!r}{_on_or(written)}"
        )
    return written.value


def _on_or(written: Comparison) -> str:
    """Return how to state alternatives, if the value looks as if it contained one."""
    is_any = " or " in written.value.casefold() or "||" in written.value
    return "; state each alternative as a condition of its own" if is_any else ""


def _number(written: Comparison) -> float:
    number = written.number
    if number is None:
        raise ConfigError(f"{written.name} is a number, not {written.value!r}{_on_or(written)}")
    low, high = _RANGES[written.name]
    if not low <= number <= high:
        raise ConfigError(f"{written.name} is {_range_of(written.name)}, not {written.value}")
    return number


def _range_of(name: str) -> str:
    """Return the values of a field in words."""
    if name not in _RANGES:
        words = [*Decision] if name == "decision" else _WORDS[name]
        return ", ".join(words) or "one word"
    low, high = _RANGES[name]
    numbers = f"{low} or more" if math.isinf(high) else f"{low} to {high}"
    return f"a whole number, {numbers}" if name in _WHOLE else numbers


def _meeting(name: str, parts: Sequence["_Compared"], *, high: float) -> "_Meeting":
    """Return how many values of a field, of at most `high` if it is a number, meet all parts."""
    values = _values(name, parts, high=high)
    met = [all(part.is_met(value) for part in parts) for value in values]
    if not any(met):
        return "none"
    ranked = met[1:] if name == "decision" else met  # a missing decision is no reason to accept it
    return "all" if parts and name in _OF_ALL_REPORTS and all(ranked) else "some"


def _values(name: str, parts: Sequence["_Compared"], *, high: float) -> list[_Value]:
    """Return a value of a field on each side of every number or word that it is compared with."""
    if name == "decision":
        return [_NO_RANK, *range(len(_DECISIONS))]
    if name in _WORDS:
        return [*_WORDS[name]] or [*(part.value for part in parts), ""]  # and any other word
    low = _RANGES[name][0]
    bounds = sorted({low, high, *(float(part.value) for part in parts)} - {math.inf})
    bounds = [*bounds, bounds[-1] + 1]
    between = [(lower + upper) / 2 for lower, upper in pairwise(bounds)]
    near = [math.floor(bound) + step for bound in bounds for step in (-1, 0, 1)]
    numbers = near if name in _WHOLE else [*bounds, *between]
    return [number for number in numbers if low <= number <= high]


def _names_aspect(parts: Iterable["_Compared"]) -> bool:
    return any(part.field == "aspect" and part.relation == "=" for part in parts)


def _rank(decision: Decision | None) -> float:
    return _NO_RANK if decision is None else _DECISIONS.index(decision)


def _says(result: Result, *, why: bool) -> str:
    report = result.report
    if report.score is None:
        return f"{report.outcome.value}: {report.reason}"
    high = result.aspect.scale.high
    score = f"score {report.score:.2f}" + (f" of {high}" if high != _USUAL.high else "")
    if report.decision is None or report.basis is None:
        return score
    reason = f": {report.basis.reason}" if why else ""
    return f"{report.decision.value}, {score}{reason}"
