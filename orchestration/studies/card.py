"""A judge's card: its exams side by side, the requirements on them, and its report."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from spanjury.judges.core import ConfigError, choices_for, unstamped
from spanjury.orchestration.report import (
    Block,
    Bounded,
    Bullets,
    Cell,
    Paragraph,
    Report,
    Section,
    between,
    code,
    figure,
    named,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.report.tables import defined
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.relations import RELATIONS, parse_comparison

_SPEC = ".3g"
_DECIMALS = 4


FLAWS_SEEN = "robustness.flaws_seen"
"""Share of damaged texts that score below good ones, ties half, in an exam of robustness."""
CHANCES: Mapping[str, float] = {FLAWS_SEEN: 0.5, "discernment.caught.average": 0.1}
"""Measure of discernment -> its value for a judge that sees nothing."""
_UNPROVEN = "robustness."
"""Beginning of the measures that are at their best for a judge that sees nothing."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values that a measure can have, with both ends; without a bound an end is None.

    Examples
    --------
    >>> str(Range(-1, 1)), str(Range(0)), str(Range())
    ('-1 to 1', '0 or more', 'any number')
    """

    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.high is None:
            return "any number" if self.low is None else f"{self.low:g} or more"
        return f"up to {self.high:g}" if self.low is None else f"{self.low:g} to {self.high:g}"


SHARE = Range(0, 1)
SIGNED = Range(-1, 1)
"""The range of a correlation, and of the difference of two shares."""
NOT_NEGATIVE = Range(0)
Ranges = Mapping[str, Range]
"""Name of a measure -> its range."""


def ranges_of(measures: Ranges | Iterable[str]) -> Ranges:
    """Return the ranges of measures; one that is declared by its name alone has no bound."""
    return measures if isinstance(measures, Mapping) else dict.fromkeys(measures, Range())


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number that an exam results in."""

    name: str
    """Its topic, a full stop and the figure, as ``retest.moved``."""
    value: float | None
    """None if undefined, such as the hits of a judge that marks nothing."""
    says: str
    """Its meaning in one sentence, with its unit if it has one."""
    count: int
    """Number of texts, places or conditions that it is made of."""
    low: float | None = None
    """Low end of its 95 % interval; None if there is none."""
    high: float | None = None
    range: Range = Range()
    """The values that it can have."""

    @property
    def figure(self) -> str:
        """The value as text; `-` where it is not defined."""
        return figure(_shown(self.value), _SPEC)

    @property
    def interval(self) -> str:
        """The interval as text; `-` if there is none."""
        return between(_shown(self.low), _shown(self.high), _SPEC)


def _shown(value: float | None) -> float | None:
    """Round to four decimals, so that no small share is written with an exponent."""
    return None if value is None else round(value, _DECIMALS) + 0.0


def measured(name: str, estimate: Bounded, *, says: str, count: int) -> Measure:
    """Return an estimate with its interval as a measure."""
    value, low, high = map(defined, (estimate.value, estimate.low, estimate.high))
    return Measure(name=name, value=value, says=says, count=count, low=low, high=high)


def ratio_measure(name: str, part: float, whole: int, *, says: str) -> Measure:
    """Return the share of `part` in `whole`, its count, as a measure; undefined if `whole` is 0."""
    value = defined(part / whole) if whole else None
    return Measure(name=name, value=value, says=says, count=whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamRecord:
    """The part of an exam's ``findings.json`` that a card is made of."""

    exam: str
    date: str
    """When it ended, as ``2026-11-22``."""
    data: str
    signature: str
    """Signature of the panel or the judge that was examined."""
    seats: Mapping[str, str]
    """Name -> signature of each judge in it."""
    versions: Mapping[str, str]
    measures: tuple[Measure, ...]
    cautions: tuple[str, ...]
    """Reasons not to take them at their face value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The exams of one judge.

    Raises `ConfigError` if there is no exam, or two are of judges that have no seat in
    common.
    """

    records: tuple[ExamRecord, ...]

    def __post_init__(self) -> None:
        if not self.records:
            raise ConfigError("a card needs at least one exam")
        first, *others = self.records
        for other in others:
            if not _judges(first) & _judges(other):
                names = [", ".join(record.seats) for record in (first, other)]
                differ = " (settings or versions differ)" if names[0] == names[1] else ""
                raise ConfigError(
                    "a card covers one judge, but these exams share none: "
                    f"{first.exam} examined {names[0]}; {other.exam} examined {names[1]}{differ}"
                )

    @property
    def measures(self) -> Mapping[str, Sequence[Measure]]:
        """Name -> the measure in each exam that has it."""
        measures = (measure for record in self.records for measure in record.measures)
        return grouped(measures, lambda measure: measure.name)


def _judges(record: ExamRecord) -> set[str]:
    return set(map(unstamped, record.seats.values()))


_ORDERED = (">=", "<=", ">", "<")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandResult:
    """A requirement, whether it is met, and why the values alone do not meet it."""

    demand: str
    values: tuple[float | None, ...]
    met: bool
    reason: str = ""

    @property
    def line(self) -> str:
        """The requirement with the values of the measure."""
        but = f", but {self.reason}" if self.reason else ""
        return f"{self.demand} (it is {self.figures}{but})"

    @property
    def figures(self) -> str:
        """The values of the measure, exam by exam."""
        return ", ".join(figure(value, _SPEC) for value in self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One requirement on a measure."""

    name: str
    relation: str
    """``>=``, ``<=``, ``>`` or ``<``."""
    bound: float

    def __str__(self) -> str:
        return f"{self.name} {self.relation} {self.bound:g}"

    def require_decisive(self, values: Range) -> None:
        """Raise `ConfigError` if every value in the range of the measure meets it, or none does."""
        holds, no_bound = RELATIONS[self.relation], math.inf
        ends = {
            holds(-no_bound if values.low is None else values.low, self.bound),
            holds(no_bound if values.high is None else values.high, self.bound),
        }
        if len(ends) == 1:
            raise ConfigError(
                f"{self} is met by {'every' if ends == {True} else 'no'} value: the range of"
                f" {self.name} is {values}"
            )

    def result(self, measures: Mapping[str, Sequence[Measure]]) -> DemandResult:
        """Compare the measure in every exam that has it.

        A value that is not defined never meets a requirement. Neither does one of robustness unless
        `measures` show discernment: a constant score withstands every attack.

        Raise `ConfigError` if there is no such measure, or no or every value meets the requirement;
        the message lists the measures that there are, or has the range.
        """
        called = measures_called(self.name, measures)
        for measure in called:
            self.require_decisive(measure.range)
        values = tuple(measure.value for measure in called)
        holds, reason = RELATIONS[self.relation], unproven(self.name, measures)
        met = all(value is not None and holds(value, self.bound) for value in values)
        return DemandResult(demand=str(self), values=values, met=met and not reason, reason=reason)


def measures_called(name: str, measures: Mapping[str, Sequence[Measure]]) -> Sequence[Measure]:
    """Return the measure in each exam that has it; raise `ConfigError` if none has it."""
    if name not in measures:
        raise ConfigError(f"no exam has {name!r}; {choices_for(name, measures)}")
    return measures[name]


def unproven(name: str, measures: Mapping[str, Sequence[Measure]]) -> str:
    """Return why a measure proves nothing beside the others of a judge; empty if it does.

    One of robustness proves nothing unless the interval of one in `CHANCES` is above chance.
    """
    if not name.startswith(_UNPROVEN):
        return ""
    shown = [
        (each, chance) for topic, chance in CHANCES.items() for each in measures.get(topic, ())
    ]
    defined = [(measure, chance) for measure, chance in shown if measure.value is not None]
    if any(measure.low is not None and measure.low > chance for measure, chance in defined):
        return ""
    if not defined:
        return f"no exam here says whether the judge sees damage: {' or '.join(CHANCES)}"
    shares = ", ".join(
        f"{measure.name} is {measure.figure} [{measure.interval}], {chance:g} by chance"
        for measure, chance in defined
    )
    return f"the judge is not shown to see damage: {shares}"


def parse_gate(text: str) -> Gate:
    """Read a requirement; raise `ConfigError` if it cannot be read."""
    comparison = parse_comparison(text)
    if comparison is None or comparison.relation not in _ORDERED or comparison.number is None:
        raise ConfigError(f"a requirement is MEASURE>=NUMBER (or <=, >, <), not {text!r}")
    return Gate(name=comparison.name, relation=comparison.relation, bound=comparison.number)


def results(card: Card, gates: Iterable[Gate]) -> list[DemandResult]:
    """Compare a card with all requirements; raise as `Gate.result` does."""
    measures = card.measures
    return [gate.result(measures) for gate in gates]


def card_report(card: Card, *, gates: Sequence[Gate]) -> Report:
    """Return the report of a card and its requirements; a terminal shows the measures alone."""
    seats = dict(pair for record in card.records for pair in record.seats.items())
    return Report(
        title="Judge card",
        answer=_answer(card, gates),
        facts=[prose("{}: {}", name, code(signature)) for name, signature in seats.items()],
        sections=[
            table(
                ["measure", *numeric("value", "95 %", "of"), "what it is"],
                [
                    row(*_cells(measure), ruled=measure is record.measures[-1])
                    for record in card.records
                    for measure in record.measures
                ],
                title="Judge card",
                only="terminal",
            ),
            Section(
                "Requirements",
                [table(["requirement", "is", ""], _demands(card, gates))],
                only="page",
            ),
            *(
                Section(record.exam.capitalize(), list(_exam(record)), only="page")
                for record in card.records
            ),
        ],
    )


def _answer(card: Card, gates: Sequence[Gate]) -> str:
    missed = [result.demand for result in results(card, gates) if not result.met]
    if missed:
        return f"The judge misses {len(missed)} of {len(gates)} requirements: {named(missed)}."
    return f"The judge meets all requirements ({len(gates)})." if gates else ""


def card_json(card: Card, *, gates: Sequence[Gate]) -> dict[str, object]:
    """Return `card` as objects, lists, strings, numbers and nulls."""
    return {
        "exams": [asdict(record) for record in card.records],
        "gates": [{"gate": each.demand, "passed": each.met} for each in results(card, gates)],
    }


def _demands(card: Card, gates: Sequence[Gate]) -> Iterator[tuple[str, str, Cell]]:
    for result in results(card, gates):
        values = f"{result.figures}; {result.reason}" if result.reason else result.figures
        verdict = Cell("met", mark="good") if result.met else Cell("not met", mark="bad", bold=True)
        yield result.demand, values, verdict


def _exam(record: ExamRecord) -> Iterator[Block]:
    versions = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    signature, data = code(record.signature), code(record.data)
    yield Paragraph(prose("{} on {}, {}; {}.", signature, data, record.date, versions))
    yield table(
        ["measure", *numeric("value", "95 % interval", "of"), ""],
        (_cells(measure) for measure in record.measures),
    )
    yield Bullets(record.cautions, tone="caution")


def _cells(measure: Measure) -> tuple[str, str, str, int, str]:
    is_bounded = measure.range != Range()
    meaning = f"{measure.says}; {measure.range}" if is_bounded else measure.says
    return measure.name, measure.figure, measure.interval, measure.count, meaning
