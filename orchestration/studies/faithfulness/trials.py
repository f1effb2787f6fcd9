"""Trials: one judge's report, its list changed in every way, and the scores that follow."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
    Segment,
    reason_of,
)
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.faithfulness.changes import (
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
)
from spanjury.perturbations.explanation.generated import generated_twin
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
)
from spanjury.perturbations.perturbation import generator_for

Spans = tuple[ErrorSpan, ...]

log = EventLog()

_STEPPED = frozenset({"severity", "explanation", "both"})
_UNFIT = "the model, asked twice, wrote no such explanation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One way in which every list is changed."""

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
        )


async def trials(
    case: Case,
    conditions: Sequence[Condition],
    *,
    seed: int,
    stop_token: StopToken,
    generation: Generation | None = None,
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
        Once a stop is requested, the rest is left undone.
    generation
        Writes explanations where a model can be asked; None to have all of them worded by rule.
    note
        Is called with each row as it is made.

    Raises
    ------
    PerturbationError
        If a rule fails.
    PermanentModelError
        If the model cannot be asked.
    StoreError
        If a reply cannot be kept.
    """
    rows = [await _rescored(case, case.blank(CONTROL), spans=case.report.spans)]
    note(rows[0])
    for condition in conditions:
        if stop_token.is_requested:
            stop_token.interrupted = True
            break
        rows.append(await _trial(case, condition, seed=seed, generation=generation))
        note(rows[-1])
    return rows


async def repeat(case: Case) -> Change:
    """Ask for the score of the unchanged list once more."""
    return await _rescored(case, case.blank(REPEAT), spans=case.report.spans)


async def _trial(
    case: Case, condition: Condition, *, seed: int, generation: Generation | None
) -> Change:
    """Change the list in one way, and ask for its score if there is anything to change."""
    row = _begun(case, condition, generation=generation)
    if not row.is_rescored:
        return row
    try:
        spans = await _changed_list(case, condition, seed=seed, generation=generation)
    except NothingToChangeError as error:
        is_error_free = error.reason is Unchanged.NO_ERRORS
        outcome = ListOutcome.ERROR_FREE if is_error_free else ListOutcome.CLIPPED
        return replace(row, list_outcome=outcome, unchanged=error.reason, reason=str(error))
    if isinstance(spans, GenerationFailed):
        return replace(row, list_outcome=ListOutcome.FAILED, reason=spans.reason)
    return await _rescored(case, row, spans=spans)


def _begun(case: Case, condition: Condition, *, generation: Generation | None) -> Change:
    """Return the row of `condition` with what is known before the list is changed."""
    rule = condition.perturbation
    is_written = generation is not None and generated_twin(rule, aspect=case.aspect) is not None
    return replace(
        case.blank(condition.name),
        family=rule.family,
        by=condition.by,
        direction=rule.push,
        written_by=generation.name if generation is not None and is_written else "",
    )


async def _changed_list(
    case: Case, condition: Condition, *, seed: int, generation: Generation | None
) -> Spans | GenerationFailed:
    """Change a list, by a model where one can be asked and else by the rule.

    Raises
    ------
    NothingToChangeError
        If the rule finds nothing to change; the model is not asked then.
    PerturbationError
        If the rule fails; names the condition and the report.
    PermanentModelError
        If the model cannot be asked.
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
    try:
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
    except RUN_ENDING:
        raise  # by what concerns all judges and texts, as a reply that cannot be kept
    except Exception as error:  # the border to judges that are not ours
        log.exception("faithfulness.judge_broken", judge=case.name)
        reason = f"the judge's own code failed: {reason_of(error, kind=True)}"
        return replace(row, outcome=Outcome.BACKEND_FAILED, reason=reason)


def _severity_change(row: Change, before: Sequence[ErrorSpan], after: Sequence[ErrorSpan]) -> int:
    """Return what was added to severities, or to how severe the explanations sound."""
    if row.family == "explanation" and row.by is not None:
        return severity_moved((span.severity for span in before), by=row.by)
    was, came = (sum(span.severity or 0 for span in spans) for spans in (before, after))
    return came - was
