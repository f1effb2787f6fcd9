"""Systems ranked by comparisons: strengths without the effect of position, beside win shares."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, maximum_flow
from scipy.special import stdtrit

from spanjury.judges.core import unstamped
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Prose,
    Report,
    Section,
    code,
    emphasis,
    estimate_cell,
    joined,
    left,
    prose,
    right,
    spread,
    strong,
    table_of,
)
from spanjury.orchestration.report.json import fields_of
from spanjury.orchestration.studies.estimates import LEVEL, holm_adjusted, numbered
from spanjury.orchestration.studies.pairs.comparing import POINTS, ComparisonRow
from spanjury.orchestration.studies.pairs.findings import OrderFindings, order_findings
from spanjury.orchestration.studies.ranking.score_table import CONFIDENCE, Rank, least_p, ranks
from spanjury.orchestration.studies.ranking.tables import p_cell
from spanjury.stats.arrays import FloatArray
from spanjury.stats.paired_comparisons import (
    bradley_terry,
    bradley_terry_effect,
    bradley_terry_scores,
)
from spanjury.stats.powered_estimates import student_p
from spanjury.stats.proportions import Proportion, share_by_source
from spanjury.stats.resampling import Estimate, bootstrap, estimates, jackknife

_SEED = 1
_SHOWN = {"A": 1, "B": -1, None: 0}
_FEW_SOURCES = 10
_MOST_FLIPPED = 12
"""Sources of which all signs are flipped: 4,096 ways."""
_MOST_LEFT_OUT = 1000
"""With more sources, groups of them are left out together."""
_DIGITS = 7
"""Decimals of differences, of which smaller ones are due to rounding."""
_TURNED = 0.5
"""Below this share of consistent pairs, order decides more pairs than the texts do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSystem:
    """A system on one aspect."""

    system: str
    compared: int
    """Its comparisons with a preference."""
    win_share: float
    """Share of its wins, ties half, over all comparisons as they are: the trivial figure."""
    share: Estimate
    """Expected share of its wins against every other system equally often, without the effect of
    position."""
    strength: Estimate
    """Log-odds against a system of average strength."""
    rank: Rank
    """By the pairs that differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPair:
    """The difference of two systems' strengths, the first minus the second."""

    first: str
    second: str
    difference: Estimate
    adjusted: float
    """P-value, held for all pairs of the aspect by Holm's method."""

    @property
    def differs(self) -> bool:
        """True if the pair judge separates the two."""
        return self.adjusted <= LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRanking:
    """The systems on one aspect, the strongest first."""

    aspect: str
    systems: tuple[RankedSystem, ...]
    pairs: tuple[RankedPair, ...]
    position: Estimate
    """Log-odds that the text shown first gains; NaN where no pair was shown in both orders."""
    order: OrderFindings
    sources: int
    cautions: tuple[str, ...]

    @property
    def separated(self) -> int:
        """Number of pairs that the pair judge separates."""
        return sum(pair.differs for pair in self.pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRankings:
    """Rankings by comparisons, aspect by aspect; `results` names the files."""

    results: tuple[str, ...]
    aspects: tuple[PairRanking, ...]


def rank_by_pairs(rows: Sequence[ComparisonRow], *, draws: int = 2000) -> PairRanking:
    """Rank the systems of comparisons on one aspect.

    Raise `ValueError` if none has a preference.

    `draws`: samples of sources for the intervals of systems.
    """
    answered = [row for row in rows if row.preference is not None]
    table = _Table(answered)
    reports, shown_first = (table.items, table.points), table.shown_first
    fit = bradley_terry(*reports, shown_first=shown_first)
    effect = bradley_terry_effect(*reports, shown_first=shown_first, clusters=table.sources)
    sources = len({*table.sources})
    drawn = bootstrap(effect, items=sources, rng=np.random.default_rng(_SEED), draws=draws)
    figures = estimates(drawn)
    count = len(table.systems)
    order = sorted(range(count), key=lambda number: -round(float(fit.strengths[number]), _DIGITS))
    pairs = _pairs(table, order=order)
    apart = ((pair.first, pair.second, pair.difference.value) for pair in pairs if pair.differs)
    by_rank = ranks(table.systems, apart, order=order)
    won = [table.won(at) for at in range(count)]
    return PairRanking(
        aspect=answered[0].aspect,
        systems=tuple(
            RankedSystem(
                system=table.systems[at],
                compared=sum(table.systems[at] in (r.system_a, r.system_b) for r in answered),
                win_share=won[at].value,
                share=_widened(figures[count + at], won[at]),
                strength=figures[at],
                rank=by_rank[at],
            )
            for at in order
        ),
        pairs=pairs,
        position=figures[-1],
        order=order_findings(rows),
        sources=sources,
        cautions=tuple(_cautions(rows, table, won=won)),
    )


class _Table:
    """The reports of comparisons as arrays: one a report, so that each order counts."""

    def __init__(self, rows: Sequence[ComparisonRow]) -> None:
        if not rows:
            raise ValueError("expected a comparison with a preference, got none")
        self.systems = [*dict.fromkeys(name for r in rows for name in (r.system_a, r.system_b))]
        number = {system: at for at, system in enumerate(self.systems)}
        reports = [(row, report) for row in rows for report in row.orders]
        self.items = [(number[row.system_a], number[row.system_b]) for row, _ in reports]
        self.points = [POINTS[r.preference] for _, r in reports if r.preference is not None]
        self.shown_first = [_SHOWN[report.first] for _, report in reports]
        self.sources = [row.source for row, _ in reports]

    def won(self, system: int) -> Proportion:
        """Return the share of wins of a system, ties half, over its comparisons as they are."""
        return share_by_source(
            (source, points if system == first else 1 - points, 1)
            for (first, second), points, source in zip(
                self.items, self.points, self.sources, strict=True
            )
            if system in (first, second)
        )

    def sources_of(self, pair: tuple[int, int]) -> int:
        """Return the number of sources that link two systems, directly or by way of others.

        It is at most the number over which either of the two met anyone.
        """
        met = {(*sorted(at), source) for at, source in zip(self.items, self.sources, strict=True)}
        ends = np.array([link for *at, _ in met for link in (at, at[::-1])], dtype=np.intp).T
        ones, size = np.ones(ends.shape[1], dtype=np.int32), len(self.systems)
        links = coo_array((ones, (*ends,)), shape=(size, size)).tocsr()
        of_each = [len({source for *at, source in met if system in at}) for system in pair]
        return min(int(maximum_flow(links, *pair).flow_value), *of_each)

    def p_of_lead(self, pair: tuple[int, int], *, sources: int) -> float:
        """Return the two-sided p that two systems are equally strong; NaN if nothing links them."""
        if not sources:
            return math.nan
        scores = bradley_terry_scores(
            self.items,
            self.points,
            pair=pair,
            shown_first=self.shown_first,
            clusters=self.sources,
        )
        return _p_of_scores(scores.round(_DIGITS), sources=sources)

    def groups(self) -> Iterator[list[str]]:
        """Yield the systems that met each other, directly or by way of others."""
        first, second = np.array(self.items).T
        size = len(self.systems)
        graph = coo_array((np.ones(len(first)), (first, second)), shape=(size, size))
        count, labels = connected_components(graph, directed=False)
        for group in range(count):
            yield [self.systems[at] for at in range(size) if labels[at] == group]


def _widened(share: Estimate, won: Proportion) -> Estimate:
    """Widen the interval to the reach of Wilson's for the win share on each side.

    If a system wins or loses nearly all of its comparisons, samples of them hardly differ.
    """
    return Estimate(
        share.value,
        low=max(0.0, float(np.fmin(share.low, share.value - (won.value - won.low)))),
        high=min(1.0, float(np.fmax(share.high, share.value + (won.high - won.value)))),
    )


def _pairs(table: _Table, *, order: Sequence[int]) -> tuple[RankedPair, ...]:
    """Compare all pairs; intervals are Student's, with errors from leaving out each source.

    With few sources the bootstrap separates equal systems too often. An error is too small where a
    system nearly always won or lost, so an interval is never narrower than the test allows.
    """
    chosen = [*combinations(order, 2)]
    first, second = np.array(chosen).T
    groups = numbered(table.sources)[0] % _MOST_LEFT_OUT
    strengths = bradley_terry_effect(
        table.items, table.points, shown_first=table.shown_first, clusters=groups
    )

    def difference(counts: FloatArray) -> FloatArray:
        drawn = strengths(counts)
        return drawn[:, first] - drawn[:, second]

    left_out = jackknife(difference, items=int(groups.max()) + 1)
    values, errors = (part.round(_DIGITS).tolist() for part in left_out)
    sources = [table.sources_of(pair) for pair in chosen]
    pvalues = [
        table.p_of_lead(pair, sources=linking)
        for pair, linking in zip(chosen, sources, strict=True)
    ]
    adjusted = holm_adjusted(pvalues).tolist()
    return tuple(
        RankedPair(
            first=table.systems[pair[0]],
            second=table.systems[pair[1]],
            difference=_student(values[at], errors[at], p=pvalues[at], sources=sources[at]),
            adjusted=adjusted[at],
        )
        for at, pair in enumerate(chosen)
    )


def _p_of_scores(scores: FloatArray, *, sources: int) -> float:
    """Return the two-sided p that contributions of sources to a lead have the mean 0.

    Signs of few contributions are flipped in all ways [1]_; of more, Student's test is close to it.

    References
    ----------
    .. [1] Hemerik, Goeman, Finos (2020), JRSS B 82(3):841-864, doi:10.1111/rssb.12369
    """
    telling = scores[scores != 0]
    count, total = len(telling), abs(float(telling.sum()))
    least = least_p(min(sources, count))
    if count <= _MOST_FLIPPED:
        flipped = np.abs(np.array([*product((-1, 1), repeat=count)]) @ telling)
        return max(least, float(np.mean(flipped >= total - 10.0**-_DIGITS)))
    error = math.sqrt(count) * float(telling.std(ddof=1))
    return max(least, student_p(total, error, freedom=sources - 1))


def _student(value: float, error: float, *, p: float, sources: int) -> Estimate:
    """Return a difference with an interval that holds 0 if the test does not exclude it.

    NaN where nothing links the two; without an interval if all sources say the same.
    """
    if not sources:
        return Estimate()
    freedom = sources - 1
    if not freedom or not error:
        return Estimate(value)
    reach = error * float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    if p > LEVEL:
        reach = max(reach, abs(value))
    return Estimate(value, value - reach, value + reach)


def _cautions(
    rows: Sequence[ComparisonRow], table: _Table, *, won: Sequence[Proportion]
) -> Iterator[str]:
    failed = sum(row.preference is None for row in rows)
    if failed:
        yield f"{failed} of {len(rows)} comparisons have no preference and are excluded"
    judges = {unstamped(row.judge) for row in rows}
    if len(judges) > 1:
        yield (
            f"{len(judges)} different pair judges compared these texts, so systems may differ "
            "only because their judges differ"
        )
    groups = [*table.groups()]
    if len(groups) > 1:
        named = "; ".join(", ".join(group) for group in groups)
        yield (
            f"systems of different groups never met, not even through others, so their strengths "
            f"cannot be compared: {named}"
        )
    if len({*table.sources}) < _FEW_SOURCES:
        yield f"fewer than {_FEW_SOURCES} sources, so intervals may be too narrow"
    pairs = zip(table.systems, won, strict=True)
    if extreme := [name for name, share in pairs if share.value in {0, 1}]:
        yield (
            f"{', '.join(extreme)}: won or lost every comparison, so the intervals of strengths "
            "are too narrow; use the expected share instead"
        )
    consistent = order_findings(rows).consistent
    if consistent.trials and consistent.value < _TURNED:
        yield (
            f"only {consistent.value:.0%} of the pairs have the same preference in both orders: "
            "the order of the texts decides more pairs than the texts do"
        )


_SHARE, _LOG_ODDS = ".2f", "+.2f"
_SYSTEMS = (
    "Win share: share of comparisons won, against any opponent; a tie counts half. Expected share: "
    "share that it would win if it met every other system equally often, with the position effect "
    "removed; 95 % intervals are over sources. Systems that share a letter are not separated."
)
_METHOD = (
    "Strengths are those of the model of Bradley and Terry (1952), with ties (Davidson 1970) and "
    "an effect of position (Davidson and Beaver 1977): log-odds against a system of average "
    "strength. "
    "Half a win and half a loss are added for each system on average, spread over the pairs in "
    "proportion to their comparisons, so that strengths stay finite and few comparisons pull a "
    "system no nearer to the others. Intervals of systems come from resampled sources, and those "
    "of differences from leaving out each source in turn. The test of a pair fits equal strengths "
    "and asks if the sources depart from them in one direction (flipped signs up to "
    f"{_MOST_FLIPPED} sources, else Student's test), with as many sources as link the two; "
    "p-values are adjusted for all pairs of an aspect (Holm). A pair judge that favours a system "
    "separates it as well, so people may rank the systems differently."
)


def pair_rankings_report(rankings: PairRankings) -> Report:
    """Return the report of rankings by comparisons."""
    return Report(
        title="Systems ranked by pairs",
        answer=joined(map(_answer, rankings.aspects)),
        facts=[prose("comparisons: {}", code(name)) for name in rankings.results],
        sections=[
            *(Section(ranking.aspect, [*_blocks(ranking)]) for ranking in rankings.aspects),
            Paragraph(_METHOD, only="page"),
        ],
    )


def _answer(ranking: PairRanking) -> Prose:
    """Name the strongest system if it is shown to be stronger than all others."""
    aspect, best = emphasis(ranking.aspect), ranking.systems[0]
    if not ranking.separated:
        return prose("On {}, no system is shown to be stronger than another.", aspect)
    separated = f"{ranking.separated:,} of {len(ranking.pairs):,}"
    if best.rank.worst == 1:
        return prose(
            "On {}, {} is shown to be the strongest of {} systems; the judge separates {} pairs of "
            "systems.",
            *(aspect, code(best.system), len(ranking.systems), separated),
        )
    return prose(
        "On {}, no system is shown to be the strongest of {}; the judge separates {} pairs of "
        "systems.",
        *(aspect, len(ranking.systems), separated),
    )


def pair_rankings_json(rankings: PairRankings) -> dict[str, object]:
    """Return rankings by comparisons for programs; what is undefined is null."""
    return {
        "results": list(rankings.results),
        "aspects": [
            {
                **fields_of(ranking),
                "pairs": [{**fields_of(pair), "differs": pair.differs} for pair in ranking.pairs],
            }
            for ranking in rankings.aspects
        ],
    }


def _blocks(ranking: PairRanking) -> Iterator[Block]:
    yield table_of(
        (
            (
                left("system", each.system, wrap=False),
                right("compared", each.compared),
                right("win share", each.win_share, _SHARE),
                spread("expected share", each.share, _SHARE, wrap=True),
                spread("strength", each.strength, _LOG_ODDS, only="page"),
                right("place", each.rank.text),
                left("groups", each.rank.groups, wrap=False),
            )
            for each in ranking.systems
        ),
        title=strong(f"{ranking.aspect}: systems"),
        note=_SYSTEMS,
    )
    yield Paragraph(_summary(ranking))
    yes, no = Cell("yes", mark="good"), Cell("no", mark="unsure")
    yield table_of(
        (
            (
                left("first", pair.first, wrap=False),
                left("second", pair.second, wrap=False),
                spread("difference of strengths", pair.difference, _LOG_ODDS),
                right("p (Holm)", p_cell(pair.adjusted)),
                left("separated", yes if pair.differs else no),
            )
            for pair in ranking.pairs
        ),
        title=strong(f"{ranking.aspect}: all pairs"),
        only="page",
    )
    yield Bullets(ranking.cautions, tone="caution")


def _summary(ranking: PairRanking) -> str:
    count = (
        f"The pair judge separates {ranking.separated:,} of {len(ranking.pairs):,} pairs of systems"
        f" over {ranking.sources:,} sources."
    )
    if not ranking.order.consistent.trials:
        return count
    position = estimate_cell(ranking.position, _LOG_ODDS)
    return (
        f"{count} {ranking.order.consistent.value:.0%} of the pairs have the same preference in "
        f"both orders. The text shown first gains {position.text} in log-odds; the expected shares "
        "exclude this effect."
    )
