"""Systems ranked by comparisons: the right order, without position bias, with fair intervals."""

import json
import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pytest

from spanjury.judges.core import Outcome, Preference
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.prose import plain_text
from spanjury.orchestration.studies.pairs.comparing import ComparisonRow, OrderRow
from spanjury.orchestration.studies.pairs.ranking import (
    PairRankings,
    pair_rankings_json,
    pair_rankings_report,
    rank_by_pairs,
)

A, B, TIE = Preference.A, Preference.B, Preference.TIE


def row(
    *orders: Preference | None, source: str, systems: Sequence[str] = "xy", judge: str = "judge"
) -> ComparisonRow:
    """Return a comparison with a report in each order, A's first; or one alone."""
    firsts = ("A", "B") if len(orders) > 1 else (None,)
    scored = None not in orders
    same = len({*orders}) == 1
    return ComparisonRow(
        source=source,
        task="summarization",
        aspect="fluency",
        system_a=systems[0],
        system_b=systems[1],
        id_a=f"{source}/{systems[0]}",
        id_b=f"{source}/{systems[1]}",
        judge=judge,
        outcome=Outcome.SCORED if scored else Outcome.REFUSED,
        preference=(orders[0] if same else TIE) if scored else None,
        consistent=same if scored and len(orders) > 1 else None,
        probability=None,
        orders=tuple(
            OrderRow(
                first=first,  # type: ignore[arg-type]  # one of two letters
                outcome=Outcome.SCORED if order else Outcome.REFUSED,
                preference=order,
            )
            for first, order in zip(firsts, orders, strict=True)
        ),
    )


def simulated(*, sources: int, bias: float, seed: int = 1) -> Iterator[ComparisonRow]:
    """Yield comparisons of four systems, 1 apart, by a judge that likes what it sees first."""
    rng = np.random.default_rng(seed)
    for source in range(sources):
        for first, second in combinations(range(4), 2):
            orders = []
            for shown in (1, -1):
                chance = 1 / (1 + math.exp(-(second - first) - shown * bias))
                orders.append(A if rng.random() < chance else B)
            yield row(*orders, source=str(source), systems="wxyz"[first] + "wxyz"[second])


def test_strong_systems_come_first_and_position_is_kept_apart_from_strength() -> None:
    ranking = rank_by_pairs([*simulated(sources=60, bias=1.0)], draws=300)
    assert [each.system for each in ranking.systems] == ["w", "x", "y", "z"]
    assert ranking.position.low < 1.0 < ranking.position.high
    assert ranking.position.value == pytest.approx(1.0, abs=0.3)
    assert ranking.separated == 6
    assert [each.rank.text for each in ranking.systems] == ["1", "2", "3", "4"]
    for each in ranking.systems:
        assert each.share.low <= each.share.value <= each.share.high
        assert each.compared == 180
    # The bias draws every share of wins to a half; without it they are farther apart.
    best = ranking.systems[0]
    assert best.share.value > best.win_share + 0.03
    assert not ranking.cautions


def test_equal_systems_are_not_separated_however_biased_the_judge() -> None:
    rows = [row(A, B, source=str(n)) for n in range(40)]
    ranking = rank_by_pairs(rows, draws=200)
    assert ranking.separated == 0
    assert [each.rank.groups for each in ranking.systems] == ["a", "a"]
    assert ranking.position.value > 3
    assert "the order of the texts decides" in ranking.cautions[0]


def test_a_judge_that_sees_no_order_has_no_effect_of_position() -> None:
    rows = [row(A if n % 4 else B, source=str(n)) for n in range(40)]
    ranking = rank_by_pairs(rows, draws=200)
    assert math.isnan(ranking.position.value)
    first, second = ranking.systems
    assert (first.system, first.win_share) == ("x", 0.75)
    assert first.share.value + second.share.value == pytest.approx(1)
    assert ranking.separated == 1


def test_equal_systems_are_separated_as_seldom_as_the_level_says() -> None:
    """Six sources with three pairs of texts each: the bootstrap separated them in 14 %."""
    rng = np.random.default_rng(1)
    separated = 0
    for _ in range(150):
        better = rng.normal(size=(6, 3, 1)) + 0.9 * rng.logistic(size=(6, 3, 2))
        rows = [
            row(*(A if each > 0 else B for each in orders), source=str(source))
            for source, pairs in enumerate(better)
            for orders in pairs
        ]
        separated += rank_by_pairs(rows, draws=1).separated
    assert separated <= 0.08 * 150


def test_an_interval_of_a_pair_excludes_0_if_the_pair_is_separated() -> None:
    (pair,) = rank_by_pairs([row(A if n % 4 else B, source=str(n)) for n in range(40)]).pairs
    assert (pair.differs, pair.difference.low > 0) == (True, True)
    (alone,) = rank_by_pairs([row(A, source="0"), row(B, source="0")]).pairs
    assert not alone.differs
    assert math.isnan(alone.difference.low)


def test_systems_that_tie_in_each_comparison_are_not_separated() -> None:
    """The third is like the first, but was compared in 4 of 12 sources."""
    rows = [row(A, source=str(n), systems="xy") for n in range(12)]
    rows += [row(B, source=str(n), systems="yz") for n in range(4)]
    rows += [row(TIE, source=str(n), systems="xz") for n in range(4)]
    ranking = rank_by_pairs(rows, draws=100)
    (alike,) = [pair for pair in ranking.pairs if {pair.first, pair.second} == {*"xz"}]
    assert (alike.difference.value, alike.differs) == (0.0, False)
    assert [each.system for each in ranking.systems] == ["x", "z", "y"]
    assert ranking.separated == 1


def test_equal_systems_that_nearly_always_win_are_seldom_separated() -> None:
    """Two systems win 95 % against a third, one of them in 10 of 40 sources: 17 % by jackknife."""
    rng = np.random.default_rng(2)
    separated = 0
    for _ in range(80):
        rows = [
            row(A if rng.random() < 0.95 else B, source=f"{system}{n}", systems=system + "y")
            for system, sources in (("x", 40), ("z", 10))
            for n in range(sources)
        ]
        pairs = rank_by_pairs(rows, draws=1).pairs
        separated += sum(pair.differs for pair in pairs if {pair.first, pair.second} == {*"xz"})
    assert separated <= 0.08 * 80


def test_few_sources_that_link_two_systems_cannot_separate_them() -> None:
    rows = [row(A, source=str(n), systems="xy") for n in range(30)]
    rows += [row(A, source=str(n), systems="yz") for n in range(3)]
    ranking = rank_by_pairs(rows, draws=50)
    assert [(pair.first + pair.second, pair.differs) for pair in ranking.pairs] == [
        ("xy", True),
        ("xz", False),
        ("yz", False),
    ]


def test_systems_without_a_link_have_no_difference() -> None:
    rows = [row(A, source=str(n), systems="xy") for n in range(20)]
    rows += [row(A, source=str(n), systems="vw") for n in range(20)]
    ranking = rank_by_pairs(rows, draws=50)
    (pair,) = [each for each in ranking.pairs if {each.first, each.second} == {*"xw"}]
    assert math.isnan(pair.difference.value)
    assert math.isnan(pair.adjusted)
    assert not pair.differs


def test_two_sources_separate_nothing() -> None:
    ranking = rank_by_pairs([row(A, A, source=str(n)) for n in range(2)], draws=200)
    assert ranking.separated == 0
    assert ranking.pairs[0].adjusted >= 0.5
    assert any("fewer than 10 sources" in caution for caution in ranking.cautions)


def test_what_must_be_known_of_the_comparisons_is_said() -> None:
    rows = [
        *(row(A, A, source=str(n)) for n in range(10)),
        *(row(A, A, source=str(n), systems="vw", judge="other") for n in range(10)),
        row(A, None, source="10"),
    ]
    cautions = rank_by_pairs(rows, draws=100).cautions
    assert [words.partition(" ")[0] for words in cautions] == ["1", "2", "systems", "x,"]
    assert "x, y; v, w" in cautions[2]


def test_comparisons_without_a_preference_rank_nothing() -> None:
    with pytest.raises(ValueError, match="got none"):
        rank_by_pairs([row(None, None, source="s")])


def test_the_page_and_the_values_say_the_same() -> None:
    ranking = rank_by_pairs([*simulated(sources=12, bias=0.5)], draws=100)
    rankings = PairRankings(results=("pairs",), aspects=(ranking,))
    values = json.loads(json.dumps(pair_rankings_json(rankings)))
    (aspect,) = values["aspects"]
    assert aspect["systems"][0]["system"] == ranking.systems[0].system
    assert len(aspect["pairs"]) == 6
    assert aspect["pairs"][0]["differs"] == ranking.pairs[0].differs
    page = report_markdown(pair_rankings_report(rankings))
    assert "The text shown first gains" in page
    assert f"{ranking.systems[0].win_share:.2f}" in page


def headline(comparisons: Sequence[ComparisonRow]) -> str:
    ranking = rank_by_pairs(comparisons, draws=20)
    rankings = PairRankings(results=("pairs",), aspects=(ranking,))
    return plain_text(pair_rankings_report(rankings).answer)


def test_only_a_system_that_beats_all_others_is_called_the_strongest() -> None:
    tied = [row(TIE, TIE, source=str(number)) for number in range(20)]
    none = "On fluency, no system is shown to be stronger than another."
    assert headline(tied) == none
    won = [row(A, A, source=str(number)) for number in range(20)]
    assert headline(won).startswith("On fluency, x is shown to be the strongest of 2 systems;")
    third = [
        row(*[order] * 2, source=str(number), systems=systems)
        for number in range(30)
        for systems, order in (("xy", TIE), ("xz", A), ("yz", A))
    ]
    says = "On fluency, no system is shown to be the strongest of 3; the judge separates 2 of 3"
    assert headline(third).startswith(says)


@pytest.mark.parametrize("sources", [5, 30])
def test_a_system_that_always_loses_has_an_interval_of_some_width(sources: int) -> None:
    ranking = rank_by_pairs([row(A, A, source=str(number)) for number in range(sources)])
    best, worst = ranking.systems
    # Wilson with Student's quantile: t**2 / (n + t**2), for 5 and 30 sources.
    reach = {5: 0.6066, 30: 0.1224}[sources]
    assert (best.win_share, worst.win_share) == (1.0, 0.0)
    assert worst.share.high - worst.share.value == pytest.approx(reach, abs=1e-3)
    assert best.share.value - best.share.low == pytest.approx(reach, abs=1e-3)
    assert (worst.share.low >= 0.0, best.share.high <= 1.0) == (True, True)
    assert any("won or lost every comparison" in caution for caution in ranking.cautions)
