"""A study of a panel's seats, from a run and people's scores to findings and a page."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spanjury.judges.core import ConfigError, DataError, TokenPrice, Usage
from spanjury.orchestration.engine.families import Families, model_of
from spanjury.orchestration.report.files import write_report
from spanjury.orchestration.services.marked_texts import JudgedText, read_marked
from spanjury.orchestration.services.scorers import results_file
from spanjury.orchestration.studies.panel_study.agreement import Settings
from spanjury.orchestration.studies.panel_study.by_chances import chances_notes
from spanjury.orchestration.studies.panel_study.findings import (
    AspectStudy,
    Spending,
    StudyFindings,
    study_aspect,
    study_json,
)
from spanjury.orchestration.studies.panel_study.seats import (
    PanelSeats,
    SeatCost,
    StudyText,
    panel_seats,
)
from spanjury.orchestration.studies.panel_study.tables import study_report
from spanjury.orchestration.wiring.read_results import (
    ReportedRow,
    ReportedSeat,
    read_reported_rows,
)
from spanjury.stats.raters.agreement import krippendorff_alpha

_MILLION = 1_000_000
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
    """

    results: tuple[Path, ...]
    human: Path | None = None
    sample: Path | None = None
    data: Path | None = None
    columns: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()
    within: str = ""
    families: tuple[Path, ...] = ()
    prices: Mapping[str, TokenPrice] | None = None
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
    families = Families.load(*job.families)
    studies: list[AspectStudy] = []
    problems: list[DataError] = []
    for task, aspect in marked.aspects:
        texts = [one for one in marked.on(task, aspect) if one.is_marked]
        seats, notes = _collected(job, texts, more, aspect=aspect)
        try:
            found = study_aspect(
                seats,
                job.settings,
                families=families,
                spending=job.spending,
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


def parse_price(text: str) -> tuple[str, TokenPrice]:
    """Read the price of a seat's tokens: ``SEAT=PROMPT/COMPLETION``, dollars for a million.

    Raise `ConfigError` if it is of another form.

    Examples
    --------
    >>> parse_price("gemma=0.27/0.5")
    ('gemma', TokenPrice(prompt=2.7e-07, completion=5e-07, cached=None))
    """
    seat, _, price = text.rpartition("=")
    prompt, _, completion = price.partition("/")
    try:
        dollars = float(prompt), float(completion)
    except ValueError:
        dollars = -1.0, -1.0
    if not seat or min(dollars) < 0 or not np.isfinite(dollars).all():
        raise ConfigError(
            f"the price {text!r}: expected SEAT=PROMPT/COMPLETION, dollars for a million tokens"
        )
    return seat, TokenPrice(prompt=dollars[0] / _MILLION, completion=dollars[1] / _MILLION)


def _collected(
    job: StudyJob,
    texts: Sequence[JudgedText],
    more: Iterable[tuple[Path, Sequence[ReportedRow]]],
    *,
    aspect: str,
) -> tuple[PanelSeats, list[str]]:
    """Return the seats of all runs on the texts that people scored, and notes on them."""
    seats = {_key(one.row): {seat.judge: seat for seat in one.row.seats} for one in texts}
    for path, rows in more:
        for row in rows:
            if _key(row) in seats:
                _add(seats[_key(row)], row, path=path)
    if job.seats:
        _check_names(job.seats, seats.values(), aspect=aspect)
        seats = {
            key: {name: seat for name, seat in of.items() if name in job.seats}
            for key, of in seats.items()
        }
    human, notes = _human(texts)
    studied = [
        StudyText(
            segment_id=one.row.id,
            system=one.row.system,
            source=one.source,
            group=_group(one, job.within),
            human=value,
            seats={name: seat.score for name, seat in seats[_key(one.row)].items()},
        )
        for one, value in zip(texts, human, strict=True)
        if value is not None
    ]
    found = panel_seats(
        studied,
        aspect=aspect,
        costs=_costs(seats.values(), job.prices or {}),
        models={name: model_of(one.signature) for of in seats.values() for name, one in of.items()},
    )
    silent = sorted({name for text in studied for name in text.seats} - {*found.names})
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


def _check_names(
    asked: Iterable[str], seats: Iterable[Mapping[str, ReportedSeat]], *, aspect: str
) -> None:
    known = dict.fromkeys(name for of in seats for name in of)
    if strange := [name for name in asked if name not in known]:
        raise ConfigError(
            f"no seat {', '.join(strange)} judged {aspect}; there are {', '.join(known)}"
        )


def _human(texts: Sequence[JudgedText]) -> tuple[list[float | None], list[str]]:
    """Return people's scores; where they gave none, what their error spans weigh, less than 0."""
    if any(one.people for one in texts):
        return [one.human for one in texts], []
    weighed = [
        None if one.spans is None else -float(sum(span.severity or 1 for span in one.spans))
        for one in texts
    ]
    return weighed, ["people marked errors and gave no scores: the sum of severities stands for it"]


def _group(one: JudgedText, within: str) -> str:
    if not within:
        return ""
    value = one.segment.meta.get(within) if one.segment else None
    if value is None:
        raise ConfigError(f"--within {within}: the row {one.row.id!r} has no such key in its meta")
    return str(value)


def _costs(
    rows: Iterable[Mapping[str, ReportedSeat]], prices: Mapping[str, TokenPrice]
) -> dict[str, SeatCost]:
    said: defaultdict[str, list[ReportedSeat]] = defaultdict(list)
    for row in rows:
        for name, seat in row.items():
            said[name].append(seat)
    if strange := [name for name in prices if name not in said]:
        raise ConfigError(f"--price of no seat: {', '.join(strange)}; there are {', '.join(said)}")
    return {name: _cost(seats, prices.get(name)) for name, seats in said.items()}


def _cost(seats: Sequence[ReportedSeat], price: TokenPrice | None) -> SeatCost:
    usage = sum((seat.usage for seat in seats), Usage())
    count = len(seats)
    return SeatCost(
        calls=usage.calls / count,
        tokens=(usage.prompt + usage.completion) / count,
        seconds=sum(seat.seconds for seat in seats) / count,
        dollars=None if price is None else price.cost(usage) / count,
    )


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
            " SEAT=PROMPT/COMPLETION, or another unit by --cost"
        )
    cheapest = points[0].choice
    if budget is not None and cheapest.cost > budget.amount:
        raise ConfigError(
            f"a budget of {budget.amount:g} {budget.unit} is too small for one text: the cheapest"
            f" panel, {cheapest.name}, takes {cheapest.cost:.3g}"
        )
