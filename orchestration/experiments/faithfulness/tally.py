"""Tally: how far an exam is, told report by report and rescoring by rescoring."""

from collections.abc import Callable
from dataclasses import dataclass

from spanjury.judges.core import PanelReport, Report, Result, SeatReport, Verdict, stamped
from spanjury.orchestration.experiments.faithfulness.changes import Change, Fate
from spanjury.orchestration.experiments.faithfulness.trials import Case

__all__ = ["Tally"]


@dataclass(slots=True, kw_only=True)
class Tally:
    """Tells what judges have said, and how often they will have been asked in the end.

    Parameters
    ----------
    show
        Is told of each report, and of each score of a changed list.
    expect
        Is told how many of both there will be, each time that this is known better: a list
        that cannot be changed is no question.
    total
        How many there will be at most.
    """

    show: Callable[[Result], None]
    expect: Callable[[int], None]
    total: int

    def __post_init__(self) -> None:
        self.expect(self.total)

    def heard(self, verdict: Verdict) -> None:
        """Count what the seats said of a text as one result: nothing is merged."""
        first = verdict.seats[0].report
        report = PanelReport(
            outcome=first.outcome,
            score=first.score,
            reason=first.reason,
            spans=first.spans,
            seats=verdict.seats,
        )
        self.show(Result(segment=verdict.segment, aspect=verdict.aspect, report=report))

    def noted(self, case: Case, row: Change) -> None:
        """Count a score that was asked for, or one that is not to be asked for after all."""
        if row.fate is Fate.RESCORED:
            self.show(_result(case, row))
        else:
            self.total -= 1
            self.expect(self.total)


def _result(case: Case, row: Change) -> Result:
    """Return what the judge said of a changed list; its spans are the list's, not its own."""
    report = Report(outcome=row.outcome, score=row.after, reason=row.reason)
    seat = SeatReport(
        seat=case.name, signature=stamped(case.judge.signature), report=report, seconds=0.0
    )
    told = PanelReport(outcome=row.outcome, score=row.after, reason=row.reason, seats=(seat,))
    return Result(segment=case.segment, aspect=case.aspect, report=told)
