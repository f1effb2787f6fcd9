"""A study of a panel's seats, from a run and people's scores to findings and a page."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from spanjury.judges.core import ConfigError, DataError
from spanjury.orchestration.engine.families import Families, model_of
from spanjury.orchestration.services.judging.scorers import results_file
from spanjury.orchestration.services.people.marked_texts import (
    JudgedText,
    MarkedSource,
    read_marked,
)
from spanjury.orchestration.services.people.panel_seats import (
    NO_PRICES,
    Pricing,
    find_prices,
    require_seats,
    seat_costs,
    study_text,
)
from spanjury.orchestration.studies.panel_study.agreement import Settings, chances_notes
from spanjury.orchestration.studies.panel_study.costs import amount_words
from spanjury.orchestration.studies.panel_study.findings import (
    AspectStudy,
    Spending,
    StudyFindings,
    study_aspect,
)
from spanjury.orchestration.studies.panel_study.seats import PanelSeats, panel_seats
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.read_results import (
    ReportedRow,
    ReportedSeat,
    read_reported_rows,
)
from spanjury.stats.raters.agreement import krippendorff_alpha

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

    The seats of all runs are compared; people's marks are those of the first. Agreement is taken
    within each value of `within`, a key of the rows' meta. The panel file of `pricing` adds
    families, too.

    Raise `ConfigError` if a seat, an aspect or a family file is not as it must be, or the budget
    is too small for one text, and `DataError` if a file cannot be read, or people scored too
    little.
    """
    marked = read_marked(source)
    others = source.results[1:]
    more = [(path, list(read_reported_rows(results_file(path)))) for path in others]
    own = read_panel_file(pricing.panel).families if pricing.panel else {}
    model_families = Families.load(*families, table=own)
    collect = partial(
        _collected, named=seats, within=within, pricing=pricing, settings=settings, more=more
    )
    studies: list[AspectStudy] = []
    problems: list[DataError] = []
    for task, aspect in marked.aspects:
        begin(f"studying {aspect}")
        judged = marked.on(task, aspect)
        texts = [text for text in judged if text.is_marked]
        studied_seats, notes = collect(texts, aspect=aspect)
        try:
            study = study_aspect(
                studied_seats,
                settings,
                families=model_families,
                spending=spending,
                judged=len(judged),
                notes=[*_about_people(texts), *notes, *marked.notes()],
            )
        except DataError as error:
            problems.append(error)
            continue
        _check_costs(study)
        studies.append(study)
    if not studies:
        raise problems[0] if problems else DataError(f"{marked.name}: no text has a score")
    return StudyFindings(
        settings=settings,
        results=tuple(map(str, source.results)),
        human=marked.name,
        aspects=tuple(studies),
    )


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
    seats = {_key(text.row): {seat.judge: seat for seat in text.row.seats} for text in texts}
    unasked = {name for text in texts if text.row.unasked for name in text.row.unasked.seats}
    for path, rows in more:
        for row in rows:
            if _key(row) in seats:
                _add(seats[_key(row)], row, path=path)
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
    notes += prices.notes
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


def _key(row: ReportedRow) -> tuple[str, str, str, str]:
    return row.id, row.system, row.task, row.aspect


def _add(seats: dict[str, ReportedSeat], row: ReportedRow, *, path: Path) -> None:
    """Add the seats of another run; one whose name is taken is named with its run."""
    for seat in row.seats:
        name = seat.judge if seat.judge not in seats else f"{seat.judge} ({path.stem})"
        seats[name] = seat


def _human(texts: Sequence[JudgedText]) -> tuple[list[float | None], list[str]]:
    """Return people's scores; where they gave none, what their error spans weigh, less than 0."""
    if any(text.people for text in texts):
        return [text.human for text in texts], []
    weighed = [
        None if text.spans is None else -float(sum(span.severity or 1 for span in text.spans))
        for text in texts
    ]
    return weighed, ["people marked errors but gave no scores: the sum of severities is the score"]


def _about_people(texts: Sequence[JudgedText]) -> Iterator[str]:
    """Say where people disagree so much that no seat can agree with them."""
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
