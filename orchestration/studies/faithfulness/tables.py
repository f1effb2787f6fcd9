"""Tables: a faithfulness exam's findings as they are read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Entry,
    Paragraph,
    Picture,
    Report,
    Section,
    Table,
    code,
    estimate_cell,
    figure,
    left,
    named,
    numeric,
    prose,
    right,
    spread,
    table,
    table_of,
)
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.faithfulness.findings import (
    Average,
    Finding,
    Findings,
    averages,
    cautions,
    measures_of,
    moves_with_room,
    net_moves,
    rescoring_methods,
    rescoring_outcomes,
)
from spanjury.orchestration.studies.faithfulness.outcomes import (
    PATTERNS,
    SMALLEST_MOVE,
    Consistency,
    Rates,
    ScoreArrays,
    moves,
    paired_shifts,
    patterns,
    steps,
)
from spanjury.stats.arrays import FloatArray

_FEWEST = 3
"""A point is the mean of so many changes at least."""
_READING = prose(
    "The error list of a report was changed, and the judge was asked to score the changed list. "
    "**Printed** is the share of changed scores over all reports, as in the paper: reports whose "
    "list could not be changed count as unchanged, lost scores as changed. **With errors** "
    "excludes reports without errors; **with room** also excludes reports whose list stayed the "
    "same and those whose score was already at that end of the scale. *Toward* is the share of "
    "scores with room that moved as they should. *Against* is the share that moved the other way, "
    "among the scores with room in that direction: a score at the bottom of the scale cannot fall, "
    f"but it can rise. A score counts as changed if it moves by {SMALLEST_MOVE:g} points or more, "
    "and has room if it can move that far. Brackets are 95 % intervals over resampled sources."
)
_SHORT_READING = (
    "Printed: share of changed scores over all reports, as in the paper. Errors: the same for "
    "reports with errors. Room: the same for scores that could still move. Toward: share of these "
    "that moved with the list. Against: share that moved the other way, if they could. Change: "
    "mean change. -null: share changed minus that of the null control. Only moves of "
    f"{SMALLEST_MOVE:g} points or more count as changes."
)
_CONTROL = prose(
    "The null control asks for the score of the unchanged list again, so no list causes the "
    "changes in it. The columns *minus control* subtract it report by report, or the mean of both "
    "if it was repeated. p is from McNemar's exact test (one-sided, not corrected for the number "
    "of conditions). The test compares single draws, so it uses only the first control."
)
_STEPS = prose(
    "*Reverted*: one step of severity changed the score and two steps did not. *Broad*: the "
    "authors' count of all reports except those whose score never moves, those that both steps "
    "move as they should, and those that only two steps move. Shares are over reports that list "
    "errors."
)
_NOT_RESCORED = (
    "Reports that were not scored again. If the list cannot be changed, the score counts as "
    "unchanged; the other reports are excluded from all shares."
)
_WHOSE = ("judge", "dataset", "aspect")
_CHANGE = "+.3f"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """Shares of reports by their score to begin with."""

    title: str
    scores: tuple[int, ...]
    parts: tuple[str, ...]
    shares: FloatArray
    """Shape ``(scores, parts)``; each row sums to 1, or to 0 where there is no report."""
    reports: FloatArray
    """Shape ``(scores,)``: how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A mean at each of some points, and its spread (standard deviation)."""

    name: str
    x: tuple[int, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]


def by_start(score_arrays: ScoreArrays) -> tuple[Stack, ...]:
    """Return what one and two steps of severity do to a score (the paper's Figure 1)."""
    stacks = (
        _stack(
            f"{condition.family}, score should {str(condition.direction).removesuffix('s')}",
            score_arrays,
            start=np.where(score_arrays.with_errors[single], score_arrays.before[single], np.nan),
            part=patterns(*paired_shifts(score_arrays, single, double)),
            parts=PATTERNS,
        )
        for single, double in steps(score_arrays)
        for condition in [score_arrays.conditions[single]]
    )
    return tuple(stack for stack in stacks if stack.reports.any())


def after_critical(score_arrays: ScoreArrays) -> tuple[Stack, ...]:
    """Return which score a critical error leaves (the paper's Figure 4)."""
    stacks = (
        _stack(
            condition.condition,
            score_arrays,
            start=np.where(score_arrays.applied[row], score_arrays.before[row], np.nan),
            part=score_arrays.after[row] - score_arrays.low,
            parts=tuple(str(score) for score in _scores(score_arrays)),
        )
        for row, condition in enumerate(score_arrays.conditions)
        if condition.family == "critical"
    )
    return tuple(stack for stack in stacks if stack.reports.any())


def by_severity(score_arrays: ScoreArrays) -> tuple[Curve, ...]:
    """Return how far scores move by how much severities were moved in all (Figure 2)."""
    return _curves(
        (change.family, change.severity_change, change.shift)
        for change in score_arrays.changes
        if change.by is not None and change.severity_change is not None and change.shift is not None
    )


def by_deleted(score_arrays: ScoreArrays) -> tuple[Curve, ...]:
    """Return the share of changed scores by how many of 2, 3 or 4 errors went (Figure 3)."""
    return _curves(
        (f"{change.errors} errors", change.errors - change.errors_after, float(is_moved))
        for change in score_arrays.changes
        if change.family == "removal" and change.shift is not None
        if change.errors in {2, 3, 4} and change.errors_after is not None
        for is_moved in [moves(np.array(change.shift)) != 0]
    )


def _stack(
    title: str,
    score_arrays: ScoreArrays,
    *,
    start: FloatArray,
    part: FloatArray,
    parts: tuple[str, ...],
) -> Stack:
    scores = _scores(score_arrays)
    counts = np.zeros((len(scores), len(parts)))
    pairs = ~np.isnan(start + part)
    for score, which in zip(np.rint(start[pairs]), np.rint(part[pairs]), strict=True):
        counts[int(score) - score_arrays.low, int(which)] += 1
    reports = counts.sum(axis=1)
    shares = counts / np.maximum(1, reports)[:, np.newaxis]
    return Stack(title=title, scores=scores, parts=parts, shares=shares, reports=reports)


def _scores(score_arrays: ScoreArrays) -> tuple[int, ...]:
    return tuple(range(score_arrays.low, score_arrays.high + 1))


def _curves(points: Iterable[tuple[str, int, float]]) -> tuple[Curve, ...]:
    """Draw lines through means of values, given as ``(line, x, value)``; none without points."""
    curves = []
    for name, line in grouped(points, lambda point: point[0]).items():
        by_x = grouped(line, lambda point: point[1])
        enough = {x: [y for *_, y in by_x[x]] for x in sorted(by_x) if len(by_x[x]) >= _FEWEST}
        if enough:
            curves.append(
                Curve(
                    name=name,
                    x=tuple(enough),
                    mean=tuple(float(np.mean(values)) for values in enough.values()),
                    spread=tuple(float(np.std(values)) for values in enough.values()),
                )
            )
    return tuple(curves)


def faithfulness_report(
    findings: Findings,
    *,
    data: str,
    seats: Mapping[str, str] = MappingProxyType({}),
    pictures: Sequence[Picture] = (),
) -> Report:
    """Return `findings` as a report; `seats` has the judges' signatures by their names."""
    judges = dict.fromkeys(score_array.judge for score_array in findings.score_arrays)
    sentences = cautions(findings)
    changed = (_figures(finding) for finding in findings.findings if not finding.is_control)
    return Report(
        title="Faithfulness",
        answer=_answer(findings),
        picture=next(iter(pictures), None),
        facts=[
            prose("Data: {}", code(data)),
            f"Judges: {', '.join(judges)}",
            *(prose("{}: {}", name, code(signature)) for name, signature in seats.items()),
        ],
        sections=[
            *_writers(findings.findings),
            Paragraph(_READING, only="page"),
            Section("Beware", [Bullets(sentences)], only="page"),
            *_short_tables(averages(findings.findings)),
            Paragraph(_SHORT_READING, only="terminal"),
            Bullets(sentences, tone="caution", only="terminal"),
            Section("By dataset", _by_dataset(averages(findings.findings)), only="page"),
            Section("Null control", _controls(findings.findings), only="page"),
            Section("By aspect", [table_of(changed)], only="page"),
            *_not_rescored(findings.findings),
            *_steps(findings.consistencies),
            Section("How scores came about", [_methods(findings)], only="page"),
            Section("Pictures", pictures[1:], only="page"),
        ],
    )


def _answer(findings: Findings) -> str:
    """Say how often scores follow a changed list of errors, and how often they do not."""
    toward, against = moves_with_room(findings)
    if not any(each.overall.reports for each in findings.findings):
        return "No report had a score before its list of errors was changed."
    if not toward.trials:
        return "No score had room to follow a changed list of errors."
    unchanged = {each.name: each.value for each in measures_of(findings)}["faithfulness.null_moved"]
    if unchanged:
        return _net_answer(findings, unchanged=unchanged)
    follow, oppose = (estimate_cell(share, ".0%").text for share in (toward, against))
    answer = (
        f"When the list of errors changes, {follow} of the scores with room to move follow it"
        f" by {SMALLEST_MOVE:g} points or more"
    )
    answer += f", and {oppose} move against it." if against.trials else "."
    answer += _by_judge(findings)
    if unchanged is not None:
        return answer
    return f"{answer} Without a null control, it is unknown how many move anyway."


def _by_judge(findings: Findings) -> str:
    judges = grouped(findings.score_arrays, lambda arrays: arrays.judge)
    if len(judges) == 1:
        return ""
    follow = {
        judge: moves_with_room(replace(findings, score_arrays=tuple(own)))[0].value
        for judge, own in judges.items()
    }
    shares = [f"{figure(share, '.0%')} for {judge}" for judge, share in follow.items()]
    return f" The share that follows is {named(shares)}."


def _net_answer(findings: Findings, *, unchanged: float) -> str:
    """Say how much more often scores follow a changed list than they move under the control."""
    toward, against = net_moves(findings)
    follow, oppose = (estimate_cell(share, "+.0%").text for share in (toward, against))
    also = f", and {oppose} move against it" if against.low > 0 else ""
    control = f"net of the null control ({unchanged:.1%} move although the list is unchanged)"
    if toward.low > 0:
        return f"If the list of errors changes, {follow} of the scores follow it{also}, {control}."
    return (
        "The scores are not shown to follow a changed list of errors:"
        f" {follow} of them do{also}, {control}."
    )


def _writers(findings: Sequence[Finding]) -> Iterator[Paragraph]:
    written = grouped((each for each in findings if each.written_by), lambda each: each.written_by)
    for writer, own in written.items():
        sentence = prose(
            "Explanations written by {}: {}. Rules wrote the rest, including the new explanation "
            "of an error that had none.",
            code(writer),
            ", ".join(dict.fromkeys(finding.condition for finding in own)),
        )
        yield Paragraph(sentence, only="page")


def _short_tables(averages: Sequence[Average]) -> Iterator[Table]:
    groups = grouped(averages, lambda average: (average.judge, average.dataset))
    for (judge, dataset), rows in groups.items():
        lines = (
            (left("condition", each.condition), *_average(each, _BRIEF, digits=2)) for each in rows
        )
        yield table_of(lines, title=f"{judge} on {dataset}", only="terminal")


def _by_dataset(averages: Sequence[Average]) -> list[Block]:
    listed = table_of(
        (
            left("judge", each.judge),
            left("dataset", each.dataset),
            left("condition", each.condition),
            right("aspects", each.aspects),
            *_average(each, _FULL, digits=3),
        )
        for each in averages
    )
    return [Paragraph("Unweighted means over aspects."), listed]


_BRIEF = ("printed", "errors", "room", "toward", "against", "change", "-null")
_FULL = (
    *("printed", "with errors", "with room", "toward", "against"),
    *("average change", "changed minus control"),
)
"""Headings of averages, on a terminal and on a page."""


def _average(average: Average, headings: Sequence[str], *, digits: int) -> Iterator[Entry]:
    shares = (average.as_printed, average.with_errors, average.with_room)
    moved = (average.toward, average.against)
    *of_shares, shift, above_control = headings
    for heading, share in zip(of_shares, (*shares, *moved), strict=True):
        yield right(heading, share, f".{digits}f")
    yield right(shift, average.shift, f"+.{digits}f")
    yield right(above_control, average.above_control, f"+.{digits}f")


def _controls(findings: Sequence[Finding]) -> list[Block]:
    lines = [
        (
            *_whose(each, "control"),
            right("reports", each.overall.scored),
            _share("changed", each.overall.changed),
            spread("average change", each.overall.average, _CHANGE),
        )
        for each in findings
        if each.is_control
    ]
    if lines:
        return [Paragraph(_CONTROL), table_of(lines)]
    figures = numeric("reports", "changed", "average change")
    none = table([*_WHOSE, "control", *figures], [["none was run", *[""] * 6]])
    return [Paragraph(_CONTROL), none]


def _figures(finding: Finding) -> Iterator[Entry]:
    overall, net, against = finding.overall, finding.net, finding.with_room_against
    yield from _whose(finding, "condition")
    yield left("written by", finding.written_by or "rule")
    yield right("reports", overall.reports)
    yield right("lost", overall.lost)
    yield _share("printed", overall.changed_as_printed)
    for heading, rates in (("errors", finding.with_errors), ("room", finding.with_room)):
        yield _share(f"with {heading} (n)", rates.changed, of=rates)
    yield _share("toward", finding.toward(finding.with_room))
    yield _share("against (n)", finding.against(against), of=against)
    yield spread("average change", overall.average, _CHANGE)
    yield spread("changed minus control", net and net.changed, _CHANGE)
    yield spread("toward minus control", net and net.toward, _CHANGE)
    yield right("p", net and net.p_changed, ".3g")


def _not_rescored(findings: Sequence[Finding]) -> Iterator[Section]:
    listed = table_of(
        (
            *_whose(each, "condition"),
            left("list cannot be changed", _counts(each.unchanged)),
            left("list was not written", _counts(each.failed)),
            right("report has no score", each.unscored),
            right("not in the record", each.absent),
        )
        for each in findings
        if each.unchanged or each.failed or each.unscored or each.absent
    )
    if listed.rows:
        yield Section("Not rescored", [Paragraph(_NOT_RESCORED), listed], only="page")


def _steps(consistencies: Sequence[Consistency]) -> Iterator[Section]:
    if consistencies:
        listed = table_of(
            (
                *(left(name, getattr(each, name)) for name in (*_WHOSE, "family")),
                left("should", each.direction.removesuffix("s")),
                right("reports", each.with_errors),
                _share("reverted", each.share_reverted),
                _share("broad", each.share_broad),
            )
            for each in consistencies
        )
        yield Section("One step and two", [Paragraph(_STEPS), listed], only="page")


def _methods(findings: Findings) -> Table:
    by_judge, outcomes = rescoring_methods(findings), rescoring_outcomes(findings)
    return table_of(
        (
            left("judge", judge),
            left("rescoring method", _listed(by_judge[judge])),
            left("outcome of rescorings", _listed(ended)),
        )
        for judge, ended in outcomes.items()
    )


def _whose(finding: Finding, heading: str) -> Iterator[Entry]:
    for name in _WHOSE:
        yield left(name, getattr(finding, name))
    yield left(heading, finding.condition)


def _share(heading: str, value: float, *, of: Rates | None = None) -> Entry:
    return right(heading, Cell(value, ".3f", note=f"({of.reports})" if of else ""))


def _counts(counts: Mapping[str, int]) -> str | None:
    return "; ".join(f"{why} ({count})" for why, count in counts.items()) or None


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "not recorded"
