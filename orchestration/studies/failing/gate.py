"""A gate: conditions under which a report fails its row, and demands on means and shares.

A condition, as ``severity>=4`` or ``decision=faulty``, is one comparison, or several joined by
``and``; a report fails if it meets all of them. Comparisons of spans are met by one span together.
A quote that is not in the text counts only in a condition that names `located`: a judge made it up.
What has no value meets none: a span without a severity none on its severity, a report without a
score none but those on its outcome, its aspect and its spans. Such a report is in no mean and in no
share either; how many reports need a score is a demand on coverage, which is another. A mean or a
share of nothing meets no demand.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    Decision,
    ErrorSpan,
    Located,
    Outcome,
    Result,
    Segment,
    choices_for,
)
from spanjury.judges.core.transcript import Position, position_in
from spanjury.orchestration.engine.finished_rows import FinishedRow
from spanjury.orchestration.engine.summary import Figures, Row, figures_of
from spanjury.orchestration.studies.relations import (
    RELATIONS,
    Comparison,
    parse_comparison,
    parse_number,
)

_Value = float | str | None
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_EQUALITY = ("=", "!=")
_GRAVITY = tuple(Decision)
"""Decisions from the mildest to the gravest."""

_SPAN: Mapping[str, Callable[[ErrorSpan], _Value]] = MappingProxyType(
    {
        "severity": lambda span: span.severity,
        "probability": lambda span: span.probability,
        "category": lambda span: span.category.casefold() or None,
        "located": lambda span: span.located.value if span.text else None,
    }
)
_REPORT: Mapping[str, Callable[[Result], _Value]] = MappingProxyType(
    {
        # A criterion counts through its rubric, by its weight or as a must-have.
        "decision": lambda result: (
            None if result.aspect.rubric else _gravity(result.report.decision)
        ),
        "score": lambda result: result.report.score,
        "error_probability": lambda result: result.report.error_probability,
        "outcome": lambda result: result.report.outcome.value,
        "aspect": lambda result: result.aspect.name,
    }
)
_COUNT = "spans"
_RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {"severity": (1, 5), "probability": (0, 1), "error_probability": (0, 1)}
)
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
    """A row that fails.

    Parameters
    ----------
    conditions
        Those that it meets, as they were written.
    spans
        The spans that meet one; empty if the report alone does.
    says
        Outcome, decision and score of the report, with their reason.
    positions
        Of each span, its position in a trajectory; None in a text.
    """

    segment_id: str
    system: str
    task: str
    aspect: str
    conditions: tuple[str, ...]
    spans: tuple[ErrorSpan, ...]
    says: str
    positions: tuple[Position | None, ...]


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
    match written.name:
        case "decision":
            return _gravity(_decision(written)) or 0
        case "outcome":
            _require_equality(written)
            return _word(written, [*Outcome])
        case "located":
            _require_equality(written)
            return _word(written, [*Located])
        case "aspect":
            _require_equality(written)
            return written.value
        case "category":
            _require_equality(written)
            return written.value.casefold()
        case _:
            return _number(written)


def _decision(written: Comparison) -> Decision:
    try:
        return Decision(written.value)  # which reads a former word, too
    except ValueError:
        return Decision(_word(written, [*Decision]))


def _word(written: Comparison, words: Sequence[str]) -> str:
    if written.value not in words:
        raise ConfigError(f"{written.name} is {', '.join(words)}, not {written.value!r}")
    return written.value


def _require_equality(written: Comparison) -> None:
    if written.relation not in _EQUALITY:
        raise ConfigError(f"{written.name} is compared by = or !=, not by {written.relation}")


def _number(written: Comparison) -> float:
    number = written.number
    if number is None:
        raise ConfigError(f"{written.name} is a number, not {written.value!r}")
    low, high = _RANGES.get(written.name, (number, number))
    if not low <= number <= high:
        raise ConfigError(f"{written.name} is {low} to {high}, not {written.value}")
    return number


def _gravity(decision: Decision | None) -> int | None:
    return None if decision is None else _GRAVITY.index(decision)


def _says(result: Result) -> str:
    report = result.report
    if report.score is None:
        return f"{report.outcome.value}: {report.reason}"
    words = [f"score {report.score:.2f}"]
    if report.decision is not None and report.basis is not None:
        words = [report.decision.value, *words, report.basis.reason]
    return ", ".join(words)


_PERCENT = 100
_ROUNDING = 1e-9
"""The most that a mean is off by for being a sum of fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanDemand:
    """The least mean score of an aspect, or, where it names none, of each."""

    aspect: str = ""
    least: float

    def missed(self, means: Mapping[tuple[str, str], Row]) -> Iterator[str]:
        """Yield what is not as demanded; `means` are by task and aspect."""
        judged = {name: row for name, row in means.items() if self.aspect in {"", name[1]}}
        if not judged:
            yield f"mean score of {self.aspect or 'any aspect'} >= {self.least:g} (no score)"
        tasks = {task for task, _ in judged}
        for (task, aspect), row in judged.items():
            name = aspect if len(tasks) == 1 else f"{task}: {aspect}"
            if row.mean is None or row.mean < self.least - _ROUNDING:
                mean = "no score" if row.mean is None else f"{row.mean:.4g} of {row.scored} scored"
                yield f"mean score of {name} >= {self.least:g} (it is {mean})"


def parse_mean_demand(text: str) -> MeanDemand:
    """Read ``ASPECT=SCORE`` or ``SCORE``; raise `ConfigError` if it is neither.

    Examples
    --------
    >>> parse_mean_demand("consistency=4")
    MeanDemand(aspect='consistency', least=4.0)
    """
    aspect, equals, score = text.rpartition("=")
    least = parse_number(score.strip())
    if least is None or (equals and not aspect.strip()):
        raise ConfigError(f"a mean score is ASPECT=SCORE, or SCORE for every aspect, not {text!r}")
    return MeanDemand(aspect=aspect.strip(), least=least)


def parse_share(text: str) -> float:
    """Read a share, as ``5%`` or ``0.05``; raise `ConfigError` if it is none.

    A bare number of 1 or more is refused, because it may be meant in percent.

    Examples
    --------
    >>> parse_share("5%"), parse_share(".05"), parse_share("0")
    (0.05, 0.05, 0.0)
    """
    bare = text.strip()
    digits = bare.removesuffix("%").rstrip()
    number = parse_number(digits)
    if number is None:
        raise ConfigError(f"a share is 5% or 0.05, not {text!r}")
    if bare.endswith("%"):
        # Rounded once, so that it is the very number that as many of all texts are.
        number = float(Fraction(digits) / _PERCENT)
    elif number >= 1:
        raise ConfigError(f"a share is 5% or 0.05: write {bare}% if {bare!r} is in percent")
    if not 0 <= number <= 1:
        raise ConfigError(f"a share is 0% to 100%, not {text!r}")
    return number


@dataclass(slots=True)
class FlaggedTexts:
    """A count of texts that are faulty on some aspect, among those with a decision on any.

    The results of a text are counted one after the other, as a run gives them.
    """

    texts: int = 0
    flagged: int = 0
    _text: tuple[str, str] | None = None
    _is_flagged: bool = False

    def count(self, segment: Segment, decision: Decision | None) -> None:
        """Count one result in."""
        if decision is None:
            return
        text = (segment.segment_id, segment.system)
        if text != self._text:
            self._text, self._is_flagged = text, False
            self.texts += 1
        if decision is Decision.FAULTY and not self._is_flagged:
            self._is_flagged = True
            self.flagged += 1

    def missed(self, most: float) -> Iterator[str]:
        """Yield what is not as demanded: more than a share of `most` is faulty, or none counts."""
        if not self.texts:
            yield f"faulty texts <= {_percent(most)} (no text has a decision)"
        elif (share := self.flagged / self.texts) > most:
            of = f"{self.flagged} of {self.texts}"
            yield f"faulty texts <= {_percent(most)} (it is {_percent(share)}: {of})"


def _percent(share: float) -> str:
    return f"{_PERCENT * share:.4g}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms on which a run passes.

    Parameters
    ----------
    conditions
        No report may meet one.
    means
        Each must be reached.
    most_flagged
        The share of texts that may be faulty; None for any.
    """

    conditions: tuple[Condition, ...] = ()
    means: tuple[MeanDemand, ...] = ()
    most_flagged: float | None = None

    def __bool__(self) -> bool:
        return bool(self.conditions or self.means or self.most_flagged is not None)

    @property
    def aspects(self) -> frozenset[str]:
        """The names of the aspects that they are about."""
        named = {mean.aspect for mean in self.means if mean.aspect}
        return frozenset(named.union(*(condition.aspects for condition in self.conditions)))


def parse_terms(
    *, fail_on: Iterable[str] = (), fail_under: Iterable[str] = (), max_flagged: str | None = None
) -> Terms:
    """Read terms as the command line has them; raise `ConfigError` if one cannot be read.

    Examples
    --------
    >>> terms = parse_terms(fail_on=["severity>=4"], fail_under=["consistency=4"])
    >>> [condition.text for condition in terms.conditions], sorted(terms.aspects)
    (['severity>=4'], ['consistency'])
    """
    return Terms(
        conditions=tuple(map(parse_condition, fail_on)),
        means=tuple(map(parse_mean_demand, fail_under)),
        most_flagged=None if max_flagged is None else parse_share(max_flagged),
    )


@dataclass(slots=True, kw_only=True)
class Gate:
    """Holds results to `terms`, one after the other.

    Parameters
    ----------
    most
        How many failing rows are kept; the others are counted.
    """

    terms: Terms
    most: int | None = None
    failures: list[Failure] = field(default_factory=list)
    failing: int = 0
    total: int = 0
    _met: Counter[str] = field(default_factory=Counter)
    _means: dict[tuple[str, str], Row] = field(default_factory=lambda: defaultdict(Row))
    _flagged: FlaggedTexts = field(default_factory=FlaggedTexts)

    def add(self, result: Result) -> None:
        """Hold one result to the terms."""
        self._count(result.segment, result.aspect, figures_of(result))
        if self.terms.conditions:
            self._judge(result)

    def add_row(self, row: FinishedRow) -> None:
        """Hold a remembered row to the terms; it is read only if there are conditions."""
        self._count(row.segment, row.aspect, row.figures)
        if self.terms.conditions:
            self._judge(row.result())

    def missed(self) -> Iterator[str]:
        """Yield each term that is not met, with what was counted."""
        for condition in self.terms.conditions:
            if count := self._met[condition.text]:
                yield f"no report with {condition.text} ({count} of {self.total} fail)"
        for demand in self.terms.means:
            yield from demand.missed(self._means)
        if self.terms.most_flagged is not None:
            yield from self._flagged.missed(self.terms.most_flagged)

    @property
    def unscored(self) -> int:
        """The number of results without a score."""
        return sum(row.total - row.scored for row in self._means.values())

    def _count(self, segment: Segment, aspect: Aspect, figures: Figures) -> None:
        self.total += 1
        self._means[figures.task, figures.aspect].add(figures)
        if not aspect.rubric:  # a criterion counts through it
            self._flagged.count(segment, figures.decision)

    def _judge(self, result: Result) -> None:
        failure = failure_of(result, self.terms.conditions)
        if failure is None:
            return
        self.failing += 1
        self._met.update(failure.conditions)
        if self.most is None or len(self.failures) < self.most:
            self.failures.append(failure)


def held_to(terms: Terms, results: Iterable[Result]) -> Gate:
    """Return a gate that all `results` went through; those of a text follow each other."""
    gate = Gate(terms=terms)
    for result in results:
        gate.add(result)
    return gate
