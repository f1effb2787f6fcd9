"""A calibration in use: is it of what a run judges, and are the texts like those it was made on."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from spanjury.judges.core import ConfigError
from spanjury.orchestration.engine.calibration import AspectCalibration, Calibration, aspect_key
from spanjury.orchestration.engine.thresholds import Signal
from spanjury.orchestration.report import figure
from spanjury.orchestration.wiring.calibrations import read_calibration
from spanjury.orchestration.wiring.read_results import ReportedRow, read_reported_rows

_LEAST = 20
"""Texts of a run below which nothing is said of how far it is."""


def check_aspects(file: Path, judged: Iterable[tuple[str, str]]) -> None:
    """Raise `ConfigError` if the calibration in `file` is of no aspect that is judged.

    Parameters
    ----------
    judged
        Task and name of each aspect.
    """
    calibration = read_calibration(file)
    names = [aspect_key(*one) for one in judged]
    if names and not any(name in calibration.aspects for name in names):
        raise ConfigError(
            f"the calibration {file} is of {', '.join(calibration.aspects)}, and"
            f" {', '.join(names)} is judged"
        )


def notices(file: Path, results: Path) -> Iterator[str]:
    """Say which aspects of a run are not calibrated, and which are far from the calibration's data.

    Raise `ConfigError` or `DataError` if a file cannot be read.
    """
    calibration = read_calibration(file)
    by_aspect: dict[tuple[str, str], list[ReportedRow]] = {}
    for row in read_reported_rows(results):
        by_aspect.setdefault((row.task, row.aspect), []).append(row)
    for (task, aspect), rows in by_aspect.items():
        yield from _of_aspect(calibration, rows, task=task, aspect=aspect)


def _of_aspect(
    calibration: Calibration, rows: list[ReportedRow], *, task: str, aspect: str
) -> Iterator[str]:
    about = calibration.on(task, aspect)
    if about is None:
        yield f"{aspect} is not calibrated: its scores and decisions are the judges' own"
        return
    said = list(_said(rows, about.signal))
    if len(said) < _LEAST:
        return
    if about.is_far(said):
        yield _far(about, said, aspect=aspect)


def _said(rows: Iterable[ReportedRow], signal: Signal) -> Iterator[float]:
    values = (row.error_probability if signal == "probability" else row.score for row in rows)
    return (value for value in values if value is not None)


def _far(about: AspectCalibration, said: list[float], *, aspect: str) -> str:
    what = "probability of an error" if about.signal == "probability" else "score"
    middle = sorted(said)[len(said) // 2]
    usual = about.seen[len(about.seen) // 2]
    promise = about.thresholds is not None and about.thresholds.promised is not None
    return (
        f"{aspect}: these texts are far from those of the calibration ({about.made_on}): the"
        f" median {what} is {figure(middle)}, there {figure(usual)}"
        f" (distance {figure(about.distance(said))});"
        f" {'its promise of false alarms' if promise else 'its map'} may not hold here, so mark"
        " some of these"
    )
