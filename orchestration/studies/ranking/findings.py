"""Systems compared by judges, and with people's help: means, pairs, groups; cautions."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spanjury.judges.core import counted
from spanjury.orchestration.studies.estimates import LEVEL, bounded, holm_adjusted
from spanjury.orchestration.studies.ranking.score_table import (
    CONFIDENCE,
    POWER,
    Ends,
    JudgedMean,
    Rank,
    RankedText,
    ScoreTable,
    inputs_to_show,
    judged_mean,
    least_p,
    more_inputs,
    ranks,
    within,
    within_difference,
)
from spanjury.orchestration.studies.sampling import left_out_note
from spanjury.stats.arrays import FloatArray
from spanjury.stats.moderation import mark_variance, moderated
from spanjury.stats.powered_estimates import PoweredEstimate
from spanjury.stats.prediction_powered import (
    marks_needed,
    powered_difference,
    powered_mean,
    powered_tuning,
)
from spanjury.stats.raters.agreement import krippendorff_alpha
from spanjury.stats.resampling import Estimate

FEWEST_MARKS = 5
"""Marked texts of an aspect from which on people's scores are used."""
_TUNED = 20
"""Marked texts from which on the panel's scores count: what a point of them is worth is chosen
once for all systems, and taken as known."""
_DIGITS = 9
"""Decimals of adjusted means: equal ones are to tie."""
Basis = Literal["judges", "people and judges"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFinding:
    """A system on one aspect.

    `texts`, `scored`: its texts, and those that have a score of the panel: the mean is of these.
    """

    system: str
    texts: int
    scored: int
    judged: JudgedMean
    """The panel's mean over inputs like these."""
    comparable: float
    """The mean that orders the systems: adjusted for inputs where systems have different ones."""
    place: Rank
    """By the basis of the ranking."""
    powered: PoweredEstimate | None
    """People's mean, with the panel's help; None where they marked too little of the aspect."""

    @property
    def coverage(self) -> float:
        """Share of its texts that have a score."""
        return self.scored / self.texts


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFinding:
    """The difference of two systems, the first less the second, over inputs that both share.

    `adjusted`, `powered_adjusted`: p-values, held for all pairs of the aspect by Holm's method.
    """

    first: str
    second: str
    judged: JudgedMean
    adjusted: float
    more_inputs: float
    """That the panel's scores alone need to show the pair to differ, among all pairs, with a power
    of 80 %."""
    powered: PoweredEstimate | None
    powered_adjusted: float
    more_marks: float
    """Number of people's marks that would show it: infinite if marks of all texts would not."""

    def value_on(self, basis: Basis) -> float:
        """Return the difference that decides."""
        return self.powered.value if basis != "judges" and self.powered else self.judged.value

    def is_apart(self, basis: Basis) -> bool:
        """Say whether the two are separated on this basis."""
        return (self.adjusted if basis == "judges" else self.powered_adjusted) <= LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectRanking:
    """The systems on one aspect, the best first."""

    aspect: str
    basis: Basis
    """The estimates that order, ranks and groups follow."""
    reason: str
    """The reason if people's scores are not the basis; empty where they are."""
    unmarked: tuple[str, ...]
    """Systems of which people marked no text, where people's scores are the basis: they stand last,
    by the panel's scores."""
    systems: tuple[SystemFinding, ...]
    pairs: tuple[PairFinding, ...]
    marked: int
    """Texts that people and the panel scored."""
    tuning: float | None
    """People's points that a point of the panel counts; None where people marked too little."""
    is_weighted: bool
    without_chance: int
    is_adjusted: bool
    """True if systems have scores for different inputs: differences over shared inputs order
    them."""

    @property
    def apart(self) -> int:
        """Pairs that are shown to differ."""
        return sum(self.shows(pair) for pair in self.pairs)

    @property
    def separated(self) -> int:
        """Pairs that the panel's scores separate, rightly or not."""
        return sum(pair.is_apart("judges") for pair in self.pairs)

    def shown(self, system: str, *, ahead: bool) -> int:
        """Return how many others a system is shown to be better than.

        If not `ahead`, those that it is shown to be worse than, or separated from as worse.
        """
        leads = (
            pair.value_on(self.basis) * (1 if pair.first == system else -1)
            for pair in self.pairs
            if system in (pair.first, pair.second)
            and (self.shows(pair) if ahead else pair.is_apart(self.basis))
        )
        return sum((lead > 0) == ahead for lead in leads)

    def shows(self, pair: PairFinding) -> bool:
        """Say whether two systems are shown to differ, which a panel alone cannot show."""
        return not self.not_shown(pair) and pair.is_apart(self.basis)

    def not_shown(self, pair: PairFinding) -> str:
        """Return why nothing can be shown of two systems; empty where it can."""
        if self.reason:
            return self.reason
        lacking = [name for name in (pair.first, pair.second) if name in self.unmarked]
        return f"people scored no text of {' and '.join(lacking)}" if lacking else ""

    @property
    def reversed_pairs(self) -> tuple[PairFinding, ...]:
        """Pairs that people tell apart, and the panel the other way round."""
        return tuple(
            pair
            for pair in self.pairs
            if pair.powered is not None
            and pair.is_apart("judges")
            and pair.is_apart("people and judges")
            and pair.judged.value * pair.powered.value < 0
        )


class MarkedSystems:
    """Systems of which people marked some texts: their means and differences by people's scores."""

    def __init__(self, table: ScoreTable) -> None:
        self._table = table
        self.tuning = 0.0
        """People's points that a point of the panel counts."""
        if table.marked >= _TUNED:
            self.tuning = powered_tuning(
                table.people, table.judged, weights=table.weights, clusters=table.inputs
            )
        systems = range(len(table.systems))
        pairs = [*combinations(systems, 2)]
        # The variance of a mark within its system, which systems with few equal marks borrow, and
        # that in differences of two systems: outputs for one input are correlated.
        self._variance = mark_variance([*map(self._mean, systems)], [*map(self._size, systems)])
        self._pair_variance = mark_variance(
            [*map(self._difference, pairs)], [*map(self._pair_size, pairs)], systems=len(systems)
        )

    def mean(self, system: int) -> PoweredEstimate:
        """Estimate people's mean of a system."""
        mean, size = self._mean(system), self._size(system)
        return moderated(mean, variance=self._variance, size=size, confidence=CONFIDENCE)

    def difference(self, pair: tuple[int, int]) -> PoweredEstimate:
        """Estimate people's difference of two systems, over the inputs that both have scores of."""
        difference, size = self._difference(pair), self._pair_size(pair)
        return moderated(difference, variance=self._pair_variance, size=size, confidence=CONFIDENCE)

    def _mean(self, system: int) -> PoweredEstimate:
        return powered_mean(
            self._table.people[system],
            self._table.judged[system],
            weights=self._table.weights[system],
            clusters=self._table.inputs,
            tuning=self.tuning,
            confidence=CONFIDENCE,
        )

    def _difference(self, pair: tuple[int, int]) -> PoweredEstimate:
        columns = self._shared(pair)
        rows = np.ix_(np.array(pair), np.flatnonzero(columns))
        return powered_difference(
            self._table.people[rows],
            self._table.judged[rows],
            weights=self._table.weights[rows],
            clusters=self._table.inputs[columns],
            tuning=self.tuning,
            confidence=CONFIDENCE,
        )

    def _shared(self, pair: tuple[int, int]) -> NDArray[np.bool_]:
        """Return the columns in which the panel scored both systems."""
        return np.asarray(~np.isnan(self._table.judged[[*pair]]).any(axis=0))

    def _size(self, system: int, columns: NDArray[np.bool_] | None = None) -> float:
        """Return how many marks of one chance would weigh as much as a system's, in `columns`."""
        marked = ~np.isnan(self._table.people[system] + self._table.judged[system])
        chosen = marked if columns is None else marked & columns
        weights: FloatArray = self._table.weights[system][chosen]
        return float(weights.sum() ** 2 / (weights @ weights)) if weights.size else 0.0

    def _pair_size(self, pair: tuple[int, int]) -> float:
        """Return how many pairs of such marks would weigh as much as those of two systems."""
        first, second = (self._size(system, self._shared(pair)) for system in pair)
        return first * second / (first + second) if first and second else 0.0


def rank_systems(table: ScoreTable) -> AspectRanking:
    """Rank the systems of a table; two of them at least.

    Raise `ValueError` if there are fewer.
    """
    if len(table.systems) < 2:  # noqa: PLR2004  a rank takes two
        raise ValueError(f"expected two systems, got {table.systems!r}")
    reason = _reason(table)
    people = None if reason else MarkedSystems(table)
    means = [judged_mean(scores, table.inputs) for scores in table.judged]
    powered = [people.mean(number) if people else None for number in range(len(table.systems))]
    basis: Basis = "judges" if reason else "people and judges"
    helped = [None if mean is None or math.isnan(mean.error) else mean for mean in powered]
    values = [
        judged.value if reason or with_help is None else with_help.value
        for judged, with_help in zip(means, helped, strict=True)
    ]
    # People's points and the panel's are not of one kind, so unmarked systems stand apart.
    last = [not reason and mean is None for mean in helped]
    order = _order(values, last=last)
    pairs = _adjusted([*_pairs(table, order, people)])
    scored = [{*table.inputs[~np.isnan(scores)].tolist()} for scores in table.judged]
    is_adjusted = any(inputs != scored[0] for inputs in scored)
    if is_adjusted:
        values = _comparable(values, [*_leads(pairs, table, basis=basis, last=last)])
        order = _order(values, last=last)
        pairs = _adjusted([*_pairs(table, order, people)])
    apart = (
        (pair.first, pair.second, pair.value_on(basis)) for pair in pairs if pair.is_apart(basis)
    )
    where = ranks(table.systems, apart, order=order)
    return AspectRanking(
        aspect=table.aspect,
        basis=basis,
        reason=reason,
        unmarked=tuple(name for name, is_last in zip(table.systems, last, strict=True) if is_last),
        systems=tuple(
            SystemFinding(
                system=table.systems[number],
                texts=int(table.texts[number]),
                scored=int(np.count_nonzero(~np.isnan(table.judged[number]))),
                judged=within(means[number], table.judged_ends),
                comparable=values[number],
                place=where[number],
                powered=_cut(powered[number], table.people_ends),
            )
            for number in order
        ),
        pairs=tuple(pairs),
        marked=table.marked,
        tuning=people.tuning if people else None,
        is_weighted=table.is_weighted,
        without_chance=table.without_chance,
        is_adjusted=is_adjusted,
    )


def _cut(estimate: PoweredEstimate | None, ends: Ends) -> PoweredEstimate | None:
    """Return the same cut at the ends of the scale, and without intervals of width 0."""
    if estimate is None:
        return None
    _, low, high = bounded(Estimate(estimate.value, estimate.low, estimate.high))
    _, plain_low, plain_high = bounded(
        Estimate(estimate.plain, estimate.plain_low, estimate.plain_high)
    )
    return within(
        estimate._replace(low=low, high=high, plain_low=plain_low, plain_high=plain_high), ends
    )


def _order(values: Sequence[float], *, last: Sequence[bool]) -> list[int]:
    return sorted(range(len(values)), key=lambda n: (last[n], math.isnan(values[n]), -values[n]))


class _Lead(NamedTuple):
    """Difference of two systems over the inputs that both have scores for."""

    first: int
    second: int
    value: float
    inputs: int


def _leads(
    pairs: Sequence[PairFinding], table: ScoreTable, *, basis: Basis, last: Sequence[bool]
) -> Iterator[_Lead]:
    """Yield the differences on one basis: people's points and the panel's do not mix."""
    number = {name: at for at, name in enumerate(table.systems)}
    for pair in pairs:
        first, second = number[pair.first], number[pair.second]
        value = pair.judged.value if last[first] else pair.value_on(basis)
        if last[first] == last[second] and not math.isnan(value):
            yield _Lead(first, second, value, pair.judged.inputs)


def _comparable(values: Sequence[float], leads: Sequence[_Lead]) -> list[float]:
    """Return means whose differences fit the leads best, by least squares [1]_.

    Each lead weighs as its number of inputs. Systems that no inputs link keep the mean of their
    means. Where all systems have the same inputs, the means stay the same.

    References
    ----------
    .. [1] Yates (1934), JASA 29(185):51-66, doi:10.1080/01621459.1934.10502686
    """
    means = np.array(values)
    balance, sums = np.zeros((means.size, means.size)), np.zeros(means.size)
    for first, second, value, inputs in leads:
        ends = np.zeros(means.size)
        ends[first], ends[second] = 1, -1
        balance += inputs * np.outer(ends, ends)
        sums += inputs * value * ends
    inverse = np.linalg.pinv(balance, hermitian=True)
    group_means = np.eye(means.size) - inverse @ balance
    fitted = inverse @ sums + group_means @ np.nan_to_num(means)
    adjusted: list[float] = np.where(np.isnan(means), np.nan, fitted.round(_DIGITS)).tolist()
    return adjusted


def _reason(table: ScoreTable) -> str:
    """Return why people's scores cannot order the systems; empty where they can."""
    if not table.marked:
        return "people scored no text"
    if table.marked < FEWEST_MARKS:
        return f"people scored only {counted(table.marked, 'text')} of the {FEWEST_MARKS} needed"
    return ""


def _pairs(
    table: ScoreTable, order: Sequence[int], people: MarkedSystems | None
) -> Iterator[PairFinding]:
    # Of all pairs, as Holm's first step takes it: what it lets pass, the others do too.
    confidence = 1 - LEVEL / math.comb(len(order), 2)
    for pair in combinations(order, 2):
        first, second = table.judged[[*pair]]
        difference = judged_mean(first - second, table.inputs)
        powered = people.difference(pair) if people and difference.inputs else None
        yield PairFinding(
            first=table.systems[pair[0]],
            second=table.systems[pair[1]],
            judged=within(difference, within_difference(table.judged_ends)),
            adjusted=difference.p,
            more_inputs=more_inputs(difference, confidence=confidence),
            powered=_cut(powered, within_difference(table.people_ends)),
            # Few marked inputs that happen to agree can show no less.
            powered_adjusted=max(powered.p, least_p(powered.clusters)) if powered else math.nan,
            more_marks=_more_marks(powered, confidence=confidence),
        )


def _more_marks(powered: PoweredEstimate | None, *, confidence: float) -> float:
    if powered is None:
        return math.nan
    needed = marks_needed(powered, confidence=confidence, power=POWER)
    missing = inputs_to_show(confidence=confidence) - powered.clusters
    more = needed if math.isnan(needed) else max(needed, 2.0 * missing)
    return math.inf if more > powered.items - powered.marked else more


def _adjusted(pairs: Sequence[PairFinding]) -> list[PairFinding]:
    judged = holm_adjusted([pair.adjusted for pair in pairs]).tolist()
    powered = holm_adjusted([pair.powered_adjusted for pair in pairs]).tolist()
    return [
        replace(pair, adjusted=p, powered_adjusted=with_people)
        for pair, p, with_people in zip(pairs, judged, powered, strict=True)
    ]


_FEW_INPUTS = 10
"""Inputs below which Student's interval leans on the shape of scores."""
_FEW_SHARED = 5
"""Texts of two annotators, or more, from which on their agreement is looked at."""
_COVERED = 0.95
_NO_ERROR = 1e-12
_NAMED = 3


def cautions(ranking: AspectRanking) -> Iterator[str]:
    """Yield, in sentences, what to keep in mind when a ranking is read."""
    thin = [each for each in ranking.systems if each.coverage < _COVERED]
    if thin:
        yield (
            f"{_few([f'{each.system} ({each.scored} of {each.texts})' for each in thin])}: only "
            "these texts have a score; the others are excluded and may be worse"
        )
    if ranking.is_adjusted and not _is_shared(ranking):
        yield (
            "the systems have texts for different inputs, so their means are not comparable: the"
            " order follows means adjusted by the differences over shared inputs"
        )
    if alone := [pair for pair in ranking.pairs if not pair.judged.inputs]:
        yield (
            f"{len(alone)} of {len(ranking.pairs)} pairs have no input in common and are not "
            "compared: their means may differ because their inputs differ"
        )
    if ranking.unmarked:
        yield (
            f"people scored no text of {_few(ranking.unmarked)}, so no pair with such a system can"
            " be shown to differ; these systems are listed last, in the order of the panel's scores"
        )
    yield from _on_few_inputs(ranking)
    if alike := [each.system for each in ranking.systems if each.judged.error < _NO_ERROR]:
        yield f"{_few(alike)}: the panel's scores are all equal, so they have no interval"
    unsure = [
        each
        for each in ranking.pairs
        if each.powered and math.isnan(each.powered.error) and not ranking.not_shown(each)
    ]
    if unsure:
        names = _few([f"{pair.first} and {pair.second}" for pair in unsure])
        yield f"{names}: people scored too few texts for an interval of the difference"
    if ranking.without_chance:
        yield left_out_note(ranking.without_chance)
    if turned := ranking.reversed_pairs:
        names = _few([f"{pair.first} and {pair.second}" for pair in turned])
        yield f"{names}: the panel ranks them in the opposite order to people, so it is biased"


def _is_shared(ranking: AspectRanking) -> bool:
    """Say whether each two systems share nearly all their inputs."""
    inputs = {each.system: each.judged.inputs for each in ranking.systems}
    return all(
        pair.judged.inputs >= _COVERED * max(inputs[pair.first], inputs[pair.second])
        for pair in ranking.pairs
    )


def annotators_caution(texts: Sequence[RankedText]) -> str:
    """Say that people disagree so much that their mean is no truth; empty where they do not."""
    names = sorted({name for text in texts for name in text.people})
    shared = [text for text in texts if len(text.people) > 1]
    if len(shared) < _FEW_SHARED:
        return ""
    rows = [[text.people.get(name, np.nan) for name in names] for text in shared]
    alpha = krippendorff_alpha(rows, level="interval").value
    if not alpha <= 0:
        return ""
    return (
        f"annotators agree no better than by chance on the {len(shared)} texts that several scored "
        f"(alpha {alpha:.2f}), so the mean of their scores says nothing about systems"
    )


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _on_few_inputs(ranking: AspectRanking) -> Iterator[str]:
    few = [each.system for each in ranking.systems if 0 < each.judged.inputs < _FEW_INPUTS]
    if few:
        yield f"{_few(few)}: fewer than {_FEW_INPUTS} inputs, so intervals may be too narrow"
    inputs = [pair.judged.inputs for pair in ranking.pairs if pair.judged.inputs]
    if inputs and (least := least_p(max(inputs)) * len(inputs)) > LEVEL:
        yield (
            f"no pair can be shown to differ: with {counted(max(inputs), 'input')} the lowest"
            f" p-value, adjusted for {counted(len(inputs), 'pair')}, is {min(least, 1):.3f}"
        )
