"""Training data from a panel: what its seats agree on becomes the reply that is due.

Source: Kartáč et al. (2025), OpeNLGauge, sections 4 and 5.1. The panel sets outlier seats
aside before it consolidates; its score keeps them.
"""

from collections import Counter
from dataclasses import dataclass, field, replace

from spanjury.judges.core import PanelReport, Report, Result
from spanjury.judges.llm.short_prompt import gravest
from spanjury.judges.scoring import names_its_errors
from spanjury.orchestration.engine.aggregation import far_from_all
from spanjury.orchestration.studies.distillation.examples import Example
from spanjury.orchestration.studies.distillation.lesson import Lesson
from spanjury.orchestration.studies.distillation.rows import Row

__all__ = ["Outliers", "Taught", "taught"]


@dataclass(slots=True)
class Outliers:
    """``(task, seat)`` -> how many scores it gave, and how many of them are outliers."""

    scores: Counter[tuple[str, str]] = field(default_factory=Counter)
    far: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, task: str, report: PanelReport) -> None:
        """Count the seats of one report in."""
        scored = [(s.seat, s.report.score) for s in report.seats if s.report.score is not None]
        far = far_from_all([score for _, score in scored])
        for (seat, _), is_far in zip(scored, far, strict=True):
            self.scores[task, seat] += 1
            self.far[task, seat] += is_far


@dataclass(frozen=True, slots=True, kw_only=True)
class Taught:
    """What became of one result: an example, or the reason why there is none."""

    example: Example | None = None
    left_out: str = ""


def taught(row: Row, result: Result, lesson: Lesson) -> Taught:
    """Make an example of what a panel says of `row`, or say why it is of no use.

    A report that does not say why its score is not the best teaches to make scores up; a
    quotation that the text does not contain teaches to misquote, and is left out.
    """
    told = result.report
    if told.score is None:
        return Taught(left_out=f"the panel gives no score: {told.outcome.value}")
    spans = gravest([replace(span, found_by=()) for span in told.spans if not span.hallucinated])
    report = Report(score=told.score, spans=spans)
    if not names_its_errors(report, aspect=result.aspect):
        return Taught(left_out="the score is not the best, and no error in the text says why")
    return Taught(example=lesson.example(row, result.aspect, report=report, panel=told.signature))
