"""Systems ranked by comparisons: strengths without the effect of position, beside win shares."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from spanjury.judges.core import unstamped
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Paragraph,
    Report,
    Section,
    code,
    estimate_cell,
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
from spanjury.orchestration.studies.ranking.score_table import CONFIDENCE, Rank, p_of, ranks
from spanjury.orchestration.studies.ranking.tables import p_cell
from spanjury.stats.arrays import FloatArray
from spanjury.stats.paired_comparisons import bradley_terry, bradley_terry_effect
from spanjury.stats.proportions import Proportion, share_by_source
from spanjury.stats.resampling import Estimate, bootstrap, estimates, jackknife

_SEED = 1
_SHOWN = {"A": 1, "B": -1, None: 0}
_FEW_SOURCES = 10
_MOST_LEFT_OUT = 1000
"""With more sources, groups of them are left out together."""
_DIGITS = 9
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
    fit = bradley_terry(table.items, table.points, shown_first=table.shown_first)
    effect = bradley_terry_effect(
        table.items, table.points, shown_first=table.shown_first, clusters=table.sources
    )
    sources = len({*table.sources})
    drawn = bootstrap(effect, items=sources, rng=np.random.default_rng(_SEED), draws=draws)
    figures = estimates(drawn)
    count = len(table.systems)
    order = sorted(range(count), key=lambda number: -fit.strengths[number])
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

    def sources_of(self, *pair: int) -> int:
        """Return the number of sources over which two systems met, or met others."""
        met = zip(self.items, self.sources, strict=True)
        return len({source for items, source in met if not {*items}.isdisjoint(pair)})

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
    """Compare all pairs by Student's test, with errors that come from leaving out each source.

    With few sources the bootstrap separates equal systems too often.
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
    sources = [table.sources_of(*pair) for pair in chosen]
    figures = [*zip(values, errors, sources, strict=True)]
    pvalues = [p_of(value, error, inputs=inputs) for value, error, inputs in figures]
    differences = [_student(value, error, inputs) for value, error, inputs in figures]
    return tuple(
        RankedPair(
            first=table.systems[one_end],
            second=table.systems[other_end],
            difference=difference,
            adjusted=adjusted,
        )
        for (one_end, other_end), difference, adjusted in zip(
            chosen, differences, holm_adjusted(pvalues).tolist(), strict=True
        )
    )


def _student(value: float, error: float, sources: int) -> Estimate:
    freedom = sources - 1
    reach = error * float(stdtrit(freedom, (1 + CONFIDENCE) / 2)) if freedom else math.nan
    return Estimate(value, value - reach, value + reach)


def _cautions(
    rows: Sequence[ComparisonRow], table: _Table, *, won: Sequence[Proportion]
) -> Iterator[str]:
    failed = sum(row.preference is None for row in rows)
    if failed:
        yield f"{failed} of {len(rows)} comparisons have no preference and are in no figure"
    judges = {unstamped(row.judge) for row in rows}
    if len(judges) > 1:
        yield (
            f"{len(judges)} different pair judges compared these texts, so systems may differ "
            "because of their judges"
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
            "are too narrow; look at the expected share"
        )
    consistent = order_findings(rows).consistent
    if consistent.trials and consistent.value < _TURNED:
        yield (
            f"only {consistent.value:.0%} of the pairs have the same preference in both orders: "
            "the order of the texts decides more pairs than the texts do"
        )


_SHARE, _LOG_ODDS = ".2f", "+.2f"
_SYSTEMS = (
    "Win share: wins, ties half, whomever a system met. Expected share: its wins against every "
    "other system equally often, without the effect of position, with 95 % intervals over sources. "
    "Systems that share a letter are not separated."
)
_METHOD = (
    "Strengths are those of the model of Bradley and Terry (1952), with ties (Davidson 1970) and "
    "an effect of position (Davidson and Beaver 1977): log-odds against a system of average "
    "strength. "
    "Each system is taken to have won and lost half a comparison with an average one besides, so "
    "that strengths stay finite. Intervals of systems come from samples of sources. Pairs are "
    "compared by Student's test, with errors from leaving out each source in turn; p-values hold "
    "for all pairs of an aspect together (Holm). A pair judge that favours a system "
    "separates it, too: what people think of the systems is another question."
)


def pair_rankings_report(rankings: PairRankings) -> Report:
    """Return the report of rankings by comparisons."""
    return Report(
        title="Systems ranked by pairs",
        answer=" ".join(map(_answer, rankings.aspects)),
        facts=[prose("comparisons: {}", code(name)) for name in rankings.results],
        sections=[
            *(Section(ranking.aspect, [*_blocks(ranking)]) for ranking in rankings.aspects),
            Paragraph(_METHOD, only="page"),
        ],
    )


def _answer(ranking: PairRanking) -> str:
    best = ranking.systems[0]
    return (
        f"On {ranking.aspect} {best.system} is the strongest of {len(ranking.systems)} systems;"
        f" the judge separates {ranking.separated:,} of {len(ranking.pairs):,} pairs of systems."
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
        f"both orders. The text shown first gains {position.text} in log-odds, which the expected "
        "shares leave out."
    )
