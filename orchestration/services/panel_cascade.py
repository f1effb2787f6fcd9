"""Cascades fitted to a run in which all seats were asked, and the file that a panel names."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from spanjury.judges.core import ConfigError, DataError, Report, Scale, unstamped
from spanjury.orchestration.engine.cascade import estimate_of, place_on
from spanjury.orchestration.engine.made_for import aspect_key, seats_digest, signed_seats
from spanjury.orchestration.report.files import write_report, write_whole
from spanjury.orchestration.services.marked_texts import JudgedText, read_marked
from spanjury.orchestration.services.marks.marked_run import MarkedRun
from spanjury.orchestration.services.view.aspects import KnownAspects
from spanjury.orchestration.services.view.sources import find_runs
from spanjury.orchestration.studies.panel_study.agreement import Settings
from spanjury.orchestration.studies.panel_study.cascade_findings import (
    FEWEST_TEXTS,
    CascadeFindings,
    cascade_findings,
    cascade_json,
)
from spanjury.orchestration.studies.panel_study.cascade_tables import cascade_report
from spanjury.orchestration.studies.panel_study.cascades import StagedTexts
from spanjury.orchestration.studies.panel_study.seats import (
    PanelSeats,
    StudyText,
    panel_seats,
)
from spanjury.orchestration.wiring.read_results import ReportedSeat, read_reported_rows

Unit = Literal["calls", "tokens"]

_CALLS: Unit = "calls"


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeJob:
    """A cascade to fit.

    Parameters
    ----------
    results
        A run, or results, of a panel all of whose seats were asked.
    human, data, columns
        As in `read_marked`; without `human` and marks, agreement with people is not measured.
    aspect
        The one whose rows are taken; empty where there is one only.
    stages
        Names of seats, stage by stage: these are the panel. Empty for all seats: first those that
        take no calls, then one after the other, the cheapest first.
    share
        Of the whole panel's cost that the cascade may take.
    unit
        Of the cost.
    within
        Key of the rows' meta: agreement is taken for each of its values, too; empty for none.
    """

    results: Path
    human: Path | None = None
    data: Path | None = None
    columns: tuple[str, ...] = ()
    aspect: str = ""
    stages: tuple[tuple[str, ...], ...] = ()
    share: float = 0.6
    unit: Unit = _CALLS
    within: str = ""
    settings: Settings = Settings()


class FittedCascade(NamedTuple):
    """Findings on a cascade, with the panel and the aspect that its file is for."""

    findings: CascadeFindings
    panel: str
    seats: tuple[str, ...]
    aspect: str


def fit_panel_cascade(job: CascadeJob) -> FittedCascade:
    """Fit a cascade to a run, and measure it on held-out texts.

    Raise `ConfigError` if a seat or an aspect is not as it must be, or the run was a cascade, and
    `DataError` if a file cannot be read or too few texts were judged by all seats.
    """
    judged, people = _read(job)
    aspect, judged = _of_one_aspect(judged, job.aspect)
    if any(one.row.aggregation != "mean" for one in judged):
        raise ConfigError("a cascade is fitted to the mean of the seats: rescore the run by it")
    if any(one.row.unasked for one in judged):
        raise ConfigError(
            "the run was judged by a cascade, which chose the texts that all seats were asked of: "
            "fit to a run in which all were asked"
        )
    said = [{seat.judge: seat for seat in one.row.seats} for one in judged]
    stages = job.stages or _usual_stages(said, unit=job.unit)
    names = [name for stage in stages for name in stage]
    _check(stages, said, aspect=aspect)
    kept = [number for number, of in enumerate(said) if _is_whole(of, names)]
    if len(kept) < FEWEST_TEXTS:
        raise DataError(
            f"all of {', '.join(names)} judged {len(kept)} texts, and a cascade is fitted to "
            f"{FEWEST_TEXTS} or more: judge texts by all seats, without a cascade"
        )
    texts = [judged[number] for number in kept]
    rows = [{name: said[number][name] for name in names} for number in kept]
    left = len(judged) - len(kept)
    findings = cascade_findings(
        _staged(texts, rows, stages, unit=job.unit),
        _seats(texts, rows, aspect=aspect, within=job.within),
        share=job.share,
        unit=job.unit,
        people=people,
        settings=job.settings,
        notes=[f"{left} texts were not judged by all seats, and are left out"] if left else [],
    )
    signatures = {name: unstamped(rows[0][name].signature) for name in names}
    return FittedCascade(
        findings,
        panel=seats_digest(signatures, aggregation="mean"),
        seats=signed_seats(signatures),
        aspect=aspect_key(texts[0].row.task, aspect),
    )


def write_fitted(path: Path, fitted: FittedCascade) -> None:
    """Write the cascade for a panel file to name; raise `StoreError` if that fails."""
    findings = fitted.findings
    lines = [
        f"# Fitted to {findings.chosen.share:.0%} of the {findings.unit} of all seats.",
        f'panel = "{fitted.panel}"',
        f"seats = {_listed(map(_quoted, fitted.seats))}",
        f"aspect = {_quoted(fitted.aspect)}",
        f"fitted_on = {_quoted(f'{findings.texts} texts, {findings.aspect}')}",
    ]
    for stage, fit in zip(findings.stages, findings.fitted, strict=False):
        lines += ["", "[[stages]]", f"seats = {_listed(map(_quoted, stage))}"]
        lines.append(f"unsure = {_listed(map(repr, fit.unsure))}")
        lines.append(f"estimates = {_listed(map(repr, fit.estimates))}")
        lines.append(f"scores = {_listed(map(repr, fit.scores))}")
    lines += ["", "[[stages]]", f"seats = {_listed(map(_quoted, findings.stages[-1]))}"]
    write_whole(path, ("\n".join(lines) + "\n").encode())


def write_cascade(folder: Path, findings: CascadeFindings) -> list[Path]:
    """Write ``cascade.md``, ``.html`` and ``.json`` into `folder`; return their paths.

    Raise `StoreError` if something cannot be written.
    """
    report = cascade_report(findings)
    return write_report(
        folder, report, data=cascade_json(findings), page="cascade", values="cascade"
    )


def _read(job: CascadeJob) -> tuple[Sequence[JudgedText], str]:
    """Return all texts, and where people's scores are from; empty without any."""
    if job.human is None and not MarkedRun(job.results, data=job.data).marks.exists():
        (run,) = find_runs([job.results], data=job.data)
        known = KnownAspects(run.aspects_files)
        texts = []
        for row in read_reported_rows(run.results):
            aspect = known.find(row.task, row.aspect)
            scale = aspect.scale if aspect else Scale()
            texts.append(JudgedText(row=row, scale=scale, source=row.id))
        return texts, ""
    marked = read_marked(job.results, human=job.human, data=job.data, columns=job.columns)
    return marked.texts, marked.name


def _of_one_aspect(texts: Sequence[JudgedText], asked: str) -> tuple[str, Sequence[JudgedText]]:
    names = list(dict.fromkeys(one.row.aspect for one in texts))
    if asked and asked not in names:
        raise ConfigError(f"{asked} was not judged; judged: {', '.join(names) or 'nothing'}")
    if not asked and len(names) != 1:
        raise ConfigError(f"name one aspect by --aspect; judged: {', '.join(names) or 'nothing'}")
    aspect = asked or names[0]
    return aspect, [one for one in texts if one.row.aspect == aspect]


def _usual_stages(
    rows: Sequence[Mapping[str, ReportedSeat]], *, unit: Unit
) -> tuple[tuple[str, ...], ...]:
    """Return the seats that take nothing, then each other, the cheapest first."""
    names = list(dict.fromkeys(name for of in rows for name in of))
    costs = {name: _cost(rows, name, unit=unit) for name in names}
    tokens = {name: _cost(rows, name, unit="tokens") for name in names}
    free = tuple(name for name in names if not costs[name])
    paid = sorted((name for name in names if costs[name]), key=lambda name: tokens[name])
    return (*((free,) if free else ()), *((name,) for name in paid))


def _check(
    stages: Sequence[Sequence[str]], rows: Sequence[Mapping[str, ReportedSeat]], *, aspect: str
) -> None:
    known = dict.fromkeys(name for of in rows for name in of)
    names = [name for stage in stages for name in stage]
    if strange := [name for name in names if name not in known]:
        raise ConfigError(
            f"no seat {', '.join(strange)} judged {aspect}; there are {', '.join(known)}"
        )
    if len(names) != len(set(names)):
        raise ConfigError(f"a seat is in two stages: {', '.join(names)}")
    if len(stages) < 2:  # noqa: PLR2004
        raise ConfigError(
            f"a cascade needs two stages, and there is {', '.join(names)} alone: name them by "
            "--stage, once for each"
        )
    for name in names:
        if all(of[name].score is None for of in rows if name in of):
            raise ConfigError(f"{name} gave no score of {aspect}: leave it out by --stage")


def _is_whole(seats: Mapping[str, ReportedSeat], names: Iterable[str]) -> bool:
    """Say whether all seats were asked, and one of them gave a score."""
    asked = [seats.get(name) for name in names]
    return None not in asked and any(one and one.score is not None for one in asked)


def _cost(rows: Iterable[Mapping[str, ReportedSeat]], name: str, *, unit: Unit) -> float:
    usages = [of[name].usage for of in rows if name in of]
    taken = (one.calls if unit == "calls" else one.prompt + one.completion for one in usages)
    return sum(taken) / len(usages)


def _staged(
    texts: Sequence[JudgedText],
    rows: Sequence[Mapping[str, ReportedSeat]],
    stages: Sequence[Sequence[str]],
    *,
    unit: Unit,
) -> StagedTexts:
    names = [name for stage in stages for name in stage]
    both = [
        [_read_seat(of[name], one.scale) for one, of in zip(texts, rows, strict=True)]
        for name in names
    ]
    table = np.array(both, dtype=np.float64)
    costs = np.array([sum(_cost(rows, name, unit=unit) for name in stage) for stage in stages])
    if not costs[1:].any():
        raise ConfigError(f"no seat behind the first stage takes {unit}: there is nothing to save")
    return StagedTexts(
        stages=tuple(tuple(map(names.index, stage)) for stage in stages),
        estimates=table[..., 0],
        places=table[..., 1],
        costs=costs,
    )


def _read_seat(seat: ReportedSeat, scale: Scale) -> tuple[float, float]:
    """Return the estimate of a report and the place of its score; NaN without a score."""
    if seat.score is None:
        return np.nan, np.nan
    report = Report(score=seat.score, error_probability=seat.error_probability)
    estimate = estimate_of(report, scale)
    assert estimate is not None
    return estimate, place_on(scale, seat.score)


def _seats(
    texts: Sequence[JudgedText],
    rows: Sequence[Mapping[str, ReportedSeat]],
    *,
    aspect: str,
    within: str,
) -> PanelSeats:
    study = [
        StudyText(
            segment_id=one.row.id,
            system=one.row.system,
            source=one.source,
            group=_group(one, within),
            human=np.nan if one.human is None else one.human,
            seats={name: seat.score for name, seat in of.items()},
        )
        for one, of in zip(texts, rows, strict=True)
    ]
    return panel_seats(study, aspect=aspect, costs={}, models={})


def _group(one: JudgedText, within: str) -> str:
    value = one.segment.meta.get(within) if one.segment and within else ""
    if value is None:
        raise ConfigError(f"--within {within}: the row {one.row.id!r} has no such key in its meta")
    return str(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _listed(values: Iterable[str]) -> str:
    return f"[{', '.join(values)}]"
