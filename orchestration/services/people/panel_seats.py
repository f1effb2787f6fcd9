"""The seats of a run's texts as a study of a panel takes them: words, costs, names."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from spanjury.judges.core import ConfigError, Outcome, Report, Scale, Usage
from spanjury.orchestration.engine.cascade import estimate_of, place_on
from spanjury.orchestration.services.people.marked_texts import JudgedText
from spanjury.orchestration.studies.panel_study.costs import SeatCost, SeatPrice
from spanjury.orchestration.studies.panel_study.seats import SeatWord, StudyText
from spanjury.orchestration.wiring.read_results import ReportedSeat

Seats = Mapping[str, ReportedSeat]
"""Seat -> its report on one text."""

_SILENT = {Outcome.SCORED, Outcome.ABSTAINED}
"""Ends with which a seat without a score has not failed."""


def study_text(text: JudgedText, seats: Seats, *, human: float | None, within: str) -> StudyText:
    """Return a text with the words of `seats` and people's score of it, where there is one.

    Raise `ConfigError` if its meta has no key `within`, where one is named.
    """
    return StudyText(
        system=text.row.system,
        source=text.source,
        group=_group(text, within),
        human=np.nan if human is None else human,
        seats={name: _word(seat, text.scale) for name, seat in seats.items()},
    )


def require_seats(asked: Iterable[str], rows: Iterable[Seats], *, aspect: str) -> None:
    """Raise `ConfigError` if one of those that are asked for judged none of the rows."""
    names = dict.fromkeys(name for seats in rows for name in seats)
    if strange := [name for name in asked if name not in names]:
        raise ConfigError(
            f"no seat {', '.join(strange)} judged {aspect}; there are {', '.join(names)}"
        )


def seat_costs(rows: Iterable[Seats], prices: Mapping[str, SeatPrice]) -> dict[str, SeatCost]:
    """Return what each seat takes for one of the rows that it judged."""
    seats_of: defaultdict[str, list[ReportedSeat]] = defaultdict(list)
    for row in rows:
        for name, seat in row.items():
            seats_of[name].append(seat)
    return {name: _cost(seats, prices.get(name)) for name, seats in seats_of.items()}


def _cost(seats: Sequence[ReportedSeat], price: SeatPrice | None) -> SeatCost:
    usage = sum((seat.usage for seat in seats), Usage())
    count = len(seats)
    return SeatCost(
        calls=usage.calls / count,
        tokens=(usage.prompt + usage.completion) / count,
        seconds=sum(seat.seconds for seat in seats) / count,
        dollars=None if price is None else price.price.cost(usage) / count,
        price=price,
    )


def _word(seat: ReportedSeat, scale: Scale) -> SeatWord:
    if seat.score is None:
        return SeatWord(np.nan, np.nan, np.nan, has_failed=seat.outcome not in _SILENT)
    report = Report(score=seat.score, error_probability=seat.error_probability)
    estimate = estimate_of(report, scale)
    assert estimate is not None  # a report with a score has one
    return SeatWord(seat.score, place_on(scale, seat.score), estimate, has_failed=False)


def _group(text: JudgedText, within: str) -> str:
    if not within:
        return ""
    value = text.segment.meta.get(within) if text.segment else None
    if value is None:
        raise ConfigError(f"--within {within}: the row {text.row.id!r} has no such key in its meta")
    return str(value)
