"""Findings of a comparison: wins, ties, losses, and how far the order of the texts decides."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Preference
from spanjury.orchestration.report import (
    Block,
    Bullets,
    Paragraph,
    Prose,
    Report,
    Section,
    Table,
    code,
    emphasis,
    joined,
    left,
    named_in_code,
    prose,
    right,
    spread,
    table_of,
)
from spanjury.orchestration.report.json import fields_of, plain
from spanjury.orchestration.studies.card import SHARE, Measure, Ranges, measured
from spanjury.orchestration.studies.estimates import grouped
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.pairs.comparing import ComparisonRow, OrderRow
from spanjury.stats.proportions import Proportion, share_by_source


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """The comparisons of two systems on one aspect.

    `wins`, `ties`, `losses`: of A.
    """

    system_a: str
    system_b: str
    wins: int
    ties: int
    losses: int
    failed: int
    """Comparisons without a preference."""
    interval: Proportion
    """Share of A's wins, ties half, with its interval over sources; NaN without a preference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFindings:
    """Figures of how far the order of the texts decides; NaN where each pair was shown once."""

    shown_twice: int
    """Number of pairs that were shown in both orders, with or without a preference."""
    consistent: Proportion
    """Share of the pairs whose preference is the same in both orders."""
    first: Proportion
    """Share of the reports with a winner that prefer the text shown first, of the pairs with a
    report in each order: 0.5 without any position bias, since each text is first once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectComparisons:
    """The comparisons on one aspect."""

    aspect: str
    compared: int
    answered: int
    reasons: Mapping[str, int]
    """The commonest reasons why comparisons have no preference, with their counts."""
    order: OrderFindings
    pairs: tuple[PairCount, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The comparisons, aspect by aspect, and the order of the texts over all aspects."""

    aspects: tuple[AspectComparisons, ...]
    order: OrderFindings
    answered: Proportion


def findings_of(rows: Sequence[ComparisonRow]) -> Findings:
    """Return the findings of comparisons."""
    by_aspect = grouped(rows, lambda row: row.aspect)
    return Findings(
        aspects=tuple(_of_aspect(name, own) for name, own in by_aspect.items()),
        order=order_findings(rows),
        answered=answered_share(rows),
    )


def answered_share(rows: Iterable[ComparisonRow]) -> Proportion:
    """Return the share of comparisons with a preference."""
    return share_by_source((row.source, row.preference is not None, 1) for row in rows)


def order_findings(rows: Sequence[ComparisonRow]) -> OrderFindings:
    """Return how far the order of the texts decides; intervals are over sources."""
    turned = ((row.source, row.consistent) for row in rows)
    decisive = ((row.source, _decisive(row)) for row in rows)
    return OrderFindings(
        shown_twice=sum(len(row.orders) > 1 for row in rows),
        consistent=share_by_source(
            (source, consistent is True, consistent is not None) for source, consistent in turned
        ),
        first=share_by_source(
            (source, sum(each.preference == each.first for each in orders), len(orders))
            for source, orders in decisive
        ),
    )


def _decisive(row: ComparisonRow) -> tuple[OrderRow, ...]:
    """Return the reports with a winner; none unless the pair has a preference in each order."""
    if row.consistent is None:
        return ()
    return tuple(order for order in row.orders if order.preference is not Preference.TIE)


def _of_aspect(aspect: str, rows: Sequence[ComparisonRow]) -> AspectComparisons:
    reasons = Counter(row.reason for row in rows if row.preference is None)
    by_systems = grouped(rows, lambda row: (row.system_a, row.system_b))
    return AspectComparisons(
        aspect=aspect,
        pairs=tuple(_pair_count(systems, own) for systems, own in by_systems.items()),
        order=order_findings(rows),
        compared=len(rows),
        answered=sum(row.preference is not None for row in rows),
        reasons=dict(reasons.most_common(_REASONS)),
    )


def _pair_count(systems: tuple[str, str], rows: Sequence[ComparisonRow]) -> PairCount:
    preferred = [row.preference for row in rows]
    return PairCount(
        system_a=systems[0],
        system_b=systems[1],
        wins=preferred.count(Preference.A),
        ties=preferred.count(Preference.TIE),
        losses=preferred.count(Preference.B),
        failed=preferred.count(None),
        interval=share_by_source(
            (row.source, row.points_a, 1) for row in rows if row.points_a is not None
        ),
    )


_SHARE = ".2f"
_TIE = 0.5
_REASONS = 5
_DIGITS = 9
"""Decimals of a share: equal shares are to tie."""
ANSWERED = "Share of comparisons with a preference."
CONSISTENT = "Share of pairs whose preference is the same in both orders."
FIRST = "Share of preferences for the text shown first; 0.5 without position bias."
_SAYS = {"pairs.answered": ANSWERED, "pairs.consistent": CONSISTENT, "pairs.first": FIRST}
RANGES: Ranges = dict.fromkeys(_SAYS, SHARE)
"""Name of a measure -> its range."""
_INTERVALS = (
    "Intervals of 95 % are over sources. A system is preferred if its intervals with every system "
    "that it met are above 0.5."
)
_READING = (
    "Each pair is shown in both orders. If the preference changes with the order, the comparison "
    "counts as a tie. Share of A: A's wins; a tie counts half. Same in both orders: share of pairs "
    "whose preference does not change. First preferred: share of the reports with a winner that "
    "prefer the text shown first; 0.5 without position bias, because each text is shown first "
    "once. "
    f"{_INTERVALS}"
)
_ORDER_FREE = (
    "The order of the texts cannot influence this judge, so it was asked about each pair once. "
    f"Share of A: A's wins; a tie counts half. {_INTERVALS}"
)


def pairs_report(findings: Findings, *, judge: Examinee, data: str) -> Report:
    """Return the report of a comparison."""
    sees_order = findings.order.shown_twice > 0
    return Report(
        title="Pairs",
        answer=joined(map(_answer, findings.aspects)),
        facts=[
            prose("texts: {}", code(data)),
            *(prose("{}: {}", name, code(each)) for name, each in judge.seats.items()),
        ],
        sections=[
            *(Section(aspect.aspect, [*_blocks(aspect)]) for aspect in findings.aspects),
            Paragraph(_READING if sees_order else _ORDER_FREE),
        ],
    )


def _answer(aspect: AspectComparisons) -> Prose:
    """Say which system is preferred to each that it met, or else which win most."""
    points: dict[str, list[float]] = defaultdict(list)
    for pair in aspect.pairs:
        if pair.interval.trials:
            points[pair.system_a].append(pair.interval.value)
            points[pair.system_b].append(1 - pair.interval.value)
    if not points:
        return prose("On {}, no comparison has a preference.", emphasis(aspect.aspect))
    shares = {system: round(sum(each) / len(each), _DIGITS) for system, each in points.items()}
    most = max(shares.values())
    best = [system for system, share in shares.items() if share == most]
    if len(best) == len(shares):
        return prose("On {}, the judge prefers none of the systems.", emphasis(aspect.aspect))
    if len(best) > 1:
        says = "On {}, {} win {} each of the comparisons (a tie counts half)."
    elif any(_may_be_even(pair, best[0]) for pair in aspect.pairs):
        says = (
            "On {}, {} wins {} of the comparisons (a tie counts half). They do not show that the"
            " judge prefers it: an interval of its share includes one half, or has no bounds."
        )
    else:
        says = "On {}, the judge prefers {}, which wins {} of the comparisons (a tie counts half)."
    return prose(says, emphasis(aspect.aspect), named_in_code(best), f"{most:.0%}")


def _may_be_even(pair: PairCount, system: str) -> bool:
    """Return whether the comparisons do not show that `system`, if it is one of both, is better."""
    if not pair.interval.trials or system not in {pair.system_a, pair.system_b}:
        return False
    low, high = pair.interval.low, pair.interval.high
    return not (low > _TIE if system == pair.system_a else high < _TIE)  # also if undefined


def order_table(rows: Iterator[tuple[str, OrderFindings]], *, heading: str) -> Table:
    """Return the table of how far the order of the texts decides."""
    return table_of(
        (
            left(heading, name),
            right("pairs", order.consistent.trials),
            spread("same in both orders", order.consistent, _SHARE, wrap=True),
            spread("first preferred", order.first, _SHARE, wrap=True),
        )
        for name, order in rows
    )


def findings_json(findings: Findings, *, judge: Examinee) -> dict[str, object]:
    """Return a comparison for programs; what is undefined is null."""
    return {
        "judge": judge.signature,
        "order": plain(findings.order),
        "aspects": [
            {
                **fields_of(aspect),
                "pairs": [
                    {**fields_of(each), "share": plain(each.interval.value)}
                    for each in aspect.pairs
                ],
            }
            for aspect in findings.aspects
        ],
    }


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of a comparison."""
    shares = (findings.answered, findings.order.consistent, findings.order.first)
    return tuple(
        measured(name, share, says=says, count=share.trials)
        for (name, says), share in zip(_SAYS.items(), shares, strict=True)
    )


def _blocks(aspect: AspectComparisons) -> Iterator[Block]:
    yield table_of(
        (
            left("A", each.system_a, wrap=False),
            left("B", each.system_b, wrap=False),
            right("A wins", each.wins),
            right("ties", each.ties),
            right("B wins", each.losses),
            right("no answer", each.failed),
            spread("share of A", each.interval, _SHARE, wrap=True),
        )
        for each in aspect.pairs
    )
    if aspect.reasons:
        yield Bullets(
            [prose("no answer: {} x {}", count, why) for why, count in aspect.reasons.items()]
        )
    if aspect.order.consistent.trials:
        yield order_table(iter([("all", aspect.order)]), heading="systems")
