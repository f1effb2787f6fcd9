"""Systems ranked: by hand, and where the truth is known from a simulation."""

import math
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from numpy.random import Generator
from rich.console import Console
from scipy.stats import binomtest, nct, t, ttest_1samp, ttest_rel

from spanjury.judges.core import Scale
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.prose import plain_text
from spanjury.orchestration.report.terminal import report_view
from spanjury.orchestration.studies.ranking.findings import (
    AspectRanking,
    PairFinding,
    SystemFinding,
    annotators_caution,
    cautions,
    rank_systems,
)
from spanjury.orchestration.studies.ranking.score_table import (
    RankedText,
    judged_mean,
    least_p,
    more_inputs,
    ranks,
    score_table,
)
from spanjury.orchestration.studies.ranking.tables import (
    RankingFindings,
    ranking_json,
    ranking_report,
)
from spanjury.stats.powered_estimates import PoweredEstimate

INPUTS = 40
NAMES = ("ant", "bee", "cat")


def texts(
    truth: tuple[float, ...],
    *,
    rng: Generator,
    lean: tuple[float, ...] = (),
    share: float = 0.3,
    noise: float = 0.5,
) -> list[RankedText]:
    """Return systems whose means people put at `truth`, by a judge that leans by `lean`."""
    hard = rng.normal(size=INPUTS)
    found = []
    for number, level in enumerate(truth):
        people = level + hard + rng.normal(size=INPUTS)
        judged = people + (lean[number] if lean else 0) + noise * rng.normal(size=INPUTS)
        marked = rng.random(INPUTS) < share
        found += [
            RankedText(
                system=NAMES[number],
                source=str(place),
                score=float(judged[place]),
                people={"": float(people[place])} if marked[place] else {},
            )
            for place in range(INPUTS)
        ]
    return found


def ranked(found: list[RankedText]) -> AspectRanking:
    return rank_systems(score_table(found, aspect="consistency"))


def findings_of(ranking: AspectRanking) -> RankingFindings:
    return RankingFindings(runs=("run",), people="ratings", aspects=(ranking,), notes=("a note",))


def page_of(ranking: AspectRanking) -> str:
    return report_markdown(ranking_report(findings_of(ranking)))


def answer_of(ranking: AspectRanking) -> str:
    return plain_text(ranking_report(findings_of(ranking)).answer)


def pairs_of(ranking: AspectRanking) -> list[dict[str, object]]:
    """Return the pairs as a program reads them."""
    aspects = ranking_json(findings_of(ranking))["aspects"]
    assert isinstance(aspects, list)
    (aspect,) = aspects
    pairs: list[dict[str, object]] = aspect["pairs"]
    return pairs


def by_people(part: PairFinding | SystemFinding) -> PoweredEstimate:
    """Return the estimate from people's marks, which is there."""
    assert part.powered is not None
    return part.powered


def judged(*scores: tuple[str, str, float | None]) -> list[RankedText]:
    """Return texts of a system and a source with a score."""
    return [RankedText(system=one, source=source, score=score) for one, source, score in scores]


def test_a_difference_is_of_pairs_as_a_paired_t_test_has_it() -> None:
    first, second = (
        [3.0, 4.0, 5.0, 4.0, 3.5, 4.5, 2.0, 5.0],
        [2.0, 4.0, 4.0, 3.0, 3.5, 3.0, 2.5, 4.0],
    )
    rows = [("ant", str(place), score) for place, score in enumerate(first)]
    rows += [("bee", str(place), score) for place, score in enumerate(second)]
    (pair,) = ranked(judged(*rows)).pairs

    expected = ttest_rel(first, second)
    assert pair.judged.value == pytest.approx(np.mean(np.subtract(first, second)))
    assert pair.judged.p == pytest.approx(expected.pvalue)
    assert pair.judged.low == pytest.approx(expected.confidence_interval().low)


def marked(*levels: Sequence[float]) -> list[RankedText]:
    """Return texts of systems that people scored completely, by a panel that says nothing."""
    return [
        RankedText(system=name, source=str(place), score=3.0, people={"": float(score)})
        for name, scores in zip(NAMES, levels, strict=False)
        for place, score in enumerate(scores)
    ]


def test_two_systems_that_people_scored_completely_have_a_paired_t_test() -> None:
    """They are anticorrelated, so independent errors would be too small."""
    rows = (1.0, 5.0, 2.0, 4.0, 5.0, 1.0, 3.0), (4.0, 1.0, 4.0, 2.0, 2.0, 4.0, 1.0)
    (pair,) = ranked(marked(*rows)).pairs

    expected = ttest_rel(*rows)
    estimate = by_people(pair)
    assert estimate.p == pytest.approx(expected.pvalue)
    assert estimate.low == pytest.approx(expected.confidence_interval().low)
    assert estimate.high == pytest.approx(expected.confidence_interval().high)


def test_inputs_that_are_hard_for_all_systems_widen_no_difference() -> None:
    rng = np.random.default_rng(3)
    scores = 5 * rng.normal(size=12) + rng.normal(size=(3, 12))
    for pair in ranked(marked(*scores)).pairs:
        first, second = (scores[NAMES.index(name)] for name in (pair.first, pair.second))
        expected = ttest_rel(first, second).confidence_interval()
        width = by_people(pair).high - by_people(pair).low
        assert width == pytest.approx(expected.high - expected.low, rel=0.25)


def test_differences_that_are_all_equal_have_no_interval() -> None:
    (pair,) = ranked(marked((2.0, 3.0, 5.0, 4.0), (1.0, 2.0, 4.0, 3.0))).pairs

    estimate = by_people(pair)
    assert estimate.value == 1
    assert math.isnan(estimate.low)
    assert math.isnan(estimate.high)
    assert pair.powered_adjusted == pytest.approx(least_p(4))


def test_a_single_mark_of_one_of_two_systems_gives_no_interval_and_a_caution() -> None:
    rows = marked((1.0, 5.0, 2.0, 4.0, 5.0), (4.0, 1.0, 4.0, 2.0, 2.0))
    ranking = ranked(
        [
            replace(each, people={}) if each.system == "bee" and each.source != "0" else each
            for each in rows
        ]
    )
    (pair,) = ranking.pairs
    assert math.isnan(by_people(pair).low)
    assert not ranking.shows(pair)
    assert "bee and ant: people scored too few texts for an interval of the difference" in {
        *cautions(ranking)
    }


@pytest.mark.parametrize(("systems", "is_shrunk"), [(2, False), (3, True)])
def test_a_note_says_that_errors_of_pairs_are_shrunk(systems: int, *, is_shrunk: bool) -> None:
    ranking = ranked(marked(*np.random.default_rng(1).normal(3, 1, size=(systems, 6))))
    page = page_of(ranking)
    assert "shrunk towards the usual error of all systems." in page
    assert ("shrunk towards the usual error of all pairs." in page) == is_shrunk


def test_a_text_without_a_score_is_no_number() -> None:
    rows = [("ant", "1", 5.0), ("ant", "2", None), ("bee", "1", 3.0), ("bee", "2", 1.0)]
    found = {one.system: one for one in ranked(judged(*rows)).systems}

    assert (found["ant"].judged.value, found["ant"].coverage) == (5.0, 0.5)
    assert found["bee"].judged.value == 2.0
    (pair,) = ranked(judged(*rows)).pairs
    assert (pair.judged.value, pair.judged.inputs) == (2.0, 1)
    assert any("ant (1 of 2)" in one for one in cautions(ranked(judged(*rows))))


def test_several_texts_for_one_input_are_one_observation() -> None:
    once = judged_mean(np.array([1.0, 3.0, 2.0]), np.array([0, 1, 2]))
    thrice = judged_mean(np.array([1.0, 3.0, 2.0] * 3), np.array([0, 1, 2] * 3))

    assert thrice.inputs == once.inputs == 3
    assert thrice.error == pytest.approx(once.error)


def test_few_inputs_that_happen_to_agree_prove_nothing() -> None:
    rows = [
        (name, str(place), score)
        for place in range(3)
        for name, score in (("ant", 5.0), ("bee", 4.0))
    ]
    ranking = ranked(judged(*rows))
    (pair,) = ranking.pairs

    assert pair.judged.p == least_p(3) == 0.25
    assert not pair.is_apart("judges")
    assert (
        "no pair can be shown to differ: with 3 inputs the lowest p-value, adjusted for 1 pair,"
        " is 0.250"
    ) in cautions(ranking)


def test_the_inputs_that_are_needed_are_those_of_a_power_analysis() -> None:
    rng = np.random.default_rng(3)
    shifts = rng.normal(0.2, 1, size=50)
    found = judged_mean(shifts, np.arange(50))

    size = 50 + int(more_inputs(found))
    shift = abs(shifts.mean()) / shifts.std(ddof=1) * math.sqrt(size)
    assert nct.sf(t.ppf(0.975, size - 1), size - 1, shift) == pytest.approx(0.8, abs=0.01)


def test_five_inputs_that_agree_show_nothing_and_six_may() -> None:
    found = judged_mean(np.array([2.0, 2.1, 1.9, 2.0, 2.0]), np.arange(5))

    assert found.p == 2**-4
    assert more_inputs(found) == 1


def test_systems_share_a_letter_unless_they_are_shown_to_differ() -> None:
    apart = [("ant", "cow", 1.0), ("dog", "ant", -2.0), ("bee", "dog", 1.0)]
    found = ranks(["ant", "bee", "cow", "dog"], apart, order=[0, 1, 2, 3])
    assert [one.groups for one in found] == ["a", "ab", "bc", "c"]
    assert [(one.best, one.worst) for one in found] == [(1, 2), (1, 3), (2, 4), (3, 4)]


def test_systems_without_common_inputs_are_not_compared() -> None:
    rows = [("ant", f"a{place}", 5.0 - place % 2) for place in range(9)]
    rows += [("bee", f"b{place}", 2.0 + place % 2) for place in range(9)]
    found = ranked(judged(*rows))

    assert math.isnan(found.pairs[0].judged.value)
    assert [one.place.groups for one in found.systems] == ["a", "a"]
    assert any("no input in common" in one for one in cautions(found))


def test_a_rank_takes_two_systems() -> None:
    with pytest.raises(ValueError, match="two systems"):
        ranked(judged(("ant", "1", 5.0)))


def test_fewer_than_five_marks_order_nothing() -> None:
    found = texts((1.0, 0.0), rng=np.random.default_rng(1), share=0.0)
    marked = [replace(one, people={"ann": 3.0}) for one in found[:4]]
    ranking = ranked(marked + found[4:])

    assert ranking.basis == "judges"
    assert ranking.reason == "people scored only 4 texts of the 5 needed"
    assert all(one.powered is None for one in ranking.systems)


def on_scale(people: tuple[float, ...]) -> AspectRanking:
    """Rank two systems near the ends of a scale from 1 to 5; people scored the first inputs."""
    scores = {"ant": (5.0, 5.0, 5.0, 5.0, 5.0, 2.0), "bee": (1.0, 1.0, 1.0, 1.0, 1.0, 3.0)}
    return ranked(
        [
            RankedText(
                system=system,
                source=str(place),
                score=score,
                people={"ann": people[place]} if place < len(people) else {},
                scale=Scale(),
            )
            for system, row in scores.items()
            for place, score in enumerate(row)
        ]
    )


def test_intervals_end_where_the_scale_does() -> None:
    ranking = on_scale((5.0, 1.0, 5.0))
    ant, bee = ranking.systems
    assert (ant.judged.high, bee.judged.low) == (5, 1)
    (pair,) = ranking.pairs
    assert pair.judged.low == pytest.approx(1.025, abs=0.001)
    assert pair.judged.high == 4
    for each in (by_people(ant), by_people(bee)):
        bounds = (each.value, each.low, each.high, each.plain_low, each.plain_high)
        assert all(1 <= bound <= 5 for bound in bounds)


@pytest.mark.parametrize("scales", [(Scale(),), (Scale(), Scale(labels=("bad", "good")))])
def test_scores_beyond_the_scale_or_on_several_have_no_known_ends(
    scales: tuple[Scale, ...],
) -> None:
    rng = np.random.default_rng(3)
    level = 70.0 if len(scales) == 1 else 1.5
    scored = [
        RankedText(
            system=NAMES[number],
            source=str(place),
            score=float(np.clip(level + number + rng.normal(size=1)[0], 1, 100)),
            scale=scales[place % len(scales)],
        )
        for number in range(2)
        for place in range(INPUTS)
    ]
    table = score_table(scored, aspect="a")
    assert table.judged_ends == (-math.inf, math.inf)
    for system in rank_systems(table).systems:
        assert system.judged.low < system.judged.value < system.judged.high


def test_people_on_a_scale_of_their_own_have_no_known_ends() -> None:
    ant, _ = on_scale((90.0, 10.0, 50.0)).systems
    assert ant.judged.high == 5
    assert by_people(ant).high > 100


def test_a_panel_alone_separates_systems_and_shows_nothing() -> None:
    truth, lean = (0.0, 0.0, 0.0), (3.0, 0.0, 0.0)
    ranking = ranked(texts(truth, lean=lean, rng=np.random.default_rng(2), share=0.0))

    assert (ranking.separated, ranking.apart) == (2, 0)
    assert [one.place.groups for one in ranking.systems] == ["a", "b", "b"]
    page = page_of(ranking)
    assert "The panel separates 2 of 3 pairs of systems." in page
    assert "No pair is shown to differ, because people scored no text" in page
    assert page.count("| yes | not shown |") == 2
    assert "The panel separates systems that share no letter. That does not mean" in page
    pairs = pairs_of(ranking)
    assert [one["is_apart"] for one in pairs] == [False] * 3
    assert sum(one["panel_apart"] is True for one in pairs) == 2
    assert {one["not_shown"] for one in pairs} == {"people scored no text"}


def test_no_pair_with_an_unmarked_system_is_shown_to_differ() -> None:
    found = texts((2.0, 0.0, 1.0), lean=(0.0, 0.0, 9.0), rng=np.random.default_rng(5), share=0.9)
    ranking = ranked([replace(one, people={}) if one.system == "cat" else one for one in found])

    assert (ranking.basis, ranking.unmarked) == ("people and judges", ("cat",))
    assert [one.system for one in ranking.systems] == ["ant", "bee", "cat"]
    shown = {(one.first, one.second): ranking.shows(one) for one in ranking.pairs}
    assert shown == {("ant", "bee"): True, ("ant", "cat"): False, ("bee", "cat"): False}
    assert all(one.is_apart("judges") for one in ranking.pairs)
    assert [one.place.groups for one in ranking.systems] == ["a", "b", "ab"]
    assert (ranking.systems[2].place.best, ranking.systems[2].place.worst) == (1, 3)
    assert any("people scored no text of cat" in one for one in cautions(ranking))
    assert not any("too few texts" in one for one in cautions(ranking))
    page = page_of(ranking)
    assert page.count("| not shown |") == 2
    assert "1 of 3 pairs of systems are shown to differ" in page


def test_people_turn_the_order_of_a_judge_that_leans() -> None:
    found = ranked(
        texts((1.0, 0.0, -1.0), lean=(-4.0, 0.0, 4.0), rng=np.random.default_rng(4), share=0.8)
    )

    assert [one.system for one in found.systems] == ["ant", "bee", "cat"]
    assert found.basis == "people and judges"
    assert {(one.first, one.second) for one in found.reversed_pairs} >= {("ant", "cat")}
    assert any("the opposite order" in one for one in cautions(found))


def test_estimates_hold_people_s_means_at_the_stated_rate_whatever_the_judge() -> None:
    truth, rng = (0.6, 0.0, -0.3), np.random.default_rng(6)
    held, pairs, errors, widths, plain = 0, 0, [], 0.0, 0.0
    draws = 150
    for _ in range(draws):
        found = ranked(texts(truth, lean=(-1.0, 0.0, 2.0), rng=rng))
        for one in found.systems:
            estimate, right = by_people(one), truth[NAMES.index(one.system)]
            held += estimate.low <= right <= estimate.high
            errors.append(estimate.value - right)
            widths += estimate.high - estimate.low
            plain += estimate.plain_high - estimate.plain_low
        for pair in found.pairs:
            right = truth[NAMES.index(pair.first)] - truth[NAMES.index(pair.second)]
            pairs += by_people(pair).low <= right <= by_people(pair).high

    for count in (held, pairs):
        assert binomtest(count, 3 * draws, 0.95).pvalue > 0.001
    assert ttest_1samp(errors, 0).pvalue > 0.001
    assert widths < 0.8 * plain


def test_equal_systems_seem_to_differ_in_one_of_twenty_rankings_at_most() -> None:
    rng = np.random.default_rng(8)
    draws = 200
    by_judges = by_people = 0
    for _ in range(draws):
        by_judges += ranked(texts((0.0, 0.0, 0.0), rng=rng, share=0.0)).separated > 0
        by_people += ranked(texts((0.0, 0.0, 0.0), rng=rng)).apart > 0

    for count in (by_judges, by_people):
        assert binomtest(count, draws, 0.05, alternative="greater").pvalue > 0.01


def test_marks_without_a_chance_are_left_out_where_others_have_one() -> None:
    found = texts((1.0, 0.0), rng=np.random.default_rng(1), share=1.0)
    drawn = [replace(one, chance=0.25 if number % 2 else None) for number, one in enumerate(found)]
    ranking = ranked(drawn)

    assert (ranking.marked, ranking.without_chance) == (INPUTS, INPUTS)
    assert ranking.is_weighted
    assert any("theirs is unknown" in one for one in cautions(ranking))


def test_chances_make_up_for_a_sample_of_bad_texts() -> None:
    rng = np.random.default_rng(9)
    means = []
    for _ in range(100):
        scores = np.where(rng.random(200) < 0.3, 1.0, 5.0)
        chances = np.where(scores == 1, 0.5, 0.1)
        rows = [
            RankedText(
                system=NAMES[place % 2],
                source=str(place // 2),
                score=3.0,
                people={"": float(score)} if rng.random() < chance else {},
                chance=float(chance),
            )
            for place, (score, chance) in enumerate(zip(scores, chances, strict=True))
        ]
        means += [one.powered.value for one in ranked(rows).systems if one.powered]

    assert np.mean(means) == pytest.approx(0.3 * 1 + 0.7 * 5, abs=0.15)


def test_annotators_who_disagree_wholly_are_no_truth() -> None:
    rows = [
        RankedText(
            system="ant",
            source=str(place),
            score=3.0,
            people={"ann": 1.0 + place % 5, "bob": 5.0 - place % 5},
        )
        for place in range(10)
    ]
    agreeing = [replace(one, people=dict.fromkeys(one.people, one.people["ann"])) for one in rows]

    assert "no better than by chance" in annotators_caution(rows)
    assert not annotators_caution(agreeing)
    assert not annotators_caution(rows[:4])


def test_marks_are_too_few_if_all_texts_are_marked() -> None:
    """Five inputs show no difference, however large it is, and no text is left to mark."""
    level = {"ant": 4.0, "bee": 1.0, "cat": 1.0}
    rows = [
        RankedText(system=name, source=str(n), score=3.0, people={"": score + n % 2})
        for name, score in level.items()
        for n in range(5)
    ]
    first, *_ = ranked(rows).pairs
    assert by_people(first).marked == by_people(first).items
    assert math.isinf(first.more_marks)
    assert "| never enough |" in page_of(ranked(rows))


def test_a_report_says_who_is_not_shown_to_differ_and_json_has_all_figures() -> None:
    ranking = ranked(texts((2.0, 0.0, 0.0), rng=np.random.default_rng(1), share=0.9))
    page = page_of(ranking)
    assert "2 of 3 pairs of systems are shown to differ" in page
    assert "a note" in page
    aspects = ranking_json(findings_of(ranking))["aspects"]
    assert isinstance(aspects, list)
    assert [one["place"]["groups"] for one in aspects[0]["systems"]] == ["a", "b", "b"]
    pairs = pairs_of(ranking)
    assert [one["is_apart"] for one in pairs] == [True, True, False]
    assert pairs[2]["more_marks"] is None


def test_a_terminal_of_80_columns_cuts_nothing() -> None:
    ranking = ranked(texts((2.0, 0.0, 0.0), rng=np.random.default_rng(1), share=0.9))
    console = Console(width=80, file=StringIO(), record=True)
    console.print(report_view(ranking_report(findings_of(ranking))))
    shown = console.export_text()

    assert "\u2026" not in shown
    assert all(f"\u2502{name} " in shown for name in NAMES)
    assert "marks" in shown


def test_systems_with_the_same_mean_are_named_together() -> None:
    scores = [(system, str(place), 4.0) for system in ("ant", "bee") for place in range(4)]
    lower = [("cat", str(place), 2.0 + place % 2) for place in range(4)]
    answer = "On consistency, ant and bee have the same best mean."
    assert answer_of(ranked(judged(*scores, *lower))) == answer


def on_hard_inputs(*, are_marked: bool) -> AspectRanking:
    """Rank a system with 40 inputs, and one that has the 12 hard ones and is better there."""
    rng = np.random.default_rng(3)
    level = np.where(np.arange(INPUTS) < 12, 1.6, 4.0) + 0.2 * rng.normal(size=INPUTS)
    better = level[:12] + 0.6 + 0.2 * rng.normal(size=12)
    return ranked(
        [
            RankedText(
                system=system,
                source=str(place),
                score=float(score),
                people={"": float(score)} if are_marked else {},
            )
            for system, scores in (("ant", level), ("bee", better))
            for place, score in enumerate(scores)
        ]
    )


@pytest.mark.parametrize("are_marked", [True, False])
def test_a_system_with_harder_inputs_is_ranked_by_what_it_shares(*, are_marked: bool) -> None:
    ranking = on_hard_inputs(are_marked=are_marked)
    best, other = ranking.systems
    assert (best.system, best.place.best, other.place.best) == ("bee", 1, 2)
    assert best.judged.value < other.judged.value
    (pair,) = ranking.pairs
    assert best.comparable - other.comparable == pytest.approx(pair.value_on(ranking.basis))
    assert any("different inputs" in caution for caution in cautions(ranking))
    said = {
        True: "On consistency, bee is shown to be better than all others.",
        False: "On consistency, bee has the best mean adjusted for inputs but is not shown to"
        " differ from any other system.",
    }
    assert answer_of(ranking) == said[are_marked]


def test_a_headline_names_no_system_that_a_pair_contradicts() -> None:
    """Each of three systems beats the next on inputs of their own, as in a game of chance."""
    scores = [
        (system, f"{pair}{place}", level + 0.01 * (place % 3))
        for pair, (winner, loser) in enumerate([("ant", "bee"), ("bee", "cat"), ("cat", "ant")])
        for place in range(12)
        for system, level in ((winner, 4.0), (loser, 3.0 + 0.02 * (place % 2)))
    ]
    ranking = ranked(judged(*scores))
    assert answer_of(ranking) == (
        "On consistency, no system is named best: the order by means contradicts the tests of"
        " pairs."
    )


def test_means_stay_the_same_where_systems_share_their_inputs() -> None:
    ranking = ranked(texts((2.0, 1.0, 0.0), rng=np.random.default_rng(1), share=0.9))
    assert not ranking.is_adjusted
    for each in ranking.systems:
        assert each.comparable == by_people(each).value


def test_equal_scores_have_no_interval() -> None:
    flat = [("ant", str(place), 5.0) for place in range(10)]
    ranking = ranked(judged(*flat, *(("bee", str(place), place % 3) for place in range(10))))
    (ant,) = [each for each in ranking.systems if each.system == "ant"]
    assert math.isnan(ant.judged.low)
    assert math.isnan(ant.judged.high)
    assert "ant: the panel's scores are all equal, so they have no interval" in {*cautions(ranking)}
