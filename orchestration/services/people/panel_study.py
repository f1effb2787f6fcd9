"""A study of a panel's seats: from runs, people's scores and prices to findings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spanjury.judges.core import (
    ConfigError,
    DataError,
    Outcome,
    Report,
    Scale,
    TokenPrice,
    Usage,
    choices_for,
)
from spanjury.orchestration.engine.cascade import estimate_of, place_on
from spanjury.orchestration.engine.families import Families, model_of
from spanjury.orchestration.services.judging.scorers import results_file
from spanjury.orchestration.services.people.marked_texts import (
    JudgedText,
    MarkedSource,
    read_marked,
)
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.panel_study.findings import (
    AspectStudy,
    Spending,
    StudyFindings,
    study_aspect,
)
from spanjury.orchestration.studies.panel_study.seats import (
    PanelSeats,
    SeatCost,
    SeatPrice,
    SeatWord,
    Settings,
    StudyText,
    amount_words,
    chances_notes,
    panel_seats,
)
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.read_results import ReportedRow, ReportedSeat, read_reported_rows
from spanjury.orchestration.wiring.seats import seat_prices
from spanjury.stats.raters.agreement import krippendorff_alpha

Seats = Mapping[str, ReportedSeat]
"""Seat -> its report on one text."""
_Key = tuple[str, str, str, str]
"""Id, system, task and aspect of a row."""

_SILENT = {Outcome.SCORED, Outcome.ABSTAINED}
"""Outcomes of a seat without a score that are no failures."""
_MILLION = 1_000_000
_FLAG = "--price"
_SOURCES = {"list": "LiteLLM's list", "here": "it runs here"}


def study_text(text: JudgedText, seats: Seats, *, human: float | None, within: str) -> StudyText:
    """Return a text with the reports of `seats`, and people's score if there is one.

    Raise `ConfigError` if `within` is named but its meta lacks this key.
    """
    group = text.segment.meta.get(within) if within and text.segment else None
    if within and group is None:
        raise ConfigError(f"--within {within}: the row {text.row.id!r} has no such key in its meta")
    return StudyText(
        system=text.row.system,
        source=text.source,
        group=str(group) if within else "",
        human=np.nan if human is None else human,
        seats={name: _word(seat, text.scale) for name, seat in seats.items()},
    )


def require_seats(asked: Iterable[str], rows: Iterable[Seats], *, aspect: str) -> None:
    """Raise `ConfigError` if a requested seat judged none of the rows."""
    names = dict.fromkeys(name for seats in rows for name in seats)
    if strange := [name for name in asked if name not in names]:
        raise ConfigError(f"no seat {strange[0]} judged {aspect}; {choices_for(strange[0], names)}")


def seat_costs(rows: Iterable[Seats], prices: Mapping[str, SeatPrice]) -> dict[str, SeatCost]:
    """Return the mean cost of each seat per row that it judged."""
    given = grouped((item for row in rows for item in row.items()), lambda item: item[0])
    return {
        name: _cost([seat for _, seat in seats], prices.get(name)) for name, seats in given.items()
    }


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """The sources of the prices of seats' tokens.

    `named` maps seats to prices, which take precedence. Seats of the same names as in the `panel`
    file have the prices of its models, or else those of LiteLLM's list.
    """

    named: Mapping[str, TokenPrice] = field(default_factory=dict)
    panel: Path | None = None


NO_PRICES = Pricing()


class Prices(NamedTuple):
    """The known prices by seat, and notes on prices that may not apply."""

    by_seat: Mapping[str, SeatPrice]
    notes: Sequence[str]


def parse_price(text: str) -> tuple[str, TokenPrice]:
    """Parse the price of a seat's tokens: ``SEAT=PROMPT/COMPLETION``, in dollars per million.

    Raise `ConfigError` if it has another form.

    Examples
    --------
    >>> parse_price("gemma=0.27/0.5")
    ('gemma', TokenPrice(prompt=2.7e-07, completion=5e-07, cached=None))
    """
    seat, _, price = text.rpartition("=")
    prompt, _, completion = price.partition("/")
    tokens: TokenPrice | None = None
    with suppress(ValueError):
        tokens = TokenPrice(
            prompt=float(prompt) / _MILLION, completion=float(completion) / _MILLION
        )
    if tokens is None or not seat:
        raise ConfigError(
            f"the price {text!r}: expected SEAT=PROMPT/COMPLETION, dollars for a million tokens"
        )
    return seat, tokens


def find_prices(rows: Sequence[Seats], pricing: Pricing) -> Prices:
    """Return the prices of the seats that judged `rows`.

    Raise `ConfigError` if a price names no seat, or the panel file is invalid.
    """
    flags, panel = pricing.named, pricing.panel
    models = {name: model_of(seat.signature) for seats in rows for name, seat in seats.items()}
    if strange := [name for name in flags if name not in models]:
        raise ConfigError(f"--price of no seat: {strange[0]}; {choices_for(strange[0], models)}")
    by_seat = {name: SeatPrice(price=price, source=_FLAG) for name, price in flags.items()}
    if panel is None:
        return Prices(by_seat, ())
    calling = {
        name
        for seats in rows
        for name, seat in seats.items()
        if seat.usage.calls or seat.usage.prompt or seat.usage.completion
    }
    wanted = calling - flags.keys()
    notes = []
    for name, price in seat_prices(read_panel_file(panel), wanted).items():
        by_seat[name] = SeatPrice(price=price.price, source=_SOURCES.get(price.source, panel.name))
        ran, last = models[name], price.model.rpartition("/")[2]
        if ran and price.source != "here" and ran.rpartition("/")[2] != last:
            notes.append(f"{name} asked {ran}, and its price is that of {price.model}")
    return Prices(by_seat, notes)


_LEAST_RATERS = 2


def study_panel(
    source: MarkedSource,
    *,
    seats: Sequence[str] = (),
    within: str = "",
    families: Sequence[Path] = (),
    pricing: Pricing = NO_PRICES,
    settings: Settings = Settings(),
    spending: Spending = Spending(),
    begin: Callable[[str], None] = lambda _: None,
) -> StudyFindings:
    """Study the seats of a panel.

    The seats of all runs are compared; people's marks are those of the first run. Agreement is
    measured within each value of `within`, a key of the rows' meta. The panel file of `pricing`
    also adds families.

    Raise `ConfigError` if a seat, an aspect or a family file is invalid, or the budget is too small
    for one text, and `DataError` if a file cannot be read, or people scored too few texts.
    """
    marked = read_marked(source)
    others = source.results[1:]
    more = [(path, list(read_reported_rows(results_file(path)))) for path in others]
    own = read_panel_file(pricing.panel).families if pricing.panel else {}
    model_families = Families.load(*families, table=own)
    collect = partial(
        _collected, named=seats, within=within, pricing=pricing, settings=settings, more=more
    )
    study = partial(study_aspect, settings=settings, families=model_families, spending=spending)
    studies: list[AspectStudy] = []
    problems: list[DataError] = []
    for task, aspect in marked.aspects:
        begin(f"studying {aspect}")
        judged = marked.on(task, aspect)
        studied, notes = collect([text for text in judged if text.is_marked], aspect=aspect)
        try:
            studies.append(study(studied, judged=len(judged), notes=[*notes, *marked.notes()]))
        except DataError as error:
            problems.append(error)
        else:
            _check_costs(studies[-1])
    if not studies:
        raise problems[0] if problems else DataError(f"{marked.name}: no text has a score")
    return StudyFindings(
        settings=settings,
        results=tuple(map(str, source.results)),
        human=marked.name,
        aspects=tuple(studies),
        flags=tuple(_flags(source, within=within)),
    )


def _flags(source: MarkedSource, *, within: str) -> Iterator[str]:
    """Yield the flags of a command for the same marks and texts."""
    human = source.human if isinstance(source.human, Path) else None
    named = {"--human": human, "--sample": source.sample, "--data": source.data}
    for flag, value in {**named, "--within": within}.items():
        if value:
            yield from (flag, str(value))
    for column in source.columns:
        yield from ("--column", column)


def _collected(
    texts: Sequence[JudgedText],
    *,
    aspect: str,
    named: Sequence[str],
    within: str,
    pricing: Pricing,
    settings: Settings,
    more: Sequence[tuple[Path, Sequence[ReportedRow]]],
) -> tuple[PanelSeats, list[str]]:
    """Return the seats of all runs on the texts that people scored, and notes on them."""
    unasked = {name for text in texts if text.row.unasked for name in text.row.unasked.seats}
    seats = _seats_of_runs(texts, more)
    if named:
        require_seats(named, seats.values(), aspect=aspect)
        seats = {
            key: {name: seat for name, seat in of.items() if name in named}
            for key, of in seats.items()
        }
    human, notes = _human(texts)
    studied = [
        study_text(text, seats[_key(text.row)], human=value, within=within)
        for text, value in zip(texts, human, strict=True)
        if value is not None
    ]
    prices = find_prices([*seats.values()], pricing)
    judged_seats = panel_seats(
        studied,
        aspect=aspect,
        costs=seat_costs(seats.values(), prices.by_seat),
        models={
            name: model_of(seat.signature) for of in seats.values() for name, seat in of.items()
        },
    )
    silent = sorted({name for text in studied for name in text.seats} - {*judged_seats.names})
    notes = [*_about_people(texts), *notes, *prices.notes]
    notes += [
        f"a cascade chose the texts for which {name} was asked, so its figures are about "
        "these texts only: study a run in which all seats were asked"
        for name in judged_seats.names
        if name in unasked
    ]
    notes += [f"{name} gave no score of {aspect} and is left out" for name in silent]
    scored = (text for text, value in zip(texts, human, strict=True) if value is not None)
    notes += chances_notes(judged_seats, settings, chances=[text.chance for text in scored])
    return judged_seats, notes


def _seats_of_runs(
    texts: Sequence[JudgedText], more: Sequence[tuple[Path, Sequence[ReportedRow]]]
) -> dict[_Key, dict[str, ReportedSeat]]:
    """Return the seats that judged each text in its run, and in the others."""
    seats = {_key(text.row): {seat.judge: seat for seat in text.row.seats} for text in texts}
    for path, rows in more:
        used = {name for of in seats.values() for name in of}
        for row in (row for row in rows if _key(row) in seats):
            for seat in row.seats:
                # With its run if another seat has the name.
                names = (seat.judge, f"{seat.judge} ({path.stem})", f"{seat.judge} ({path})")
                name = next((name for name in names if name not in used), names[-1])
                seats[_key(row)][name] = seat
    return seats


def _key(row: ReportedRow) -> _Key:
    return row.id, row.system, row.task, row.aspect


def _human(texts: Sequence[JudgedText]) -> tuple[list[float | None], list[str]]:
    """Return people's scores; without any, the negated sums of their spans' severities."""
    if any(text.people for text in texts):
        return [text.human for text in texts], []
    weighed = [
        None if text.spans is None else -float(sum(span.severity or 1 for span in text.spans))
        for text in texts
    ]
    return weighed, ["people marked errors but gave no scores: the sum of severities is the score"]


def _about_people(texts: Sequence[JudgedText]) -> Iterator[str]:
    """Yield a note if people disagree so much that no seat can agree with them."""
    raters = dict.fromkeys(name for text in texts for name in text.people)
    if len(raters) < _LEAST_RATERS:
        return
    scores = np.array([[text.people.get(name, np.nan) for name in raters] for text in texts])
    alpha = krippendorff_alpha(scores, level="ordinal").value
    if alpha <= 0:
        yield (
            "people agree with each other no better than by chance (Krippendorff's alpha "
            f"{alpha:.2f}), so agreement with their mean says little"
        )


def _check_costs(study: AspectStudy) -> None:
    points, budget = study.frontier.points, study.frontier.budget
    if not points:
        raise ConfigError(
            f"the cost of every seat is unknown in {study.frontier.unit}: give prices with "
            "--price SEAT=PROMPT/COMPLETION or --panel FILE, or choose another unit with --cost"
        )
    cheapest = points[0].choice
    if budget is not None and cheapest.cost > budget.amount:
        raise ConfigError(
            f"a budget of {amount_words(budget.amount, budget.unit)} is too small for one text:"
            f" the cheapest panel, {cheapest.name}, takes"
            f" {amount_words(float(f'{cheapest.cost:.3g}'), budget.unit)}"
        )
