"""Trials: one judge's report, its list changed in every way, and the scores that follow."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from spanjury.judges.core import (
    RUN_ENDING,
    Aspect,
    ErrorSpan,
    EventLog,
    JudgeError,
    ModelError,
    Outcome,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    reason_of,
)
from spanjury.orchestration.braking import Brake
from spanjury.orchestration.experiments.faithfulness.changes import (
    CONTROL,
    REPEAT,
    Change,
    Fate,
    severity_moved,
)
from spanjury.orchestration.experiments.faithfulness.lists import ListChange, changed_list
from spanjury.orchestration.experiments.writing import Unwritten, Writing
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
)
from spanjury.perturbations.explanation.written import written_twin

__all__ = ["Case", "Treatment", "repeat", "trials"]

log = EventLog()

_STEPPED = frozenset({"severity", "explanation", "both"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
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

    def blank(self, treatment: str) -> Change:
        """Return the row of `treatment` with what is known before it."""
        scored = self.report.score is not None
        return Change(
            judge=self.name,
            dataset=self.dataset,
            aspect=self.aspect.name,
            text=self.segment.segment_id,
            treatment=treatment,
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
    treatments: Sequence[Treatment],
    *,
    seed: int,
    brake: Brake,
    writing: Writing | None = None,
    note: Callable[[Change], None] = lambda _: None,
) -> list[Change]:
    """Ask for the score of the unchanged list, then of the list changed in every way.

    Parameters
    ----------
    case
        A judge with its report.
    treatments
        Under distinct names.
    seed
        Of the changes, which depend on the text and the aspect and on no other's turn.
    brake
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
    for treatment in treatments:
        if brake.is_pulled:
            brake.has_cut = True
            break
        rows.append(await _trial(case, treatment, seed=seed, writing=writing))
        note(rows[-1])
    return rows


async def repeat(case: Case) -> Change:
    """Ask for the score of the unchanged list once more."""
    return await _rescored(case, case.blank(REPEAT), spans=case.report.spans)


async def _trial(case: Case, treatment: Treatment, *, seed: int, writing: Writing | None) -> Change:
    """Change the list in one way, and ask for its score if there is anything to change."""
    row = _begun(case, treatment, writing=writing)
    if row.fate is Fate.UNSCORED:
        return row
    wanted = ListChange(
        errors=ErrorList(output=case.segment.output, spans=case.report.spans),
        treatment=treatment.name,
        perturbation=treatment.perturbation,
        options=treatment.options,
        segment_id=case.segment.segment_id,
        aspect=case.aspect,
        seed=seed,
    )
    try:
        told = await changed_list(wanted, writing=writing)
    except NothingToChangeError as error:
        fate = Fate.ERROR_FREE if error.reason is Unchanged.NO_ERRORS else Fate.CLIPPED
        return replace(row, fate=fate, unchanged=error.reason, reason=str(error))
    if isinstance(told, Unwritten):
        return replace(row, fate=Fate.UNWRITTEN, reason=told.reason)
    return await _rescored(case, row, spans=told)


def _begun(case: Case, treatment: Treatment, *, writing: Writing | None) -> Change:
    """Return the row of `treatment` with what is known before the list is changed."""
    rule = treatment.perturbation
    is_written = writing is not None and written_twin(rule, aspect=case.aspect) is not None
    return replace(
        case.blank(treatment.name),
        family=rule.family,
        by=treatment.by,
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
        road=told.road,
    )


def _severity_change(row: Change, before: Sequence[ErrorSpan], after: Sequence[ErrorSpan]) -> int:
    """Return what was added to severities, or to how severe the explanations sound."""
    if row.family == "explanation" and row.by is not None:
        return severity_moved((span.severity for span in before), by=row.by)
    was, came = (sum(span.severity or 0 for span in spans) for spans in (before, after))
    return came - was
