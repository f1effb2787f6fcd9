"""Findings: how a judge's scores follow its changed lists, by aspect and on average; cautions."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import RescoringMethod, counted
from spanjury.orchestration.report import Bounded
from spanjury.orchestration.report.json import fields_of, plain, versions
from spanjury.orchestration.studies.card import (
    SHARE,
    SIGNED,
    Measure,
    Ranges,
    measured,
    ratio_measure,
)
from spanjury.orchestration.studies.estimates import grouped, numbered, ratios_of, resampled
from spanjury.orchestration.studies.faithfulness.outcomes import (
    CONTROL,
    MEASURES,
    SMALLEST_MOVE,
    UNCHANGED,
    BoolArray,
    Change,
    Consistency,
    Direction,
    ListOutcome,
    NetOfControl,
    Rates,
    ScoreArrays,
    collect_scores,
    consistencies,
    differences,
    moves,
    net_of_control,
    rates,
    share,
)
from spanjury.stats.arrays import cluster_sums, mean_of_defined
from spanjury.stats.proportions import Proportion, clustered_proportion
from spanjury.stats.resampling import Estimate, estimates
from spanjury.stats.weighted import mean_drop

_BASES = 4
"""All reports, those with errors, those with room, those with room the other way."""
_DIRECTIONS: Mapping[str, tuple[str, ...]] = {
    "overall": ("toward", "against"),
    "with_errors": ("toward", "against"),
    "with_room": ("toward",),
    "with_room_against": ("against",),
}
"""Reports that shares are taken over, and the directions in which all of these can move."""

_NET = "minus that under the unchanged list"
_MEASURES: Mapping[str, str] = {
    "toward": "share of scores with room that moved with the changed list",
    "against": "share of scores with room to move the other way that did",
    "null_adjusted": f"share of scores that moved with the changed list, {_NET}",
    "null_adjusted_against": f"share of scores that moved the other way, {_NET}",
    "null_moved": "share of scores that move although the list is the same",
}
RANGES: Ranges = {
    f"faithfulness.{name}": SIGNED if name.startswith("null_adjusted") else SHARE
    for name in _MEASURES
}
"""Name of a measure of an exam -> its range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The effect of one condition on one judge's scores on one aspect of one dataset.

    `absent`, `unscored`: number of these that are not in the record, and without a score to begin
    with.
    `error_free`, `clipped`: number of the rest whose list could not be changed, without errors and
    with some.
    """

    judge: str
    dataset: str
    aspect: str
    condition: str
    family: str
    by: int | None
    direction: Direction | None
    written_by: str
    is_control: bool
    texts: int
    absent: int
    unscored: int
    error_free: int
    clipped: int
    unchanged: Mapping[str, int]
    """The same by all reasons that there are, each with how many."""
    failed: Mapping[str, int]
    """Reports that are in nothing below, since the model that was to write their list did not:
    reason -> how many."""
    overall: Rates
    """Over all reports, as the paper counts: one that could not be changed has not changed."""
    with_errors: Rates
    with_room: Rates
    """Over those whose list was changed and whose score could move as it should."""
    with_room_against: Rates
    """Over those whose list was changed and whose score could move the other way."""
    net: NetOfControl | None
    """The same minus the null control; None without one, and for the control itself."""

    def toward(self, rates: Rates) -> float:
        """Return the share of scores in `rates` that moved as they should; NaN for a control."""
        return self._share(rates.fell if self.direction == "falls" else rates.rose, rates)

    def against(self, rates: Rates) -> float:
        """Return the share of scores in `rates` that moved the other way; NaN for a control."""
        return self._share(rates.rose if self.direction == "falls" else rates.fell, rates)

    def _share(self, count: int, rates: Rates) -> float:
        return math.nan if self.direction is None else share(count, rates.scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The result of an exam."""

    score_arrays: tuple[ScoreArrays, ...]
    findings: tuple[Finding, ...]
    consistencies: tuple[Consistency, ...]
    seed: int
    draws: int


def findings_of(changes: Iterable[Change], *, seed: int = 1, draws: int = 2000) -> Findings:
    """Evaluate recorded changes, of any origin."""
    score_arrays = collect_scores(changes)
    findings = (_findings(score_array, seed=seed, draws=draws) for score_array in score_arrays)
    return Findings(
        score_arrays=score_arrays,
        findings=tuple(chain.from_iterable(findings)),
        consistencies=tuple(chain.from_iterable(map(consistencies, score_arrays))),
        seed=seed,
        draws=draws,
    )


def _findings(score_arrays: ScoreArrays, *, seed: int, draws: int) -> Iterator[Finding]:
    bases, texts = _bases(score_arrays), len(score_arrays.texts)
    estimates = _estimates(score_arrays, seed=seed, draws=draws)
    # If a text occurs twice under a condition, its last change counts.
    last = {(change.condition, change.text): change for change in score_arrays.changes}
    changes = grouped(last.values(), lambda change: change.condition)
    for row, condition in enumerate(score_arrays.conditions):
        overall, with_errors, with_room, with_room_against = (
            rates(score_arrays.shifts[row], among[row], average=average)
            for average, among in zip(estimates[row], bases, strict=False)
        )
        listed = changes[condition.condition]
        ends = Counter(change.list_outcome for change in listed)
        yield Finding(
            judge=score_arrays.judge,
            dataset=score_arrays.dataset,
            aspect=score_arrays.aspect,
            condition=condition.condition,
            family=condition.family,
            by=condition.by,
            direction=condition.direction,
            written_by=condition.written_by,
            is_control=condition.is_control,
            texts=texts,
            absent=texts - len(listed) + ends[ListOutcome.ABSENT],
            unscored=ends[ListOutcome.UNSCORED],
            error_free=ends[ListOutcome.ERROR_FREE],
            clipped=ends[ListOutcome.CLIPPED],
            unchanged=Counter(
                change.why_unchanged for change in listed if change.list_outcome in UNCHANGED
            ),
            failed=Counter(
                change.reason for change in listed if change.list_outcome is ListOutcome.FAILED
            ),
            overall=overall,
            with_errors=with_errors,
            with_room=with_room,
            with_room_against=with_room_against,
            net=net_of_control(score_arrays, row, estimates=estimates[row][_BASES:]),
        )


def _estimates(score_arrays: ScoreArrays, *, seed: int, draws: int) -> list[tuple[Estimate, ...]]:
    """Return each condition's average change by base, and its measures net of the control."""
    bases = np.where(_bases(score_arrays), score_arrays.shifts, np.nan).swapaxes(0, 1)
    compared = [differences(score_arrays, row) for row in range(len(score_arrays.conditions))]
    values = np.concatenate([bases, compared], axis=1)
    drawn = resampled(mean_drop(values), score_arrays.owner, seed=seed, draws=draws)
    cells, width = estimates(drawn), values.shape[1]
    return [tuple(cells[start : start + width]) for start in range(0, len(cells), width)]


def _bases(score_arrays: ScoreArrays) -> tuple[BoolArray, ...]:
    """Return which reports shares are taken over, in the order of the fields of `Finding`."""
    return (
        score_arrays.recorded,
        score_arrays.with_errors,
        score_arrays.with_room,
        score_arrays.with_room_against,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Average:
    """Unweighted means over the aspects of a dataset, as in the paper's table.

    A mean is NaN where no aspect has a figure.
    """

    judge: str
    dataset: str
    condition: str
    aspects: int
    """Aspects with a score to begin with."""
    as_printed: float
    """Share of changed scores over all reports, a lost score counted as a changed one."""
    with_errors: float
    """Share of changed scores over the reports that list errors."""
    with_room: float
    """Share of changed scores over the reports whose score can move as it should."""
    toward: float
    """Share of scores with room that moved as they should."""
    against: float
    """Share of scores with room to move the other way that did."""
    shift: float
    """Average change over all reports, in points of the scale."""
    above_control: float
    """Share of changed scores minus that of the null control."""


def averages(findings: Iterable[Finding]) -> tuple[Average, ...]:
    """Average `findings` over aspects, in the order in which conditions first come."""
    groups = grouped(findings, lambda each: (each.judge, each.dataset, each.condition))
    return tuple(
        Average(
            judge=judge,
            dataset=dataset,
            condition=condition,
            aspects=sum(each.overall.reports > 0 for each in aspects),
            as_printed=_mean(each.overall.changed_as_printed for each in aspects),
            with_errors=_mean(each.with_errors.changed for each in aspects),
            with_room=_mean(each.with_room.changed for each in aspects),
            toward=_mean(each.toward(each.with_room) for each in aspects),
            against=_mean(each.against(each.with_room_against) for each in aspects),
            shift=_mean(each.overall.average.value for each in aspects),
            above_control=_mean(each.net.changed.value for each in aspects if each.net),
        )
        for (judge, dataset, condition), aspects in groups.items()
    )


def _mean(values: Iterable[float]) -> float:
    return float(mean_of_defined([*values]))


_FEW = 30
"""With fewer reports than this an effect is often missed, and intervals are rough."""
_RESTLESS = 0.05
"""From this share on a judge that changes its mind by itself colours every figure."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what speaks against taking the numbers at their face value."""
    on_scores = chain.from_iterable(map(_on_scores, findings.score_arrays))
    return (*on_scores, *chain.from_iterable(map(_on_finding, findings.findings)))


def named(owner: ScoreArrays | Finding) -> str:
    """Say whose scores these are, and of what."""
    return ", ".join(part for part in (owner.judge, owner.dataset, owner.aspect) if part)


def _on_scores(score_arrays: ScoreArrays) -> Iterator[str]:
    whose = named(score_arrays)
    if score_arrays.row(CONTROL) is None:
        yield (
            f"{whose}: there is no null control. It is unknown how often the score changes without "
            "a cause, so no share of changed scores can be attributed to a condition."
        )
    absent = sum(change.list_outcome is ListOutcome.ABSENT for change in score_arrays.changes)
    rows = len({(change.condition, change.text) for change in score_arrays.changes})
    missing = len(score_arrays.conditions) * len(score_arrays.texts) - rows + absent
    if missing:
        yield f"{whose}: {missing} pairs are not in the record and were skipped."
    has_scores = bool(np.isfinite(score_arrays.before).any())
    if has_scores and all(change.errors is None for change in score_arrays.changes):
        yield (
            f"{whose}: the record does not say how many errors a report lists; a report with less "
            "than the best score is assumed to list some."
        )
    if score_arrays.recorded.any() and score_arrays.with_errors.any(axis=0).sum() < _FEW:
        count = int(score_arrays.with_errors.any(axis=0).sum())
        few = counted(count, "report lists", "reports list")
        yield f"{whose}: {f'only {few}' if count else 'no report lists'} errors."
    if any(change.method is RescoringMethod.RESTATED for change in score_arrays.changes):
        yield (
            f"{whose}: some lists were sent in a new turn instead of continuing the judge's own "
            "reply. A judge may score a given list differently from one that it wrote itself."
        )
    if _ignores_words(score_arrays):
        yield (
            f"{whose}: the score is computed from locations and severities, so rewording only the "
            "explanation never moved it. Such conditions count as not followed."
        )


def _ignores_words(score_arrays: ScoreArrays) -> bool:
    """Return whether scores are computed, and changing only explanations never moved one."""
    reworded = [
        change for change in score_arrays.changes if change.family == "explanation" and change.shift
    ]
    methods = {change.method for change in score_arrays.changes if change.method}
    worded = any(condition.family == "explanation" for condition in score_arrays.conditions)
    return worded and methods == {RescoringMethod.COMPUTED} and not reworded


def _on_finding(finding: Finding) -> Iterator[str]:
    whose = f"{named(finding)}, {finding.condition}"
    overall = finding.overall
    is_restless = not math.isnan(overall.changed) and overall.changed >= _RESTLESS
    if finding.is_control and is_restless:
        yield (
            f"{whose}: {overall.changed:.0%} of the scores change although the list did not. Use "
            "the columns minus control."
        )
    if finding.failed:
        count = sum(finding.failed.values())
        wanted = finding.texts - finding.absent - finding.unscored - sum(finding.unchanged.values())
        reasons = "; ".join(f"{why} ({n})" for why, n in finding.failed.items())
        yield (
            f"{whose}: {finding.written_by} did not write {count} of {wanted} lists, which "
            f"were skipped: {reasons}."
        )
    if overall.lost:
        yield f"{whose}: {overall.lost} of {overall.reports} reports have no second score."


def findings_json(findings: Findings) -> dict[str, object]:
    """Return `findings` by field, numbers to 6 significant digits; what is undefined is None."""
    return {
        "exam": "faithfulness",
        "versions": versions(),
        "settings": {
            "seed": findings.seed,
            "draws": findings.draws,
            "smallest_move": SMALLEST_MOVE,
        },
        "findings": [_finding_json(finding) for finding in findings.findings],
        "consistency": [
            {
                **fields_of(consistency),
                "share_reverted": plain(consistency.share_reverted),
                "share_broad": plain(consistency.share_broad),
            }
            for consistency in findings.consistencies
        ],
        "rescoring_methods": plain(rescoring_methods(findings)),
        "outcomes": plain(rescoring_outcomes(findings)),
        "cautions": list(cautions(findings)),
    }


def _finding_json(finding: Finding) -> dict[str, object]:
    values = fields_of(finding)
    for base, directions in _DIRECTIONS.items():
        rates: Rates = getattr(finding, base)
        shares = {"toward": finding.toward(rates), "against": finding.against(rates)}
        values[base] = plain(
            {
                **rates._asdict(),
                "changed": rates.changed,
                "changed_as_printed": rates.changed_as_printed,
                **{name: shares[name] for name in directions},
            }
        )
    return values


def rescoring_methods(findings: Findings) -> Mapping[str, Counter[str]]:
    """Count, judge by judge, by which method scores came about."""
    return _counted(findings, lambda change: change.method and change.method.value)


def rescoring_outcomes(findings: Findings) -> Mapping[str, Counter[str]]:
    """Count, judge by judge, how rescorings ended."""
    return _counted(findings, lambda change: change.outcome.value if change.is_rescored else None)


def _counted(
    findings: Findings, name: Callable[[Change], str | None]
) -> Mapping[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for score_array in findings.score_arrays:
        names = map(name, score_array.changes)
        counts.setdefault(score_array.judge, Counter()).update(filter(None, names))
    return counts


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of `findings`, each report and condition counting alike."""
    used = sum(each.net.used for each in findings.findings if each.net and not each.is_control)
    controls = [each.overall for each in findings.findings if each.is_control]
    scored = [rates for rates in controls if rates.scored]
    with_room = moves_with_room(findings)
    figures: list[tuple[Bounded, int]] = [(moved, moved.trials) for moved in with_room]
    figures += [(net, used) for net in net_moves(findings)]
    *names, restless = zip(RANGES, _MEASURES.values(), strict=True)
    return (
        *(
            measured(name, figure, says=says, count=count)
            for (name, says), (figure, count) in zip(names, figures, strict=True)
        ),
        ratio_measure(
            restless[0],
            sum(each.changed * each.scored for each in scored),
            sum(each.scored for each in scored),
            says=restless[1],
        ),
    )


def moves_with_room(findings: Findings) -> tuple[Proportion, Proportion]:
    """Return the shares of scores with room that follow their list, and move against it.

    Each is over the scores with room to move that way, in all conditions; their sources are
    clusters.
    """
    counts = [np.zeros((2, 2, 0))]
    for arrays in findings.score_arrays:
        ways = [_WAYS.get(condition.direction, np.nan) for condition in arrays.conditions]
        followed = moves(arrays.shifts) * np.array(ways)[:, np.newaxis]
        sides = ((arrays.with_room, followed > 0), (arrays.with_room_against, followed < 0))
        counted = [(base & hit, base & ~np.isnan(followed)) for base, hit in sides]
        counts.append(np.sum(counted, axis=2))
    sums = cluster_sums(np.concatenate(counts, axis=-1), _source_numbers(findings))
    toward, against = (clustered_proportion(hits, tried) for hits, tried in sums)
    return toward, against


_SIDES = [MEASURES.index("toward"), MEASURES.index("against")]
_WAYS: Mapping[Direction | None, int] = {"falls": -1, "rises": 1}


def net_moves(findings: Findings) -> tuple[Estimate, Estimate]:
    """Return the shares of scores that follow their list, and move against it, net of the control.

    They are over all changed lists that can be compared with the null control, as the measures
    ``null_adjusted``; sources are resampled with all their judges, aspects and conditions.
    """
    compared = [
        np.stack([differences(arrays, row)[_SIDES] for row in range(len(arrays.conditions))])
        for arrays in findings.score_arrays
    ]
    if not compared:
        return Estimate(), Estimate()
    owner = _source_numbers(findings)
    moved, used = (
        cluster_sums(np.concatenate([part.sum(axis=0) for part in parts], axis=-1), owner)
        for parts in (map(np.nan_to_num, compared), [~np.isnan(each) for each in compared])
    )
    toward, against = ratios_of(moved, used, seed=findings.seed, draws=findings.draws)
    return toward, against


def _source_numbers(findings: Findings) -> NDArray[np.intp]:
    """Return the number of the source of each text, one set of scores after the other."""
    numbers, _ = numbered(
        [(arrays.dataset, source) for arrays in findings.score_arrays for source in arrays.sources]
    )
    return numbers
