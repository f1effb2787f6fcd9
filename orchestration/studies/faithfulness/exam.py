"""The exam: have reports made, change their lists, and see whether the scores follow."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    PanelReport,
    Report,
    Rescorable,
    Result,
    SeatReport,
    Segment,
    Verdict,
    stamped,
)
from spanjury.orchestration.engine.batch import each
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.faithfulness.changes import Change
from spanjury.orchestration.studies.faithfulness.trials import (
    Case,
    Condition,
    repeat,
    trials,
)
from spanjury.orchestration.studies.generation import Generation, TextGenerator, open_generation
from spanjury.orchestration.studies.judging import ExamRun, require_distinct

_CONTROLS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The texts that judges are examined on, and the changes of their lists.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.

    Parameters
    ----------
    segments
        Texts under distinct ids, one task.
    """

    dataset: str
    segments: tuple[Segment, ...]
    aspects: tuple[Aspect, ...]
    conditions: tuple[Condition, ...]
    seed: int = 1

    def __post_init__(self) -> None:
        require_distinct(
            texts=[segment.segment_id for segment in self.segments],
            aspects=[aspect.name for aspect in self.aspects],
            perturbations=[condition.name for condition in self.conditions],
        )

    @property
    def pairs(self) -> list[tuple[Segment, Aspect]]:
        """Every text with every aspect."""
        return [(segment, aspect) for segment in self.segments for aspect in self.aspects]

    def questions(self, *, seats: int) -> int:
        """Return how many results there are at most: a report counts once for all seats.

        Every seat is asked for the score of each changed list and, twice, of the unchanged one.
        """
        return len(self.pairs) * (1 + seats * (len(self.conditions) + _CONTROLS))


async def examine(
    exam: Exam, run: ExamRun, *, generator: TextGenerator | None = None
) -> list[Change]:
    """Examine every seat of a panel by itself.

    Parameters
    ----------
    exam
        The questions.
    run
        Opens the panel once, and under another draw for the repeat of the control.
    generator
        Writes explanations where a model can be asked; None to have all worded by rule. Lists
        that it does not manage are skipped.

    Returns
    -------
    list of Change
        Seat by seat for each text and aspect: the control, the conditions, the repeat.

    Raises
    ------
    ConfigError
        If a judge cannot say which score follows from a list; before any is asked.
    PerturbationError
        If a rule fails.
    PermanentModelError
        If the generator cannot be asked, as by a wrong key.
    ModelError
        If it answers nothing at all.
    RunStoppedError
        If the stop token came before the end.
    """
    numbers = range(len(exam.pairs))
    opened: AbstractAsyncContextManager[Generation | None]
    opened = nullcontext() if generator is None else open_generation(generator)
    async with run.open_panel("") as panel, opened as generation:
        session = _Session(
            exam=exam,
            judges=_rescorable(panel),
            stop_token=run.stop_token,
            progress=_Progress(
                show=run.record, expect=run.expect, total=exam.questions(seats=len(panel.seats))
            ),
            generation=generation,
        )
        examine_pair = partial(session.examine, panel)
        await each(numbers, examine_pair, workers=run.workers, stop_token=run.stop_token)
    async with run.open_panel("control-repeat") as panel:
        again = partial(session.ask_again, _rescorable(panel))
        await each(numbers, again, workers=run.workers, stop_token=run.stop_token)
    return [row for number in numbers for rows in session.rows[number] for row in rows]


@dataclass(slots=True, kw_only=True)
class _Progress:
    """The results so far, and how many there will be."""

    show: Callable[[Result], None]
    expect: Callable[[int], None]
    total: int

    def __post_init__(self) -> None:
        self.expect(self.total)

    def count_verdict(self, verdict: Verdict) -> None:
        """Count the reports of all seats on a text as one result: nothing is merged."""
        first = verdict.seats[0].report
        report = PanelReport(
            outcome=first.outcome,
            score=first.score,
            reason=first.reason,
            spans=first.spans,
            seats=verdict.seats,
        )
        self.show(Result(segment=verdict.segment, aspect=verdict.aspect, report=report))

    def count_change(self, case: Case, row: Change) -> None:
        """Count a score that was asked for, or one that is not to be asked for after all."""
        if row.is_rescored:
            self.show(_result(case, row))
        else:
            self.total -= 1
            self.expect(self.total)


def _result(case: Case, row: Change) -> Result:
    """Return the score of a changed list as a result; the spans are the list's, not its own."""
    report = Report(outcome=row.outcome, score=row.after, reason=row.reason)
    seat = SeatReport(
        seat=case.name, signature=stamped(case.judge.signature), report=report, seconds=0.0
    )
    merged = PanelReport(outcome=row.outcome, score=row.after, reason=row.reason, seats=(seat,))
    return Result(segment=case.segment, aspect=case.aspect, report=merged)


@dataclass(slots=True, kw_only=True)
class _Session:
    """An exam under way, pair of text and aspect by pair."""

    exam: Exam
    judges: Mapping[str, Rescorable]
    stop_token: StopToken
    progress: _Progress
    generation: Generation | None
    cases: dict[int, list[Case]] = field(default_factory=dict)
    rows: dict[int, list[list[Change]]] = field(default_factory=dict)

    async def examine(self, panel: Panel, number: int) -> None:
        """Have the reports of a pair made, change their lists, and ask for the scores."""
        verdict = await panel.judge(*self.exam.pairs[number])
        self.progress.count_verdict(verdict)
        cases = _cases(verdict, self.judges, dataset=self.exam.dataset)
        self.cases[number] = cases
        self.rows[number] = [
            await trials(
                case,
                self.exam.conditions,
                seed=self.exam.seed,
                stop_token=self.stop_token,
                generation=self.generation,
                note=partial(self.progress.count_change, case),
            )
            for case in cases
        ]

    async def ask_again(self, judges: Mapping[str, Rescorable], number: int) -> None:
        """Ask for the scores of the unchanged lists once more."""
        for rows, case in zip(self.rows[number], self.cases[number], strict=True):
            rows.append(await repeat(replace(case, judge=judges[case.name])))
            self.progress.count_change(case, rows[-1])


def _rescorable(panel: Panel) -> dict[str, Rescorable]:
    """Return seat -> judge; raise `ConfigError` naming all seats that cannot take part."""
    judges = {seat.name: seat.judge for seat in panel.seats if isinstance(seat.judge, Rescorable)}
    if mute := [seat.name for seat in panel.seats if seat.name not in judges]:
        raise ConfigError(
            f"{', '.join(mute)}: cannot say which score follows from an error list; "
            "leave it out of an exam of faithfulness"
        )
    return judges


def _cases(verdict: Verdict, judges: Mapping[str, Rescorable], *, dataset: str) -> list[Case]:
    return [
        Case(
            judge=judges[seat.seat],
            name=seat.seat,
            dataset=dataset,
            segment=verdict.segment,
            aspect=verdict.aspect,
            report=seat.report,
        )
        for seat in verdict.seats
    ]
