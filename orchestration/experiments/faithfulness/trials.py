"""Trials: one judge's report, its list changed in every way, and the scores that follow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import structlog

from spanjury.judges.core import (
    Aspect,
    ErrorSpan,
    JudgeError,
    ModelError,
    Outcome,
    PerturbationError,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    StoreError,
)
from spanjury.orchestration.braking import Brake
from spanjury.orchestration.experiments.faithfulness.changes import (
    CONTROL,
    REPEAT,
    Change,
    Fate,
    severity_moved,
)
from spanjury.perturbations.explanation.perturbation import (
    ErrorList,
    ExplanationPerturbation,
    NothingToChangeError,
    Unchanged,
)
from spanjury.perturbations.perturbation import generator_for

__all__ = ["Case", "Treatment", "repeat", "trials"]

log = structlog.get_logger()

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
    case: Case, treatments: Sequence[Treatment], *, seed: int, brake: Brake
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

    Raises
    ------
    PerturbationError
        If a rule fails.
    StoreError
        If what is said cannot be kept.
    """
    rows = [await _rescored(case, case.blank(CONTROL), spans=case.report.spans)]
    for row, spans in _changed(case, treatments, seed=seed):
        if brake.is_pulled:
            brake.has_cut = True
            break
        rows.append(row if spans is None else await _rescored(case, row, spans=spans))
    return rows


async def repeat(case: Case) -> Change:
    """Ask for the score of the unchanged list once more."""
    return await _rescored(case, case.blank(REPEAT), spans=case.report.spans)


def _changed(
    case: Case, treatments: Sequence[Treatment], *, seed: int
) -> Iterator[tuple[Change, tuple[ErrorSpan, ...] | None]]:
    """Yield each row with its list; None for a report that cannot be changed."""
    for treatment in treatments:
        row = replace(
            case.blank(treatment.name),
            family=treatment.perturbation.family,
            by=treatment.by,
            push=treatment.perturbation.push,
        )
        if row.fate is Fate.UNSCORED:
            yield row, None
            continue
        try:
            yield row, _list(case, treatment, seed=seed)
        except NothingToChangeError as error:
            is_bare = error.reason is Unchanged.NO_ERRORS
            fate = Fate.ERROR_FREE if is_bare else Fate.CLIPPED
            yield replace(row, fate=fate, reason=str(error)), None


def _list(case: Case, treatment: Treatment, *, seed: int) -> tuple[ErrorSpan, ...]:
    whose = f"{case.segment.segment_id}/{case.aspect.name}"
    errors = ErrorList(output=case.segment.output, spans=case.report.spans)
    try:
        return treatment.perturbation.changed(
            errors, generator_for(seed, treatment.name, whose), **treatment.options
        )
    except NothingToChangeError:
        raise
    except PerturbationError as error:
        raise PerturbationError(f"{treatment.name} cannot change {whose!r}: {error}") from error


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
        return replace(row, outcome=error.outcome, reason=str(error) or repr(error))
    except StoreError:
        raise  # what was said cannot be kept: that ends the exam, whoever said it
    except Exception as error:  # the border to judges that are not ours
        log.exception("faithfulness.judge_broken", judge=case.name)
        reason = f"the judge's own code failed: {error!r}"
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
