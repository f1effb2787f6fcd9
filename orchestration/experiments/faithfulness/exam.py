"""The exam: have reports made, change their lists, and see whether the scores follow."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from anyio import create_task_group

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    PanelReport,
    Rescorable,
    Result,
    RunStoppedError,
    Segment,
    Verdict,
)
from spanjury.orchestration.braking import Brake
from spanjury.orchestration.experiments.discernment.hearing import OpenPanel
from spanjury.orchestration.experiments.faithfulness.changes import Change
from spanjury.orchestration.experiments.faithfulness.trials import (
    Case,
    Treatment,
    repeat,
    trials,
)
from spanjury.orchestration.panel import Panel
from spanjury.orchestration.watching import first_error_alone

__all__ = ["Exam", "sit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """What judges are examined on.

    Parameters
    ----------
    dataset
        What the texts are called together.
    segments
        Texts under distinct ids, one task.
    aspects
        On which each is judged.
    treatments
        How each error list is changed, under distinct names.
    seed
        Of the changes.

    Raises
    ------
    ConfigError
        If there is nothing to examine, or a name is doubled.
    """

    dataset: str
    segments: tuple[Segment, ...]
    aspects: tuple[Aspect, ...]
    treatments: tuple[Treatment, ...]
    seed: int = 1

    def __post_init__(self) -> None:
        if not (self.segments and self.aspects and self.treatments):
            raise ConfigError("an exam needs texts, aspects and perturbations")
        for what, names in (
            ("texts", [segment.segment_id for segment in self.segments]),
            ("aspects", [aspect.name for aspect in self.aspects]),
            ("perturbations", [treatment.name for treatment in self.treatments]),
        ):
            if len(names) != len(set(names)):
                raise ConfigError(f"the {what} of an exam need distinct names")

    @property
    def pairs(self) -> list[tuple[Segment, Aspect]]:
        """Every text with every aspect."""
        return [(segment, aspect) for segment in self.segments for aspect in self.aspects]


async def sit(
    exam: Exam,
    open_panel: OpenPanel,
    *,
    workers: int,
    brake: Brake,
    show: Callable[[Result], None],
) -> list[Change]:
    """Hold an exam; every seat of the panel is an examinee of its own.

    Parameters
    ----------
    exam
        What is asked.
    open_panel
        Opens who is examined, once, and under another draw for the repeat of the control.
    workers
        How many reports are under way at once.
    brake
        Ends the exam early; what was said by then is remembered where there is a memory.
    show
        Is told of each text's reports when all that follows of them is done.

    Returns
    -------
    list of Change
        Seat by seat for each text and aspect: the control, the treatments, the repeat.

    Raises
    ------
    ConfigError
        If a judge cannot say which score follows from a list; nobody is asked then.
    PerturbationError
        If a rule fails.
    RunStoppedError
        If the brake came before the end.
    """
    cases: dict[int, list[Case]] = {}
    rows: dict[int, list[list[Change]]] = {}
    pairs = exam.pairs
    async with open_panel("") as panel:
        judges = _rescorable(panel)

        async def examine(number: int) -> None:
            segment, aspect = pairs[number]
            verdict = await panel.hear(segment, aspect)
            heard = _cases(verdict, judges, dataset=exam.dataset)
            rows[number] = [
                await trials(case, exam.treatments, seed=exam.seed, brake=brake) for case in heard
            ]
            cases[number] = heard
            show(_result(verdict))

        await _each(range(len(pairs)), examine, workers=workers, brake=brake)
    async with open_panel("control-repeat") as panel:
        judges = _rescorable(panel)

        async def ask_again(number: int) -> None:
            for told, case in zip(rows[number], cases[number], strict=True):
                told.append(await repeat(replace(case, judge=judges[case.name])))

        await _each(range(len(pairs)), ask_again, workers=workers, brake=brake)
    return [row for number in range(len(pairs)) for told in rows[number] for row in told]


def _rescorable(panel: Panel) -> dict[str, Rescorable]:
    """Return seat -> judge; raise `ConfigError` naming all seats that cannot take part."""
    judges = {seat.name: seat.judge for seat in panel.seats if isinstance(seat.judge, Rescorable)}
    if mute := [seat.name for seat in panel.seats if seat.name not in judges]:
        raise ConfigError(
            f"{', '.join(mute)}: cannot say which score follows from an error list; "
            "leave it out of an exam of faithfulness"
        )
    return judges


def _cases(verdict: Verdict, judges: dict[str, Rescorable], *, dataset: str) -> list[Case]:
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


async def _each(
    numbers: Iterable[int],
    do: Callable[[int], Awaitable[None]],
    *,
    workers: int,
    brake: Brake,
) -> None:
    """Do something for each number, so many at once, until the brake is pulled."""
    todo = iter(numbers)

    async def work() -> None:
        for number in todo:
            if brake.is_pulled:
                brake.has_cut = True
                return
            await do(number)

    with first_error_alone(), brake:
        async with create_task_group() as working:
            for _ in range(workers):
                working.start_soon(work)
    if brake.has_cut:
        raise RunStoppedError(brake.reason)


def _result(verdict: Verdict) -> Result:
    """Return what the seats said as one result, for those who watch: nothing is merged."""
    first = verdict.seats[0].report
    report = PanelReport(
        outcome=first.outcome,
        score=first.score,
        reason=first.reason,
        spans=first.spans,
        seats=verdict.seats,
    )
    return Result(segment=verdict.segment, aspect=verdict.aspect, report=report)
