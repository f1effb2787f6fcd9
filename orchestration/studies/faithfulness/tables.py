"""Tables: a faithfulness exam's findings as they are read."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Picture,
    Report,
    Section,
    Table,
    code,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.studies.faithfulness.findings import (
    Average,
    Finding,
    Findings,
    averages,
    cautions,
    measures_of,
    rescoring_methods,
    rescoring_outcomes,
)
from spanjury.orchestration.studies.faithfulness.outcomes import (
    PATTERNS,
    Consistency,
    Estimate,
    FloatArray,
    Rates,
    ScoreArrays,
    paired_shifts,
    patterns,
    steps,
)

_FEWEST = 3
"""A point is the mean of so many changes at least."""
_READING = prose(
    "A report's error list was changed, and the judge was asked for the score of the changed "
    "list. **Printed** is the share of changed scores over all reports, as the paper prints it: "
    "reports whose list could not be changed count as unchanged, lost scores as changed. **With "
    "errors** leaves out reports without errors; **with room** also leaves out reports whose list "
    "stayed the same and those whose score was already at that end of the scale. *Toward* is the "
    "share that moved as it should, among those with room. *Against* is the share that moved the "
    "other way, among those with room to move that way: a score at the floor cannot fall, but it "
    "can rise. Brackets are 95 % intervals over resampled texts."
)
_SHORT_READING = (
    "Shares of changed scores over all reports as the paper prints them, over those with "
    "errors, and over those with room to move; of these toward what the list says; against "
    "it, over those with room to move that way; mean change; changed, minus the null control."
)
_CONTROL = prose(
    "The null control asks for the score of the unchanged list again. Changes in this control are "
    "not an effect of any list; the columns *minus control* subtract it report by report, or the "
    "mean of both if it was repeated. p is from McNemar's exact test (one-sided, not corrected "
    "for the number of conditions). It uses only the first control, because the test compares "
    "single draws and a mean of two is not one."
)
_STEPS = prose(
    "*Reverted*: one step of severity changed the score and two steps did not. *Broad* is the "
    "authors' count: every report except those whose score never moves, those where both steps "
    "move it as they should, and those where only two steps do. Shares are over reports that list "
    "errors."
)
_NOT_RESCORED = (
    "Reports whose score was not asked for. If the list cannot be changed, the score stands and "
    "counts as unchanged; the others are in no share."
)
_WHOSE = ("judge", "dataset", "aspect")
Points = defaultdict[str, defaultdict[int, list[float]]]


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
    stacks = (_of_steps(score_arrays, single, double) for single, double in steps(score_arrays))
    return tuple(stack for stack in stacks if stack.reports.any())


def after_critical(score_arrays: ScoreArrays) -> tuple[Stack, ...]:
    """Return which score a critical error leaves (the paper's Figure 4)."""
    stacks = (
        _stack(
            condition.name,
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
    points: Points = defaultdict(lambda: defaultdict(list))
    for change in score_arrays.changes:
        shift = change.shift
        if change.by is not None and change.severity_change is not None and shift is not None:
            points[change.family][change.severity_change].append(shift)
    return _curves(points)


def by_deleted(score_arrays: ScoreArrays, *, of: tuple[int, ...] = (2, 3, 4)) -> tuple[Curve, ...]:
    """Return the share of changed scores by how many of the errors were deleted (Figure 3)."""
    points: Points = defaultdict(lambda: defaultdict(list))
    for change in score_arrays.changes:
        if change.family != "removal" or change.shift is None or change.errors not in of:
            continue
        if change.errors_after is not None:
            deleted = change.errors - change.errors_after
            points[f"{change.errors} errors"][deleted].append(float(change.shift != 0))
    return _curves(points)


def _of_steps(score_arrays: ScoreArrays, single: int, double: int) -> Stack:
    condition = score_arrays.conditions[single]
    first, second = paired_shifts(score_arrays, single, double)
    return _stack(
        f"{condition.family}, score should {'rise' if condition.direction == 'rises' else 'fall'}",
        score_arrays,
        start=np.where(score_arrays.with_errors[single], score_arrays.before[single], np.nan),
        part=patterns(first, second),
        parts=PATTERNS,
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


def _curves(points: Mapping[str, Mapping[int, list[float]]]) -> tuple[Curve, ...]:
    """Make lines of the values at each point; a line without points is dropped."""
    curves = (_curve(name, values) for name, values in points.items())
    return tuple(curve for curve in curves if curve.x)


def _curve(name: str, points: Mapping[int, list[float]]) -> Curve:
    enough = {x: values for x, values in sorted(points.items()) if len(values) >= _FEWEST}
    return Curve(
        name=name,
        x=tuple(enough),
        mean=tuple(float(np.mean(values)) for values in enough.values()),
        spread=tuple(float(np.std(values)) for values in enough.values()),
    )


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
            Section("By aspect", [_by_aspect(findings.findings)], only="page"),
            *_not_rescored(findings.findings),
            *_steps(findings.consistencies),
            Section("How scores came about", [_methods(findings)], only="page"),
            Section("Pictures", pictures[1:], only="page"),
        ],
    )


def _answer(findings: Findings) -> str:
    """Say how often scores follow a changed list of errors, and how often they do not."""
    shares = {measure.name: measure.value for measure in measures_of(findings)}
    toward, against = shares["faithfulness.toward"], shares["faithfulness.against"]
    if toward is None:
        return "No score had room to follow a changed list of errors."
    answer = f"When the list of errors changes, {toward:.0%} of the scores follow it"
    return f"{answer}." if against is None else f"{answer}, and {against:.0%} move against it."


def _writers(findings: Sequence[Finding]) -> Iterator[Paragraph]:
    """Name the models that wrote explanations, and what each wrote."""
    written: dict[str, dict[str, None]] = {}
    for finding in findings:
        if finding.written_by:
            written.setdefault(finding.written_by, {})[finding.condition] = None
    for writer, conditions in written.items():
        sentence = prose(
            "Explanations written by {}: {}. Rules make the rest, including the new explanation "
            "of an error that had none.",
            code(writer),
            ", ".join(conditions),
        )
        yield Paragraph(sentence, only="page")


def _short_tables(averages: Sequence[Average]) -> Iterator[Table]:
    """Yield a narrow table for each judge and dataset."""
    groups: dict[tuple[str, str], list[Average]] = {}
    for average in averages:
        groups.setdefault((average.judge, average.dataset), []).append(average)
    for (judge, dataset), rows in groups.items():
        yield table(
            [
                "condition",
                *numeric("printed", "errors", "room", "toward", "against", "change", "-null"),
            ],
            ([average.condition, *_average(average, digits=2)] for average in rows),
            title=f"{judge} on {dataset}",
            only="terminal",
        )


def _by_dataset(averages: Sequence[Average]) -> list[Block]:
    shares = numeric("aspects", "printed", "with errors", "with room", "toward", "against")
    changes = numeric("average change", "changed minus control")
    rows = (
        row(
            average.judge,
            average.dataset,
            average.condition,
            average.aspects,
            *_average(average, digits=3),
        )
        for average in averages
    )
    listed = table(["judge", "dataset", "condition", *shares, *changes], rows)
    return [Paragraph("Unweighted means over aspects."), listed]


def _average(average: Average, *, digits: int) -> Iterator[Cell]:
    for share in (
        average.as_printed,
        average.with_errors,
        average.with_room,
        average.toward,
        average.against,
    ):
        yield Cell(share, f".{digits}f")
    for change in (average.shift, average.above_control):
        yield Cell(change, f"+.{digits}f")


def _controls(findings: Sequence[Finding]) -> list[Block]:
    rows = [
        row(
            *_whose(finding),
            finding.overall.scored,
            _share(finding.overall.changed),
            _change(finding.overall),
        )
        for finding in findings
        if finding.is_control
    ]
    figures = numeric("reports", "changed", "average change")
    listed = table([*_WHOSE, "control", *figures], rows or [row("none was run", *[""] * 6)])
    return [Paragraph(_CONTROL), listed]


def _by_aspect(findings: Sequence[Finding]) -> Table:
    columns: dict[str, Callable[[Finding], Cell | str | int]] = {
        "written by": lambda each: each.written_by or "rule",
        "reports": lambda each: each.overall.reports,
        "lost": lambda each: each.overall.lost,
        "printed": lambda each: _share(each.overall.changed_as_printed),
        "with errors (n)": lambda each: _share(each.with_errors.changed, of=each.with_errors),
        "with room (n)": lambda each: _share(each.with_room.changed, of=each.with_room),
        "toward": lambda each: _share(each.toward(each.with_room)),
        "against (n)": lambda each: _share(
            each.against(each.with_room_against), of=each.with_room_against
        ),
        "average change": lambda each: _change(each.overall),
        "changed minus control": lambda each: _estimate(each.net and each.net.changed),
        "toward minus control": lambda each: _estimate(each.net and each.net.toward),
        "p": lambda each: Cell(each.net.p_changed if each.net else None, ".3g"),
    }
    rows = (
        row(*_whose(finding), *(cell(finding) for cell in columns.values()))
        for finding in findings
        if not finding.is_control
    )
    first, *others = columns
    return table([*_WHOSE, "condition", first, *numeric(*others)], rows)


def _not_rescored(findings: Sequence[Finding]) -> Iterator[Section]:
    rows = [
        row(
            *_whose(finding),
            _counts(finding.unchanged),
            _counts(finding.failed),
            finding.unscored,
            finding.absent,
        )
        for finding in findings
        if finding.unchanged or finding.failed or finding.unscored or finding.absent
    ]
    if rows:
        reasons = ("list cannot be changed", "list was not written")
        missing = numeric("report has no score", "not in the record")
        listed = table([*_WHOSE, "condition", *reasons, *missing], rows)
        yield Section("Not rescored", [Paragraph(_NOT_RESCORED), listed], only="page")


def _steps(consistencies: Sequence[Consistency]) -> Iterator[Section]:
    if consistencies:
        rows = (
            row(
                *(consistency.judge, consistency.dataset, consistency.aspect, consistency.family),
                consistency.direction.removesuffix("s"),
                consistency.with_errors,
                _share(consistency.share_reverted),
                _share(consistency.share_broad),
            )
            for consistency in consistencies
        )
        figures = numeric("reports", "reverted", "broad")
        listed = table([*_WHOSE, "family", "should", *figures], rows)
        yield Section("One step and two", [Paragraph(_STEPS), listed], only="page")


def _methods(findings: Findings) -> Table:
    """Tabulate by which method scores came about, and how rescorings ended."""
    by_judge, outcomes = rescoring_methods(findings), rescoring_outcomes(findings)
    rows = ([judge, _listed(by_judge[judge]), _listed(ended)] for judge, ended in outcomes.items())
    return table(["judge", "rescoring method", "outcome of rescorings"], rows)


def _whose(finding: Finding) -> tuple[str, ...]:
    return finding.judge, finding.dataset, finding.aspect, finding.condition


def _share(value: float, *, of: Rates | None = None) -> Cell:
    return Cell(value, ".3f", note=f"({of.reports})" if of else "")


def _change(rates: Rates) -> Cell:
    return _estimate(rates.average)


def _estimate(estimate: Estimate | None) -> Cell:
    if estimate is None:
        return Cell(None)
    return Cell(estimate.value, "+.3f", interval=(estimate.low, estimate.high))


def _counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{why} ({count})" for why, count in counts.items()) or "-"


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "not recorded"
