"""QAGS summaries with people's ratings, and the errors that four real judges reported."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from spanjury.judges.core import Aspect, ErrorSpan, Report, Scale, SeatReport, Segment, Verdict
from spanjury.judges.llm.parse import parse
from spanjury.judges.text import Locator
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator

__all__ = ["CNN_DM", "CORPORA", "FILE", "Floats", "Judged", "humans", "read"]

FILE = Path(__file__).parents[2] / "shared/data/judgements/qags_four_judges.jsonl.gz"
CNN_DM = 235
CORPORA = {"CNN/DM": slice(CNN_DM), "XSum": slice(CNN_DM, None)}
SCALE = Scale()

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of the file."""

    id: str
    input: dict[str, str]
    output: str
    human: float
    raw: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A summary with people's rating, the judges' reports, and their spans merged to one list."""

    human: float
    article: str
    verdict: Verdict
    merged: tuple[ErrorSpan, ...]

    @property
    def labels(self) -> list[float]:
        """The judges' own scores."""
        reports = (seat.report for seat in self.verdict.seats)
        return [report.score for report in reports if report.score is not None]


async def read(path: Path, aspect: Aspect) -> list[Judged]:
    """Read the file, locate the judges' quotes, and merge the spans."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [TypeAdapter(Row).validate_json(line) for line in lines]
    return [await _judged(row, aspect) for row in rows]


async def _judged(row: Row, aspect: Aspect) -> Judged:
    segment = Segment(segment_id=row.id, output=row.output, inputs=row.input)
    seats = tuple(
        SeatReport(seat=name, signature="", report=_report(reply, row.output), seconds=0.0)
        for name, reply in row.raw.items()
    )
    verdict = Verdict(segment=segment, aspect=aspect, seats=seats)
    merged = await RuleConsolidator().consolidate(verdict)
    article = "".join(row.input.values())
    return Judged(human=row.human, article=article, verdict=verdict, merged=merged.spans)


def _report(reply: str, output: str) -> Report:
    parsed, locator = parse(reply, scale=SCALE), Locator(output)
    spans = tuple(
        locator.span(quote=error.quote, explanation=error.explanation, severity=error.severity)
        for error in parsed.errors
    )
    return Report(score=parsed.score, spans=spans)


def humans(rows: Sequence[Judged]) -> Floats:
    """Return people's ratings."""
    return np.array([row.human for row in rows])
