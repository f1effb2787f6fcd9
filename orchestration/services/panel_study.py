"""A study of a panel's seats, from a run and people's scores to findings and a page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from spanjury.judges.core import ConfigError, DataError, TokenPrice
from spanjury.orchestration.engine.families import Families, model_of
from spanjury.orchestration.report.files import write_report
from spanjury.orchestration.services.exam_texts import Texts
from spanjury.orchestration.services.marked_texts import JudgedText, read_marked
from spanjury.orchestration.services.panel_seats import require_seats, seat_costs, study_text
from spanjury.orchestration.services.scorers import results_file
from spanjury.orchestration.services.seat_prices import find_prices
from spanjury.orchestration.studies.panel_study.agreement import Settings
from spanjury.orchestration.studies.panel_study.by_chances import chances_notes
from spanjury.orchestration.studies.panel_study.costs import amount_words
from spanjury.orchestration.studies.panel_study.findings import (
    AspectStudy,
    Spending,
    StudyFindings,
    study_aspect,
    study_json,
)
from spanjury.orchestration.studies.panel_study.seats import PanelSeats, panel_seats
from spanjury.orchestration.studies.panel_study.tables import study_report
from spanjury.orchestration.wiring.panel_files import read_panel_file
from spanjury.orchestration.wiring.read_results import (
    ReportedRow,
    ReportedSeat,
    read_reported_rows,
)
from spanjury.stats.raters.agreement import krippendorff_alpha

_LEAST_RATERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyJob:
    """A study to make.

    Parameters
    ----------
    results
        Runs or results whose seats are compared; people's marks are those of the first.
    human
        Texts with people's scores; None for the run's own marks.
    sample
        The texts that were drawn for people to mark, with their chances.
    data, columns
        The texts of bare results, and what the columns of `human` or `data` are called.
    seats
        The seats to compare; none for all that gave a score.
    within
        Key of the rows' meta: agreement is taken within each of its values; empty for none.
    families
        TOML files with more families of models.
    prices
        Seat -> the price of its model's tokens.
    panel
        A panel file, for the prices of its models and its families; None for none.
    """

    results: tuple[Path, ...]
    human: Path | Texts | None = None
    sample: Path | None = None
    data: Path | None = None
    columns: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()
    within: str = ""
    families: tuple[Path, ...] = ()
    prices: Mapping[str, TokenPrice] = field(default_factory=dict)
    panel: Path | None = None
    settings: Settings = Settings()
    spending: Spending = Spending()


def study_panel(job: StudyJob) -> StudyFindings:
    """Study the seats of a panel.

    Raise `ConfigError` if a seat, an aspect or a family file is not as it must be, or the budget
    is too small for one text, and `DataError` if a file cannot be read, or people scored too
    little.
    """
    first, *others = job.results
    marked = read_marked(
        first,
        human=job.human,
        sample=job.sample,
        data=job.data,
        columns=job.columns,
        aspects=job.aspects,
    )
    more = [(path, list(read_reported_rows(results_file(path)))) for path in others]
    own = {} if job.panel is None else read_panel_file(job.panel).families
    families = Families.load(*job.families, table=own)
    studies: list[AspectStudy] = []
    problems: list[DataError] = []
    for task, aspect in marked.aspects:
        judged = marked.on(task, aspect)
        texts = [one for one in judged if one.is_marked]
        seats, notes = _collected(job, texts, more, aspect=aspect)
        try:
            found = study_aspect(
                seats,
                job.settings,
                families=families,
                spending=job.spending,
                judged=len(judged),
                notes=[*_about_people(texts), *notes, *marked.notes()],
            )
        except DataError as error:
            problems.append(error)
            continue
        _check_costs(found)
        studies.append(found)
    if not studies:
        raise problems[0] if problems else DataError(f"{marked.name}: no text has a score")
    return StudyFindings(
        settings=job.settings,
        results=tuple(map(str, job.results)),
        human=marked.name,
        aspects=tuple(studies),
    )


def write_study(folder: Path, findings: StudyFindings) -> list[Path]:
    """Write ``panel-study.md``, ``.html`` and ``.json`` into `folder`; return their paths.

    Raise `StoreError` if something cannot be written.
    """
    report = study_report(findings)
    data = study_json(findings)
    return write_report(folder, report, data=data, page="panel-study", values="panel-study")


def _collected(
    job: StudyJob,
    texts: Sequence[JudgedText],
    more: Iterable[tuple[Path, Sequence[ReportedRow]]],
    *,
    aspect: str,
) -> tuple[PanelSeats, list[str]]:
    """Return the seats of all runs on the texts that people scored, and notes on them."""
    seats = {_key(one.row): {seat.judge: seat for seat in one.row.seats} for one in texts}
    unasked = {name for one in texts if one.row.unasked for name in one.row.unasked.seats}
    for path, rows in more:
        for row in rows:
            if _key(row) in seats:
                _add(seats[_key(row)], row, path=path)
    if job.seats:
        require_seats(job.seats, seats.values(), aspect=aspect)
        seats = {
            key: {name: seat for name, seat in of.items() if name in job.seats}
            for key, of in seats.items()
        }
    human, notes = _human(texts)
    studied = [
        study_text(one, seats[_key(one.row)], human=value, within=job.within)
        for one, value in zip(texts, human, strict=True)
        if value is not None
    ]
    prices = find_prices([*seats.values()], flags=job.prices, panel=job.panel)
    found = panel_seats(
        studied,
        aspect=aspect,
        costs=seat_costs(seats.values(), prices.known),
        models={name: model_of(one.signature) for of in seats.values() for name, one in of.items()},
    )
    silent = sorted({name for text in studied for name in text.seats} - {*found.names})
    notes += prices.notes
    notes += [
        f"a cascade chose the texts that {name} was asked of, so that its figures are of these:"
        " study a run in which all seats were asked"
        for name in found.names
        if name in unasked
    ]
    notes += [f"{name} gave no score of {aspect}, and is left out" for name in silent]
    scored = (one for one, value in zip(texts, human, strict=True) if value is not None)
    notes += chances_notes(found, job.settings, chances=[one.chance for one in scored])
    return found, notes


def _key(row: ReportedRow) -> tuple[str, str, str, str]:
    return row.id, row.system, row.task, row.aspect


def _add(seats: dict[str, ReportedSeat], row: ReportedRow, *, path: Path) -> None:
    """Add the seats of another run; one whose name is taken is named with its run."""
    for seat in row.seats:
        name = seat.judge if seat.judge not in seats else f"{seat.judge} ({path.stem})"
        seats[name] = seat


def _human(texts: Sequence[JudgedText]) -> tuple[list[float | None], list[str]]:
    """Return people's scores; where they gave none, what their error spans weigh, less than 0."""
    if any(one.people for one in texts):
        return [one.human for one in texts], []
    weighed = [
        None if one.spans is None else -float(sum(span.severity or 1 for span in one.spans))
        for one in texts
    ]
    return weighed, ["people marked errors and gave no scores: the sum of severities stands for it"]


def _about_people(texts: Sequence[JudgedText]) -> Iterator[str]:
    """Say where people disagree so much that no seat can agree with them."""
    raters = dict.fromkeys(name for one in texts for name in one.people)
    if len(raters) < _LEAST_RATERS:
        return
    scores = np.array([[one.people.get(name, np.nan) for name in raters] for one in texts])
    alpha = krippendorff_alpha(scores, level="ordinal").value
    if alpha <= 0:
        yield (
            f"people do not agree with each other beyond chance (Krippendorff's alpha"
            f" {alpha:.2f}): their mean says little, and agreement with it as little"
        )


def _check_costs(found: AspectStudy) -> None:
    points, budget = found.frontier.points, found.frontier.budget
    if not points:
        raise ConfigError(
            f"the cost of no seat is known in {found.frontier.unit}: name prices by --price"
            " SEAT=PROMPT/COMPLETION or --panel FILE, or another unit by --cost"
        )
    cheapest = points[0].choice
    if budget is not None and cheapest.cost > budget.amount:
        raise ConfigError(
            f"a budget of {amount_words(budget.amount, budget.unit)} is too small for one text:"
            f" the cheapest panel, {cheapest.name}, takes"
            f" {amount_words(float(f'{cheapest.cost:.3g}'), budget.unit)}"
        )
