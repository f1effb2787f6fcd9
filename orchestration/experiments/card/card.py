"""A card: the exams of one judge, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import ConfigError, unstamped
from spanjury.orchestration.experiments.card.measure import Measure

__all__ = ["Card", "ExamRecord"]


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
