"""A card: the exams of one judge, side by side."""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from spanjury.judges.core import ConfigError, unstamped

__all__ = ["Card", "ExamRecord", "Gate", "Measure", "parse_gate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One number that an exam came to.

    Parameters
    ----------
    name
        What it is asked for by: the topic, a full stop and the figure, as ``retest.moved``.
    value
        None where it is not defined, as the hits of a judge that marks nothing.
    says
        What it is, in one sentence, with its range or unit.
    count
        Of how many texts, places or conditions it is made.
    low, high
        Ends of its 95 % interval; None where there is none.
    """

    name: str
    value: float | None
    says: str
    count: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamRecord:
    """What an exam's ``findings.json`` holds for a card.

    Parameters
    ----------
    exam
        Which exam it was.
    date
        When it was held, as ``2026-11-22``.
    data
        What it was held on.
    signature
        Of the panel or the judge that was examined.
    seats
        Name -> signature of each judge in it.
    versions
        Package -> version.
    measures
        What it came to.
    cautions
        What is to be kept in mind when they are read.
    """

    exam: str
    date: str
    data: str
    signature: str
    seats: Mapping[str, str]
    versions: Mapping[str, str]
    measures: tuple[Measure, ...]
    cautions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The exams of one judge.

    Parameters
    ----------
    records
        One for each exam.

    Raises
    ------
    ConfigError
        If there is no exam, or two are of judges that have no seat in common.
    """

    records: tuple[ExamRecord, ...]

    def __post_init__(self) -> None:
        if not self.records:
            raise ConfigError("a card is made of one exam or more")
        first, *others = self.records
        for other in others:
            if not _judges(first) & _judges(other):
                raise ConfigError(
                    "a card is of one judge, and these exams have none in common: "
                    f"{first.signature} and {other.signature}"
                )

    @property
    def measures(self) -> Mapping[str, Sequence[Measure]]:
        """By name, what each exam that tells it says of a measure."""
        told: dict[str, list[Measure]] = {}
        for record in self.records:
            for measure in record.measures:
                told.setdefault(measure.name, []).append(measure)
        return told


def _judges(record: ExamRecord) -> set[str]:
    """Return the signatures of the seats; by which release they were examined does not matter."""
    return set(map(unstamped, record.seats.values()))


_RELATIONS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
)
_GATE = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?P<relation>>=|<=|>|<)\s*(?P<bound>[-+]?(?:\d+\.?\d*|\.\d+))\s*"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One demand on a measure.

    Parameters
    ----------
    name
        Of the measure.
    relation
        ``>=``, ``<=``, ``>`` or ``<``.
    bound
        What it is compared with.
    """

    name: str
    relation: str
    bound: float

    def __str__(self) -> str:
        return f"{self.name} {self.relation} {self.bound:g}"

    def is_passed(self, measures: Mapping[str, Sequence[Measure]]) -> bool:
        """Say whether the measure is as demanded in every exam that tells it.

        One that is not defined never is.

        Raises
        ------
        ConfigError
            If there is no such measure; the message lists those that there are.
        """
        if self.name not in measures:
            raise ConfigError(f"no exam tells {self.name!r}; there are {', '.join(measures)}")
        holds = _RELATIONS[self.relation]
        return all(
            told.value is not None and holds(told.value, self.bound) for told in measures[self.name]
        )


def parse_gate(text: str) -> Gate:
    """Read a demand.

    Raises
    ------
    ConfigError
        If it is none.

    Examples
    --------
    >>> gate = parse_gate("retest.moved <= .1")
    >>> gate.name, gate.relation, gate.bound
    ('retest.moved', '<=', 0.1)
    """
    found = _GATE.fullmatch(text)
    if not found:
        raise ConfigError(f"a demand is MEASURE>=NUMBER (or <=, >, <), not {text!r}")
    return Gate(name=found["name"], relation=found["relation"], bound=float(found["bound"]))
