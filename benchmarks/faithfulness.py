"""Judges' own scores compared with those computed from their spans, in the faithfulness exam.

Run as ``python -m benchmarks.faithfulness``. The judges' own scores are the recorded labels of the
paper's authors (QAGS). The computed ones come from four judges' error lists on the same summaries,
each changed as in the paper and scored by the default map of ``from-spans``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import anyio
from benchmarks.qags_judged import CNN_DM, FILE, Judged, read
from rich.console import Console
from rich.table import Table

from spanjury.judges.core import Report, SeatReport
from spanjury.judges.scoring import FromSpans
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.services.exams.faithfulness_record import read_changes
from spanjury.orchestration.studies.faithfulness.exam import Case, Condition, trials
from spanjury.orchestration.studies.faithfulness.findings import Finding, findings_of
from spanjury.orchestration.studies.faithfulness.outcomes import Change
from spanjury.perturbations.explanation.paper import paper_perturbations

LABELS = FILE.with_name("label_pairs.jsonl.gz")
ASPECT = Catalogue.load().aspect("summarization", "consistency")
SHOWN = ("severity-1", "severity+1", "severity-2", "severity+2", "critical-error")
CONDITIONS = tuple(
    Condition(
        name=perturbation.name, perturbation=perturbation.perturbation, options=perturbation.options
    )
    for perturbation in paper_perturbations()
    if perturbation.name in SHOWN
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A judge that returns a recorded report."""

    report: Report
    signature: str = "recorded"

    async def assess(self, segment: object, aspect: object) -> Report:
        """Return the recorded report for any segment and aspect."""
        del segment, aspect
        return self.report


async def computed(rows: Iterable[Judged]) -> list[Change]:
    """Change every judge's list on every summary, and score it by its spans."""
    changes: list[Change] = []
    for number, judged in enumerate(rows):
        dataset = "CNN/DM" if number < CNN_DM else "XSum"
        for seat in judged.verdict.seats:
            case = await case_of(judged, seat, dataset=dataset)
            changes += await trials(case, CONDITIONS, seed=1, stop_token=StopToken())
    return changes


async def case_of(judged: Judged, seat: SeatReport, *, dataset: str) -> Case:
    """Return a judge's list with the score computed from its spans."""
    segment = replace(judged.verdict.segment, task="summarization")
    judge = FromSpans(judge=Recorded(report=seat.report))
    report = await judge.assess(segment, ASPECT)
    return Case(
        judge=judge,
        name=f"{seat.seat}, from spans",
        dataset=dataset,
        segment=segment,
        aspect=ASPECT,
        report=report,
    )


def findings_by_judge(changes: Iterable[Change]) -> Iterator[tuple[str, Finding]]:
    """Yield each judge's findings, pooled over the corpora."""
    whole = [replace(change, dataset="QAGS", aspect="consistency") for change in changes]
    for finding in findings_of(whole, draws=100).findings:
        if finding.condition in SHOWN:
            yield finding.judge, finding


def main() -> None:
    """Print the table."""
    own = [change for change in read_changes(LABELS) if "qags" in change.dataset.lower()]
    scored = anyio.run(computed, anyio.run(read, Path(FILE), ASPECT))
    table = Table()
    for heading in ("judge", "change", "reports with room", "toward", "with room", "against"):
        table.add_column(heading)
    for judge, finding in (*findings_by_judge(own), *findings_by_judge(scored)):
        cells = [finding.condition]
        room, other = finding.with_room, finding.with_room_against
        for rates, share in ((room, finding.toward(room)), (other, finding.against(other))):
            cells += [str(rates.scored), f"{share:.3f}"]
        table.add_row(judge, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
