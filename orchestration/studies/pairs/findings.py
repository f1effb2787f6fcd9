"""Findings of a comparison: wins, ties and losses, and how far the order of the texts decides."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spanjury.judges.core import Preference
from spanjury.orchestration.studies.pairs.rows import ComparisonRow, OrderRow
from spanjury.stats.proportions import Proportion, clustered_proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """The comparisons of two systems on one aspect.

    Parameters
    ----------
    wins, ties, losses
        Of A.
    failed
        Comparisons without a preference.
    """

    system_a: str
    system_b: str
    wins: int
    ties: int
    losses: int
    failed: int

    @property
    def share(self) -> float | None:
        """Share of A's wins, ties half; None without a preference."""
        answered = self.wins + self.ties + self.losses
        return (self.wins + self.ties / 2) / answered if answered else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFindings:
    """Figures of how far the order of the texts decides; NaN where each pair was shown once.

    Parameters
    ----------
    consistent
        Share of the pairs whose preference is the same in both orders.
    first
        Share of the reports with a winner that prefer the text shown first, of the pairs with a
        report in each order: 0.5 without any position bias, since each text is first once.
    """

    consistent: Proportion
    first: Proportion


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectComparisons:
    """The comparisons on one aspect."""

    aspect: str
    pairs: tuple[PairCount, ...]
    order: OrderFindings
    compared: int
    answered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The comparisons, aspect by aspect, and the order of the texts over all aspects."""

    aspects: tuple[AspectComparisons, ...]
    order: OrderFindings
    answered: Proportion


def findings_of(rows: Sequence[ComparisonRow]) -> Findings:
    """Return the findings of comparisons."""
    names = dict.fromkeys(row.aspect for row in rows)
    return Findings(
        aspects=tuple(
            _of_aspect(name, [row for row in rows if row.aspect == name]) for name in names
        ),
        order=order_findings(rows),
        answered=share_of(rows, hits=lambda row: row.preference is not None, of=lambda _: 1),
    )


def order_findings(rows: Sequence[ComparisonRow]) -> OrderFindings:
    """Return how far the order of the texts decides; intervals are over sources."""
    return OrderFindings(
        consistent=share_of(
            rows,
            hits=lambda row: row.consistent is True,
            of=lambda row: row.consistent is not None,
        ),
        first=share_of(
            rows,
            hits=lambda row: sum(map(_prefers_first, decisive_orders(row))),
            of=lambda row: len(decisive_orders(row)),
        ),
    )


def decisive_orders(row: ComparisonRow) -> tuple[OrderRow, ...]:
    """Return the reports with a winner; none unless the pair has a preference in each order."""
    if row.consistent is None:
        return ()
    return tuple(order for order in row.orders if order.preference is not Preference.TIE)


def share_of(
    rows: Iterable[ComparisonRow],
    *,
    hits: Callable[[ComparisonRow], float],
    of: Callable[[ComparisonRow], int],
) -> Proportion:
    """Return the share of `hits` in the trials that each row counts `of`, clustered by source.

    A hit may be half of one.
    """
    successes: dict[str, float] = {}
    trials: dict[str, int] = {}
    for row in rows:
        successes[row.source] = successes.get(row.source, 0) + hits(row)
        trials[row.source] = trials.get(row.source, 0) + of(row)
    return clustered_proportion([*successes.values()], [*trials.values()])


def _prefers_first(order: OrderRow) -> bool:
    return order.preference == order.first


def _of_aspect(aspect: str, rows: Sequence[ComparisonRow]) -> AspectComparisons:
    systems = dict.fromkeys((row.system_a, row.system_b) for row in rows)
    return AspectComparisons(
        aspect=aspect,
        pairs=tuple(
            _count(first, second, [r for r in rows if (r.system_a, r.system_b) == (first, second)])
            for first, second in systems
        ),
        order=order_findings(rows),
        compared=len(rows),
        answered=sum(row.preference is not None for row in rows),
    )


def _count(first: str, second: str, rows: Sequence[ComparisonRow]) -> PairCount:
    preferences = [row.preference for row in rows]
    return PairCount(
        system_a=first,
        system_b=second,
        wins=preferences.count(Preference.A),
        ties=preferences.count(Preference.TIE),
        losses=preferences.count(Preference.B),
        failed=preferences.count(None),
    )
