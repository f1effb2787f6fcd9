"""Check whether a run's aspects and texts fit its calibration and its cascade."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from spanjury.orchestration.engine.calibration import AspectCalibration, Calibration
from spanjury.orchestration.engine.made_for import aspect_key
from spanjury.orchestration.report import figure
from spanjury.orchestration.wiring.calibrations import read_calibration
from spanjury.orchestration.wiring.cascades import CascadeConfig
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.read_results import ReportedRow, read_reported_rows

_LEAST = 20
"""Fewest texts of a run for which the distance to the calibration's texts is reported."""


def notices(panel: PanelConfig, results: Path) -> Iterator[str]:
    """Yield warnings about a run whose panel has a calibration or a cascade.

    They name aspects that are not calibrated or not judged in stages, texts that differ from the
    calibration's, and scores that come from different seats. Raise `ConfigError` or `DataError` if
    a file cannot be read.
    """
    if panel.calibration is not None:
        calibration = read_calibration(panel.calibration)
        by_aspect: dict[tuple[str, str], list[ReportedRow]] = {}
        for row in read_reported_rows(results):
            by_aspect.setdefault((row.task, row.aspect), []).append(row)
        for (task, aspect), rows in by_aspect.items():
            yield from _of_aspect(calibration, rows, task=task, aspect=aspect)
    if panel.cascade is not None:
        yield from _of_cascade(panel.cascade, results)


def _of_cascade(cascade: CascadeConfig, results: Path) -> Iterator[str]:
    judged, short = Counter[str](), 0
    for row in read_reported_rows(results):
        judged[aspect_key(row.task, row.aspect)] += 1
        short += row.score is not None and row.unasked is not None and row.unasked.score is None
    for name in judged:
        if cascade.aspect not in {"", name}:
            yield f"{name} was put to all seats: the cascade was fitted to {cascade.aspect}"
    if short:
        yield (
            f"{short} of {judged.total()} scores come only from the seats that were asked, so the "
            "scores are not comparable: fit the cascade with 'spanjury panel cascade' to have "
            "every score stand for the whole panel"
        )


def _of_aspect(
    calibration: Calibration, rows: Sequence[ReportedRow], *, task: str, aspect: str
) -> Iterator[str]:
    about = calibration.on(task, aspect)
    if about is None:
        yield f"{aspect} is not calibrated: its scores and decisions are the judges' own"
        return
    is_of_errors = about.signal == "probability"
    values = (row.error_probability if is_of_errors else row.score for row in rows)
    signals = [value for value in values if value is not None]
    if len(signals) >= _LEAST and about.is_far(signals):
        yield _far(about, signals, aspect=aspect)


def _far(about: AspectCalibration, signals: list[float], *, aspect: str) -> str:
    what = "probability of an error" if about.signal == "probability" else "score"
    middle = sorted(signals)[len(signals) // 2]
    usual = about.seen[len(about.seen) // 2]
    promise = about.thresholds is not None and about.thresholds.promised is not None
    return (
        f"{aspect}: these texts differ from those of the calibration ({about.made_on}): the "
        f"median {what} is {figure(middle)} here and {figure(usual)} there (distance "
        f"{figure(about.distance(signals))}); "
        f"{'its promise of false alarms' if promise else 'its map'} may not hold here, so mark "
        "some of these"
    )
