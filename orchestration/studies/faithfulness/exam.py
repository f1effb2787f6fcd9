"""The exam: have reports made, change their lists, and see whether the scores follow."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ConfigError,
    ErrorSpan,
    JudgeError,
    ModelError,
    PanelReport,
    PerturbationError,
    Report,
    Rescorable,
    Result,
    SeatReport,
    Segment,
    Verdict,
    failing_as,
    reason_of,
    stamped,
)
from spanjury.orchestration.engine.batch import each
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.seats import PASSING, own_code_failed
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.faithfulness.outcomes import (
    CONTROL,
    REPEAT,
    Change,
    ListOutcome,
    severity_moved,
)
from spanjury.orchestration.studies.generation import (
    Generation,
    GenerationFailed,
    GenerationRequest,
    TextGenerator,
    open_generation,
)
from spanjury.orchestration.studies.judging import ExamRun, JudgedText, in_order, require_distinct
from spanjury.orchestration.studies.sources import source_of
from spanjury.perturbations.explanation.generated import generated_twin
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
)
from spanjury.perturbations.perturbation import generator_for

Spans = tuple[ErrorSpan, ...]

_STEPPED = frozenset({"severity", "explanation", "both"})
_UNFIT = "the model, asked twice, wrote no such explanation"
_CONTROLS = 2
_UNCHANGED = "unchanged list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One way in which every list is changed."""

    name: str
    perturbation: ExplanationPerturbation
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def by(self) -> int | None:
        """Steps of severity, positive for more severe; None where there are no steps."""
        size = self.options.get("by", 1)
        if self.perturbation.family not in _STEPPED or not isinstance(size, int):
            return None
        return size if self.perturbation.push == "falls" else -size


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A judge with its report on one aspect of one text."""

    judge: Rescorable
    name: str
    dataset: str
    segment: Segment
    aspect: Aspect
    report: Report

    def blank(self, condition: str) -> Change:
        """Return the row of `condition` with what is known before it."""
        scored = self.report.score is not None
        return Change(
            judge=self.name,
            dataset=self.dataset,
            aspect=self.aspect.name,
            text=self.segment.segment_id,
            condition=condition,
            before=self.report.score,
            list_outcome=ListOutcome.RESCORED if scored else ListOutcome.UNSCORED,
            outcome=self.report.outcome,
            reason=self.report.reason,
            errors=len(self.report.spans) if scored else None,
            low=self.aspect.scale.low,
            high=self.aspect.scale.high,
            source=source_of(self.segment),
        )


async def trials(
    case: Case,
    conditions: Sequence[Condition],
    *,
    seed: int,
    stop_token: StopToken,
    generation: Generation | None = None,
    note: Callable[[Change, Spans], None] = lambda _, __: None,
) -> list[Change]:
    """Ask for the score of the unchanged list, then of the list changed in every way.

    `case`: a judge with its report.
    `conditions`: under distinct names.
    `seed`: seed of the changes, which depend on the text and the aspect alone.
    `stop_token`: once a stop is requested, the rest is left undone.
    `generation`: writes explanations where a model can be asked; None to have all of them worded by
    rule.
    `note`: is called with each row as it is made, and the list that the judge was asked about.

    Raise `PerturbationError` if a rule fails, `PermanentModelError` if the model cannot be asked,
    and `StoreError` if a reply cannot be kept.
    """
    rows = [await _rescored(case, case.blank(CONTROL), spans=case.report.spans)]
    note(rows[0], case.report.spans)
    for condition in conditions:
        if stop_token.is_requested:
            stop_token.interrupted = True
            break
        row, spans = await _trial(case, condition, seed=seed, generation=generation)
        rows.append(row)
        note(row, spans)
    return rows


async def _trial(
    case: Case, condition: Condition, *, seed: int, generation: Generation | None
) -> tuple[Change, Spans]:
    """Change the list in one way, and ask for its score if there is anything to change."""
    rule = condition.perturbation
    is_written = generation is not None and generated_twin(rule, aspect=case.aspect) is not None
    row = replace(
        case.blank(condition.name),
        family=rule.family,
        by=condition.by,
        direction=rule.push,
        written_by=generation.name if generation is not None and is_written else "",
    )
    if not row.is_rescored:
        return row, ()
    try:
        spans = await _changed_list(case, condition, seed=seed, generation=generation)
    except NothingToChangeError as error:
        is_error_free = error.reason is Unchanged.NO_ERRORS
        outcome = ListOutcome.ERROR_FREE if is_error_free else ListOutcome.CLIPPED
        return replace(row, list_outcome=outcome, unchanged=error.reason, reason=str(error)), ()
    if isinstance(spans, GenerationFailed):
        return replace(row, list_outcome=ListOutcome.FAILED, reason=spans.reason), ()
    return await _rescored(case, row, spans=spans), spans


async def _changed_list(
    case: Case, condition: Condition, *, seed: int, generation: Generation | None
) -> Spans | GenerationFailed:
    """Change a list, by a model where one can be asked and else by the rule.

    Raise `NothingToChangeError` if the rule finds nothing to change; the model is not asked then.
    Raise `PerturbationError`, with the condition and the report, if the rule fails, and
    `PermanentModelError` if the model cannot be asked.
    """
    errors = ErrorList(output=case.segment.output, spans=case.report.spans)
    whose = f"{case.segment.segment_id}/{case.aspect.name}"
    rng = partial(generator_for, seed, condition.name, whose)
    try:  # the rule first: if it fails, the model costs nothing
        by_rule = condition.perturbation.changed(errors, rng(), **condition.options)
    except NothingToChangeError:
        raise
    except PerturbationError as error:
        raise PerturbationError(f"{condition.name} cannot change {whose!r}: {error}") from error
    written = generated_twin(condition.perturbation, aspect=case.aspect)
    if generation is None or written is None:
        return by_rule
    change: Callable[..., Awaitable[Spans]] = written.changed  # its options are the rule's

    async def ask(model: ChatModel) -> Spans:
        return await change(errors, model, rng=rng(), seed=seed, **condition.options)

    segment_id = case.segment.segment_id
    return await generation.generate(
        GenerationRequest(condition=condition.name, segment_id=segment_id, unfit=_UNFIT, ask=ask)
    )


async def _rescored(case: Case, row: Change, *, spans: Sequence[ErrorSpan]) -> Change:
    """Return `row` with the judge's score of `spans`, or with the outcome of its failure."""
    if not row.is_rescored:
        return row
    row = replace(
        row,
        errors_after=len(spans),
        severity_change=_severity_change(row, case.report.spans, spans),
    )
    broken = own_code_failed("faithfulness.judge_broken", judge=case.name)
    try:
        with failing_as(broken, passing=PASSING):
            rescoring = await case.judge.rescore(case.segment, case.aspect, spans)
            return replace(
                row,
                after=rescoring.report.score,
                outcome=rescoring.report.outcome,
                reason=rescoring.report.reason,
                expected=rescoring.expected,
                method=rescoring.method,
            )
    except (JudgeError, ModelError) as error:
        return replace(row, outcome=error.outcome, reason=reason_of(error))


def _severity_change(row: Change, before: Sequence[ErrorSpan], after: Sequence[ErrorSpan]) -> int:
    """Return what was added to severities, or to how severe the explanations sound."""
    if row.family == "explanation" and row.by is not None:
        return severity_moved((span.severity for span in before), by=row.by)
    was, came = (sum(span.severity or 0 for span in spans) for spans in (before, after))
    return came - was


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The texts that judges are examined on, and the changes of their lists.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.
    """

    dataset: str
    segments: tuple[Segment, ...]
    """Texts under distinct ids, one task."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """The answers of an exam."""

    changes: tuple[Change, ...]
    """Seat by seat for each text and aspect: the control, the conditions, the repeat."""
    judged: tuple[JudgedText, ...]
    """Each text with a list as its spans, unchanged and then changed, and the score of that
    list."""


async def examine(exam: Exam, run: ExamRun, *, generator: TextGenerator | None = None) -> Examined:
    """Examine every seat of a panel by itself.

    `exam`: the questions.
    `run`: opens the panel once, and under another draw for the repeat of the control.
    `generator`: writes explanations where a model can be asked; None to have all worded by rule.
    Lists that it does not manage are skipped.

    Raise `ConfigError`, before any judge is asked, if one cannot say which score follows from a
    list, `PerturbationError` if a rule fails, `PermanentModelError` if the generator cannot be
    asked, as by a wrong key, `ModelError` if it answers nothing at all, and `RunStoppedError` if
    the stop token came before the end.
    """
    opened: AbstractAsyncContextManager[Generation | None]
    opened = nullcontext() if generator is None else open_generation(generator)
    async with run.open_panel("") as panel, opened as generation:
        judges = _rescorable(panel)
        progress = _Progress(
            show=run.record, expect=run.expect, total=exam.questions(seats=len(panel.seats))
        )

        async def ask(pair: tuple[Segment, Aspect]) -> list[_Answers]:
            verdict = await panel.judge(*pair)
            progress.count_verdict(verdict)
            return [
                await _answers(case, exam, run, generation=generation, progress=progress)
                for case in _cases(verdict, judges, dataset=exam.dataset)
            ]

        answers = await in_order(exam.pairs, ask, workers=run.workers, stop_token=run.stop_token)
    await _repeat_all(answers, run, progress=progress)
    seats = [seat for pair in answers for seat in pair]
    return Examined(
        changes=tuple(row for seat in seats for row in seat.rows),
        judged=tuple(text for seat in seats for text in seat.judged),
    )


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


def _cases(verdict: Verdict, judges: Mapping[str, Rescorable], *, dataset: str) -> Iterator[Case]:
    for seat in verdict.seats:
        yield Case(
            judge=judges[seat.seat],
            name=seat.seat,
            dataset=dataset,
            segment=verdict.segment,
            aspect=verdict.aspect,
            report=seat.report,
        )


async def _repeat_all(
    answers: "Sequence[Sequence[_Answers]]", run: ExamRun, *, progress: _Progress
) -> None:
    """Ask every seat once more for the score of its unchanged list, and add the rows."""
    async with run.open_panel("control-repeat") as panel:
        judges = _rescorable(panel)

        async def ask_again(seats: Sequence[_Answers]) -> None:
            for seat in seats:
                case = replace(seat.case, judge=judges[seat.case.name])
                row = await _rescored(case, case.blank(REPEAT), spans=case.report.spans)
                seat.rows.append(row)
                progress.count_change(seat.case, row)

        await each(answers, ask_again, workers=run.workers, stop_token=run.stop_token)


def _judged(case: Case, row: Change, spans: Spans) -> JudgedText:
    """Return the text under an id of its own, with the list that a score was asked for."""
    own = f"{case.segment.segment_id}#{case.name}"
    is_control = row.condition == CONTROL
    name = own if is_control else f"{own}#{row.condition}"
    credited = tuple(span.credited_to((case.name,)) for span in spans)
    result = _result(replace(case, segment=replace(case.segment, segment_id=name)), row)
    return JudgedText(
        result=replace(result, report=replace(result.report, spans=credited)),
        condition=_UNCHANGED if is_control else row.condition,
        clean_id="" if is_control else own,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answers:
    """The answers of one seat on one text and aspect."""

    case: Case
    rows: list[Change]
    judged: list[JudgedText]


async def _answers(
    case: Case, exam: Exam, run: ExamRun, *, generation: Generation | None, progress: _Progress
) -> _Answers:
    judged: list[JudgedText] = []

    def note(row: Change, spans: Spans) -> None:
        progress.count_change(case, row)
        if row.is_rescored:
            judged.append(_judged(case, row, spans))

    rows = await trials(
        case,
        exam.conditions,
        seed=exam.seed,
        stop_token=run.stop_token,
        generation=generation,
        note=note,
    )
    return _Answers(case=case, rows=rows, judged=judged)


def _rescorable(panel: Panel) -> dict[str, Rescorable]:
    """Return seat -> judge; raise `ConfigError` naming all seats that cannot take part."""
    judges = {seat.name: seat.judge for seat in panel.seats if isinstance(seat.judge, Rescorable)}
    if mute := [seat.name for seat in panel.seats if seat.name not in judges]:
        raise ConfigError(
            f"{', '.join(mute)}: cannot say which score follows from an error list; "
            "leave it out of an exam of faithfulness"
        )
    return judges
