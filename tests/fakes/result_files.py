"""Results of a panel, and files of them as a run writes them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fakes.judges import ASPECT, TASK

from spanjury.adapters.files.results.results import ResultWriter
from spanjury.judges.core import (
    ErrorSpan,
    Outcome,
    PanelReport,
    Report,
    Result,
    SeatReport,
    Segment,
    Usage,
)

USAGE = Usage(calls=1, prompt=20, cached=10, completion=5, reasoning=2)


def result(
    name: str = "a",
    *,
    system: str = "bart",
    aspect: str = "consistency",
    panel: str = "panel|1",
    scores: Sequence[float | None] = (3,),
    spans: Sequence[ErrorSpan] = (),
    reason: str = "no score line",
) -> Result:
    """Return the result of seats called s1, s2, …; the panel scores as the first of them."""
    seats = tuple(
        SeatReport(seat=f"s{number}", signature="s", seconds=0.5, report=_report(score, reason))
        for number, score in enumerate(scores, start=1)
    )
    report = seats[0].report
    return Result(
        segment=Segment(segment_id=name, output="", system=system),
        aspect=replace(ASPECT, name=aspect, task=TASK),
        report=PanelReport(
            outcome=report.outcome,
            score=report.score,
            reason=report.reason,
            spans=tuple(spans),
            signature=panel,
            seats=seats,
        ),
    )


def _report(score: float | None, reason: str) -> Report:
    if score is None:
        return Report(outcome=Outcome.UNPARSEABLE, reason=reason, usage=USAGE)
    return Report(score=score, usage=USAGE)


def write_results(path: Path, results: Iterable[Result]) -> Path:
    """Write a results file, and the folder that it lies in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ResultWriter(path) as writer:
        for result in results:
            writer.append(result)
    return path
