"""Trials: one judge's report, its list changed in every way, and the scores that follow."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from spanjury.judges.core import (
    RUN_ENDING,
    Aspect,
    ChatModel,
    ErrorSpan,
    EventLog,
    JudgeError,
    ModelError,
    Outcome,
    PerturbationError,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    reason_of,
)
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.faithfulness.changes import (
    CONTROL,
    REPEAT,
    Change,
    Fate,
    severity_moved,
)
from spanjury.orchestration.studies.generation import (
    Generation,
    GenerationFailed,
    GenerationRequest,
)
from spanjury.perturbations.explanation.generated import generated_twin
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
)
from spanjury.perturbations.perturbation import generator_for

__all__ = ["Case", "Condition", "ListChange", "changed_list", "repeat", "trials"]

Spans = tuple[ErrorSpan, ...]

_UNFIT = "the model, asked twice, wrote no such explanation"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListChange:
    """How one list is to be changed.

    Parameters
    ----------
    errors
        The list.
    condition, perturbation, options
        The rule that changes it, and how much.
    segment_id, aspect
        Of the report; the random numbers depend on them and on no other list's turn.
    seed
        Of the random numbers; passed to servers that take one.
    """

    errors: ErrorList
    condition: str
    perturbation: ExplanationPerturbation
    options: Mapping[str, object]
    segment_id: str
    aspect: Aspect
    seed: int

    @property
    def by_rule(self) -> Spans:
        """The changed list as the rule has it.

        Raises
        ------
        NothingToChangeError
            If there is nothing to change.
        PerturbationError
            If the rule fails; names the condition and the report.
        """
        whose = f"{self.segment_id}/{self.aspect.name}"
        rng = generator_for(self.seed, self.condition, whose)
        try:
            return self.perturbation.changed(self.errors, rng, **self.options)
        except NothingToChangeError:
            raise
        except PerturbationError as error:
            told = f"{self.condition} cannot change {whose!r}: {error}"
            raise PerturbationError(told) from error

    @property
    def order(self) -> GenerationRequest[Spans] | None:
        """What a model is asked for in the rule's place; None where there is the rule only."""
        written = generated_twin(self.perturbation, aspect=self.aspect)
        if written is None:
            return None
        change: Callable[..., Awaitable[Spans]] = written.changed  # its options are the rule's

        async def write(model: ChatModel) -> Spans:
            whose = f"{self.segment_id}/{self.aspect.name}"
            rng = generator_for(self.seed, self.condition, whose)
            return await change(self.errors, model, rng=rng, seed=self.seed, **self.options)

        return GenerationRequest(
            condition=self.condition, segment_id=self.segment_id, unfit=_UNFIT, ask=write
        )


async def changed_list(
    wanted: ListChange, *, writing: Generation | None
) -> Spans | GenerationFailed:
    """Change a list, by the writer where it can be asked and else by the rule.

    Raises
    ------
    NothingToChangeError
        If the rule finds nothing to change; the writer is not asked then.
    PerturbationError
        If the rule fails.
    PermanentModelError
        If the writer cannot be asked.
    """
    by_rule = wanted.by_rule  # first: if it fails, nobody is paid
    order = wanted.order
    if writing is None or order is None:
        return by_rule
    return await writing.generate(order)


log = EventLog()

_STEPPED = frozenset({"severity", "explanation", "both"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One way in which every list is changed.

    Parameters
    ----------
    name
        What it is called in the report, unique in an exam.
    perturbation, options
        The rule that changes, and how much.
    """

    name: str
    perturbation: ExplanationPerturbation
    options: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def by(self) -> int | None:
        """Steps of severity, positive for graver; None where there are no steps."""
        size = self.options.get("by", 1)
        if self.perturbation.family not in _STEPPED or not isinstance(size, int):
            return None
        return size if self.perturbation.push == "falls" else -size


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A judge with its report on one aspect of one text.

    Parameters
    ----------
    judge, name
        Who is asked, and what it is called in the report.
    dataset
        Of the text.
    segment, aspect, report
        What was judged, and what the judge said.
    """

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
            fate=Fate.RESCORED if scored else Fate.UNSCORED,
            outcome=self.report.outcome,
            reason=self.report.reason,
            errors=len(self.report.spans) if scored else None,
            low=self.aspect.scale.low,
            high=self.aspect.scale.high,
        )


async def trials(
    case: Case,
    conditions: Sequence[Condition],
    *,
    seed: int,
    stop_token: StopToken,
    writing: Generation | None = None,
    note: Callable[[Change], None] = lambda _: None,
) -> list[Change]:
    """Ask for the score of the unchanged list, then of the list changed in every way.

    Parameters
    ----------
    case
        A judge with its report.
    conditions
        Under distinct names.
    seed
        Of the changes, which depend on the text and the aspect and on no other's turn.
    stop_token
        Once it is pulled, the rest is left undone.
    writing
        Writes explanations where it can be asked; None to have all of them worded by rule.
    note
        Is told of each row as it is made.

    Raises
    ------
    PerturbationError
        If a rule fails.
    PermanentModelError
        If the writer cannot be asked.
    StoreError
        If what is said cannot be kept.
    """
    rows = [await _rescored(case, case.blank(CONTROL), spans=case.report.spans)]
    note(rows[0])
    for condition in conditions:
        if stop_token.is_requested:
            stop_token.interrupted = True
            break
        rows.append(await _trial(case, condition, seed=seed, writing=writing))
        note(rows[-1])
    return rows


async def repeat(case: Case) -> Change:
    """Ask for the score of the unchanged list once more."""
    return await _rescored(case, case.blank(REPEAT), spans=case.report.spans)


async def _trial(
    case: Case, condition: Condition, *, seed: int, writing: Generation | None
) -> Change:
    """Change the list in one way, and ask for its score if there is anything to change."""
    row = _begun(case, condition, writing=writing)
    if row.fate is Fate.UNSCORED:
        return row
    wanted = ListChange(
        errors=ErrorList(output=case.segment.output, spans=case.report.spans),
        condition=condition.name,
        perturbation=condition.perturbation,
        options=condition.options,
        segment_id=case.segment.segment_id,
        aspect=case.aspect,
        seed=seed,
    )
    try:
        told = await changed_list(wanted, writing=writing)
    except NothingToChangeError as error:
        fate = Fate.ERROR_FREE if error.reason is Unchanged.NO_ERRORS else Fate.CLIPPED
        return replace(row, fate=fate, unchanged=error.reason, reason=str(error))
    if isinstance(told, GenerationFailed):
        return replace(row, fate=Fate.UNWRITTEN, reason=told.reason)
    return await _rescored(case, row, spans=told)


def _begun(case: Case, condition: Condition, *, writing: Generation | None) -> Change:
    """Return the row of `condition` with what is known before the list is changed."""
    rule = condition.perturbation
    is_written = writing is not None and generated_twin(rule, aspect=case.aspect) is not None
    return replace(
        case.blank(condition.name),
        family=rule.family,
        by=condition.by,
        push=rule.push,
        written_by=writing.name if writing is not None and is_written else "",
    )


async def _rescored(case: Case, row: Change, *, spans: Sequence[ErrorSpan]) -> Change:
    """Return `row` with what the judge makes of `spans`; a failure is told in it."""
    if row.fate is Fate.UNSCORED:
        return row
    row = replace(
        row,
        errors_after=len(spans),
        severity_change=_severity_change(row, case.report.spans, spans),
    )
    try:
        told = await case.judge.rescore(case.segment, case.aspect, spans)
        return _filled(row, told)
    except (JudgeError, ModelError) as error:
        return replace(row, outcome=error.outcome, reason=reason_of(error))
    except RUN_ENDING:
        raise  # by what concerns all judges and texts, as a reply that cannot be kept
    except Exception as error:  # the border to judges that are not ours
        log.exception("faithfulness.judge_broken", judge=case.name)
        reason = f"the judge's own code failed: {reason_of(error, kind=True)}"
        return replace(row, outcome=Outcome.BACKEND_FAILED, reason=reason)


def _filled(row: Change, told: Rescoring) -> Change:
    return replace(
        row,
        after=told.report.score,
        outcome=told.report.outcome,
        reason=told.report.reason,
        expected=told.expected,
        method=told.method,
    )


def _severity_change(row: Change, before: Sequence[ErrorSpan], after: Sequence[ErrorSpan]) -> int:
    """Return what was added to severities, or to how severe the explanations sound."""
    if row.family == "explanation" and row.by is not None:
        return severity_moved((span.severity for span in before), by=row.by)
    was, came = (sum(span.severity or 0 for span in spans) for spans in (before, after))
    return came - was
