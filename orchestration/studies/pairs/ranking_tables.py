"""Rankings by comparisons as a report, and as values for programs."""

from collections.abc import Iterator

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Column,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    numeric,
    prose,
    strong,
    table,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.pairs.ranking import (
    Estimate,
    PairRanking,
    PairRankings,
    RankedPair,
)

_SHARE, _LOG_ODDS, _P = ".2f", "+.2f", ".3f"
_LEAST_P = 0.001
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
    "that strengths stay finite. Intervals and p-values come from samples of sources; p-values "
    "hold for all pairs of an aspect together (Holm). A pair judge that favours a system "
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
        f" {ranking.separated:,} of {len(ranking.pairs):,} pairs of systems are shown to differ."
    )


def pair_rankings_json(rankings: PairRankings) -> dict[str, object]:
    """Return rankings by comparisons for programs; what is undefined is null."""
    return {
        "results": list(rankings.results),
        "aspects": [
            {
                **_plain(ranking),
                "pairs": [{**_plain(pair), "differs": pair.differs} for pair in ranking.pairs],
            }
            for ranking in rankings.aspects
        ],
    }


def _plain(value: PairRanking | RankedPair) -> dict[str, object]:
    values = plain(value)
    assert isinstance(values, dict)
    return values


def _blocks(ranking: PairRanking) -> Iterator[Block]:
    yield _systems(ranking)
    yield Paragraph(_summary(ranking))
    yield _pairs(ranking)
    yield Bullets(ranking.cautions, tone="caution")


def _summary(ranking: PairRanking) -> str:
    count = (
        f"The pair judge separates {ranking.separated:,} of {len(ranking.pairs):,} pairs of systems"
        f" over {ranking.sources:,} sources."
    )
    if not ranking.order.consistent.trials:
        return count
    position = Cell(
        ranking.position.value, _LOG_ODDS, interval=(ranking.position.low, ranking.position.high)
    )
    return (
        f"{count} {ranking.order.consistent.value:.0%} of the pairs have the same preference in "
        f"both orders. The text shown first gains {position.text} in log-odds, which the expected "
        "shares leave out."
    )


def _systems(ranking: PairRanking) -> Table:
    columns = (
        Column("system", wrap=False),
        *numeric("compared", "win share"),
        Column("expected share", "right", wrap=True),
        Column("strength", "right", only="page"),
        *numeric("place"),
        Column("groups", wrap=False),
    )
    return table(
        columns,
        (
            (
                each.system,
                each.compared,
                Cell(each.win_share, _SHARE),
                _cell(each.share, _SHARE),
                _cell(each.strength, _LOG_ODDS),
                each.rank.text,
                each.rank.groups,
            )
            for each in ranking.systems
        ),
        title=strong(f"{ranking.aspect}: systems"),
        note=_SYSTEMS,
    )


def _pairs(ranking: PairRanking) -> Table:
    columns = (
        Column("first", wrap=False),
        Column("second", wrap=False),
        *numeric("difference of strengths", "p (Holm)"),
        Column("separated"),
    )
    return table(
        columns,
        (
            (
                pair.first,
                pair.second,
                _cell(pair.difference, _LOG_ODDS),
                Cell("< 0.001" if pair.adjusted < _LEAST_P else pair.adjusted, _P),
                Cell("yes" if pair.differs else "no", mark="good" if pair.differs else "unsure"),
            )
            for pair in ranking.pairs
        ),
        title=strong(f"{ranking.aspect}: all pairs"),
        only="page",
    )


def _cell(estimate: Estimate, spec: str) -> Cell:
    return Cell(estimate.value, spec, interval=(estimate.low, estimate.high))
