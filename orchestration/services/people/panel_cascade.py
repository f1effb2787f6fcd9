"""Fit cascades to a run in which all seats were asked, and write the file for a panel."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spanjury.judges.core import ConfigError, DataError, Outcome, counted, unstamped
from spanjury.orchestration.engine.made_for import aspect_key, seats_digest, signed_seats
from spanjury.orchestration.engine.panel import BY_PROBABILITY
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.services.people.marked_texts import (
    JudgedText,
    MarkedSource,
    MarkedTexts,
    read_marked,
    read_unmarked,
)
from spanjury.orchestration.services.people.marks.marked_run import MarkedRun
from spanjury.orchestration.services.people.panel_study import (
    NO_PRICES,
    Pricing,
    Seats,
    find_prices,
    require_seats,
    seat_costs,
    study_text,
)
from spanjury.orchestration.studies.panel_study.cascades import (
    FEWEST_FITTED,
    CascadeFindings,
    StagedTexts,
    cascade_findings,
    staged,
)
from spanjury.orchestration.studies.panel_study.seats import (
    PanelSeats,
    SeatCost,
    Settings,
    Unit,
    panel_seats,
    usual_stages,
)
from spanjury.orchestration.studies.sampling import unequal_chances_note
from spanjury.orchestration.wiring.toml_lines import toml_lines


class FittedCascade(NamedTuple):
    """Findings on a cascade, with the panel and the aspect of its file.

    Seats of the panel that never judge the aspect are `silent`, and asked first.
    """

    findings: CascadeFindings
    panel: str
    seats: tuple[str, ...]
    aspect: str
    silent: tuple[str, ...] = ()


def write_fitted(path: Path, fitted: FittedCascade) -> None:
    """Write the cascade to a file for use in a panel file; raise `StoreError` if that fails."""
    findings = fitted.findings
    first, *others = findings.stages
    asked = ((*fitted.silent, *first), *others)
    stages: list[dict[str, object]] = [
        {"seats": seats, "unsure": fit.unsure, "estimates": fit.estimates, "scores": fit.scores}
        for seats, fit in zip(asked, findings.fitted, strict=False)
    ]
    values = {
        "panel": fitted.panel,
        "seats": fitted.seats,
        "aspect": fitted.aspect,
        "fitted_on": f"{findings.texts} texts, {findings.aspect}",
        "stages": [*stages, {"seats": findings.stages[-1]}],
    }
    heading = f"# Fitted to {findings.chosen.share:.0%} of the {findings.unit} of all seats."
    write_whole(path, ("\n".join([heading, *toml_lines(values)]) + "\n").encode())


def fit_panel_cascade(
    source: MarkedSource,
    *,
    aspect: str = "",
    stages: Sequence[Sequence[str]] = (),
    share: float = 0.6,
    unit: Unit = "calls",
    pricing: Pricing = NO_PRICES,
    within: str = "",
    settings: Settings = Settings(),
) -> FittedCascade:
    """Fit a cascade to a run, and measure it on held-out texts.

    Without people's scores, agreement with people is not measured. `aspect` may be empty if there
    is only one. `stages` are names of seats, which form the panel; by default all seats are asked:
    first those without calls, then one after the other, the cheapest first. The cascade may spend
    `share` of the whole panel's cost. Agreement is also measured for each value of `within`, a key
    of the rows' meta.

    Raise `ConfigError` if a seat or an aspect is invalid, or the run was a cascade, and `DataError`
    if a file cannot be read or too few texts were judged by all seats.
    """
    marked = _read(source)
    aspect, judged = _of_one_aspect(marked.texts, aspect)
    _require_whole_panel(judged)
    seats_of_texts = [{seat.judge: seat for seat in text.row.seats} for text in judged]
    priced = find_prices(
        seats_of_texts, pricing if unit == "dollars" else replace(pricing, panel=None)
    )
    costs = seat_costs(seats_of_texts, priced.by_seat)
    names, silent, stages = _order(stages, seats_of_texts, costs, aspect=aspect, unit=unit)
    kept = _judged_by_all(seats_of_texts, names)
    rows = [{name: seats_of_texts[number][name] for name in names} for number in kept]
    texts = [judged[number] for number in kept]
    studied = (
        study_text(text, of, human=text.human, within=within)
        for text, of in zip(texts, rows, strict=True)
    )
    seats = panel_seats([*studied], aspect=aspect, costs=costs)
    findings = cascade_findings(
        _staged(seats, stages, unit=unit),
        seats,
        share=share,
        unit=unit,
        people=marked.name,
        settings=settings,
        notes=[
            *_notes(marked, texts, left=len(judged) - len(kept)),
            *priced.notes,
            *(f"{name} never judges {aspect}, so it is asked first" for name in silent),
        ],
    )
    signatures = {name: unstamped(seat.signature) for name, seat in rows[0].items()}
    return FittedCascade(
        findings,
        panel=seats_digest(signatures, aggregation="mean"),
        seats=signed_seats(signatures),
        aspect=aspect_key(texts[0].row.task, aspect),
        silent=silent,
    )


def _order(
    named: Sequence[Sequence[str]],
    rows: Sequence[Seats],
    costs: Mapping[str, SeatCost],
    *,
    aspect: str,
    unit: Unit,
) -> tuple[Sequence[str], tuple[str, ...], Sequence[Sequence[str]]]:
    """Return the seats of the stages that are `named`, or of the usual ones, in their order.

    Return also the silent ones, which never judge the aspect, and the stages. Silent seats are
    asked first, and are in none of the stages. Raise `ConfigError` if a seat is invalid, or they
    are no cascade.
    """
    asked, usual = tuple(costs), usual_stages(tuple(costs.values()), unit=unit)
    all_stages = named or [[asked[number] for number in stage] for stage in usual]
    names = [name for stage in all_stages for name in stage]
    require_seats(names, rows, aspect=aspect)
    silent = tuple(
        name
        for name in names
        if not (costs[name].calls or costs[name].tokens)
        and {of[name].outcome for of in rows if name in of} == {Outcome.ABSTAINED}
    )
    stages = [[name for name in stage if name not in silent] for stage in all_stages]
    stages = list(filter(None, stages))
    _check(stages, unit=unit, is_named=bool(named))
    return names, silent, stages


def _require_whole_panel(texts: Sequence[JudgedText]) -> None:
    """Raise `ConfigError` unless each score is the mean of all seats."""
    if any(text.row.aggregation not in {"mean", BY_PROBABILITY} for text in texts):
        raise ConfigError("a cascade is fitted to the mean of the seats: rescore the run with it")
    if any(text.row.unasked for text in texts):
        raise ConfigError(
            "a cascade judged this run, so not all seats judged all texts: use a run in which all "
            "seats were asked"
        )


def _read(source: MarkedSource) -> MarkedTexts:
    """Return all texts, with people's scores if there are any."""
    is_named = source.human is not None or source.sample is not None
    if not is_named and not MarkedRun(source.first, data=source.data).marks.exists():
        return read_unmarked(source.first, data=source.data, columns=source.columns)
    return read_marked(source)


def _notes(marked: MarkedTexts, texts: Sequence[JudgedText], *, left: int) -> Iterator[str]:
    yield from marked.notes()
    if unequal := unequal_chances_note([text.chance for text in texts if text.is_marked]):
        yield unequal
    if left:
        yield f"{left} texts were not judged by all seats and are excluded"


def _of_one_aspect(texts: Sequence[JudgedText], asked: str) -> tuple[str, Sequence[JudgedText]]:
    names = list(dict.fromkeys(text.row.aspect for text in texts))
    if asked and asked not in names:
        raise ConfigError(f"{asked} was not judged; judged: {', '.join(names) or 'nothing'}")
    if not asked and len(names) != 1:
        raise ConfigError(f"name one aspect by --aspect; judged: {', '.join(names) or 'nothing'}")
    aspect = asked or names[0]
    return aspect, [text for text in texts if text.row.aspect == aspect]


def _check(stages: Sequence[Sequence[str]], *, unit: Unit, is_named: bool) -> None:
    names = [name for stage in stages for name in stage]
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise ConfigError(f"a seat is asked once, but --stage names {', '.join(twice)} twice")
    if len(stages) > 1:
        return
    if is_named or not names:
        raise ConfigError(
            f"a cascade needs two stages with scores, but there is {' + '.join(names) or 'none'}: "
            "name each stage with its own --stage SEAT,SEAT"
        )
    raise ConfigError(
        f"a cascade saves nothing: no seat uses {unit}, so all of them ({', '.join(names)}) are "
        "one stage. Take a run with a seat that does, or count another unit with --cost; "
        "--stage SEAT,SEAT names a stage, once for each"
    )


def _judged_by_all(seats_of_texts: Sequence[Seats], names: Sequence[str]) -> list[int]:
    """Return the numbers of the texts that all seats judged; raise `DataError` if too few."""
    kept = []
    for number, seats in enumerate(seats_of_texts):
        asked = [seats[name] for name in names if name in seats]
        if len(asked) == len(names) and any(report.score is not None for report in asked):
            kept.append(number)
    if len(kept) < FEWEST_FITTED:
        raise DataError(
            f"only {counted(len(kept), 'text was', 'texts were')} judged by all seats "
            f"({', '.join(names)}), and fitting a cascade needs {FEWEST_FITTED}: judge more texts "
            "with all seats, without a cascade"
        )
    return kept


def _staged(seats: PanelSeats, stages: Sequence[Sequence[str]], *, unit: Unit) -> StagedTexts:
    names = [name for stage in stages for name in stage]
    if silent := [name for name in names if name not in seats.names]:
        raise ConfigError(
            f"{', '.join(silent)} gave no score of {seats.aspect}: leave it out by --stage"
        )
    numbers = tuple(tuple(map(seats.names.index, stage)) for stage in stages)
    texts = staged(seats, numbers, unit=unit)
    counted = zip(seats.names, seats.costs, strict=True)
    if unpriced := [name for name, cost in counted if np.isnan(cost.counted_in(unit))]:
        raise ConfigError(
            f"no price of {', '.join(unpriced)} is known: name it by --price"
            " SEAT=PROMPT/COMPLETION or --panel FILE, or another unit by --cost"
        )
    if not texts.costs[1:].any():
        raise ConfigError(f"no seat behind the first stage uses {unit}, so a cascade saves nothing")
    return texts
