"""The tables of a faithfulness exam's page, in Markdown."""

from collections.abc import Iterator, Mapping, Sequence

from spanjury.orchestration.report.numbers import figure
from spanjury.orchestration.studies.faithfulness.averages import Average
from spanjury.orchestration.studies.faithfulness.consistency import Consistency
from spanjury.orchestration.studies.faithfulness.findings import Finding
from spanjury.orchestration.studies.faithfulness.outcomes import Estimate
from spanjury.orchestration.studies.markdown_rows import head, row

__all__ = [
    "average_table",
    "consistency_table",
    "control_table",
    "fate_table",
    "finding_table",
]

Lines = Iterator[str]

_SHARE = ".3f"
_SHIFT = "+.3f"


def average_table(averages: Sequence[Average]) -> Lines:
    """Tabulate conditions over the aspects of a dataset."""
    yield from head(
        "judge",
        "dataset",
        "treatment",
        "aspects",
        "printed",
        "with errors",
        "with room",
        "toward",
        "against",
        "average change",
        "changed minus control",
    )
    for one in averages:
        yield row(
            one.judge,
            one.dataset,
            one.condition,
            str(one.aspects),
            figure(one.as_printed, _SHARE),
            figure(one.with_errors, _SHARE),
            figure(one.with_room, _SHARE),
            figure(one.toward, _SHARE),
            figure(one.against, _SHARE),
            figure(one.shift, _SHIFT),
            figure(one.above_control, _SHIFT),
        )


def control_table(findings: Sequence[Finding]) -> Lines:
    """Tabulate what changed when nothing was changed."""
    yield from head("judge", "dataset", "aspect", "control", "reports", "changed", "average change")
    controls = [one for one in findings if one.is_control]
    for one in controls:
        yield row(
            one.judge,
            one.dataset,
            one.aspect,
            one.condition,
            str(one.overall.scored),
            figure(one.overall.changed, _SHARE),
            _told(one.overall.average),
        )
    if not controls:
        yield row("none was held", *[""] * 6)


def finding_table(findings: Sequence[Finding]) -> Lines:
    """Tabulate every condition, aspect by aspect."""
    yield from head(
        "judge",
        "dataset",
        "aspect",
        "treatment",
        "written by",
        "reports",
        "lost",
        "printed",
        "with errors (n)",
        "with room (n)",
        "toward",
        "against (n)",
        "average change",
        "changed minus control",
        "toward minus control",
        "p",
    )
    for one in findings:
        if not one.is_control:
            yield row(one.judge, one.dataset, one.aspect, one.condition, *_cells(one))


def fate_table(findings: Sequence[Finding]) -> Lines:
    """Tabulate the reports whose score nobody was asked for, by why."""
    yield from head(
        "judge",
        "dataset",
        "aspect",
        "treatment",
        "list cannot be changed",
        "list was not written",
        "report has no score",
        "not in the record",
    )
    for one in findings:
        if one.unchanged or one.unwritten or one.unscored or one.absent:
            yield row(
                one.judge,
                one.dataset,
                one.aspect,
                one.condition,
                _counts(one.unchanged),
                _counts(one.unwritten),
                str(one.unscored),
                str(one.absent),
            )


def consistency_table(consistencies: Sequence[Consistency]) -> Lines:
    """Tabulate reports that two steps of severity move less than one step."""
    yield from head(
        "judge", "dataset", "aspect", "family", "should", "reports", "reverted", "broad"
    )
    for told in consistencies:
        yield row(
            told.judge,
            told.dataset,
            told.aspect,
            told.family,
            told.push.removesuffix("s"),
            str(told.with_errors),
            figure(told.share_reverted, _SHARE),
            figure(told.share_broad, _SHARE),
        )


def _cells(one: Finding) -> Lines:
    yield one.written_by or "rule"
    yield str(one.overall.reports)
    yield str(one.overall.lost)
    yield figure(one.overall.changed_as_printed, _SHARE)
    for told in (one.with_errors, one.with_room):
        yield f"{figure(told.changed, _SHARE)} ({told.reports})"
    yield figure(one.toward(one.with_room), _SHARE)
    other = one.with_room_against
    yield f"{figure(one.against(other), _SHARE)} ({other.reports})"
    yield _told(one.overall.average)
    excess = one.excess
    yield _told(excess.changed) if excess else "-"
    yield _told(excess.toward) if excess else "-"
    yield figure(excess.p_changed, ".3g") if excess else "-"


def _counts(told: Mapping[str, int]) -> str:
    return "; ".join(f"{why} ({count})" for why, count in told.items()) or "-"


def _told(estimate: Estimate) -> str:
    """Format an estimate with its interval."""
    value, low, high = (figure(part, _SHIFT) for part in estimate)
    return value if value == "-" else f"{value} [{low}, {high}]"
