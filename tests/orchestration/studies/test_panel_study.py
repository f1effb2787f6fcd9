"""A study of seats: subsets, shares, redundancy, families, weights and cost, on made scores."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from fakes.seat_words import word
from numpy.random import default_rng
from numpy.typing import NDArray

from spanjury.judges.core import DataError
from spanjury.orchestration.engine.families import Families
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.json import json_text
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.panel_study.cascades import (
    cascade_findings,
    judge_held_out,
    staged,
)
from spanjury.orchestration.studies.panel_study.findings import (
    Spending,
    leans,
    redundancy_findings,
    study_aspect,
    study_json,
    weighings,
)
from spanjury.orchestration.studies.panel_study.findings import StudyFindings as Found
from spanjury.orchestration.studies.panel_study.seats import (
    Agreement,
    PanelSeats,
    SeatCost,
    Settings,
    StudyText,
    Unit,
    panel_seats,
    source_folds,
    splits,
)
from spanjury.orchestration.studies.panel_study.subsets import Frontier, frontier, subset_findings
from spanjury.orchestration.studies.panel_study.tables import study_report
from spanjury.stats.resampling import Estimate

QUICK = Settings(draws=0)
DRAWN = Settings(draws=60)
KNOWN = Families.load()


Line = Sequence[float | None] | NDArray[np.float64]


def seats_of(
    human: Sequence[float] | NDArray[np.float64],
    scores: Mapping[str, Line],
    *,
    groups: Sequence[str] = (),
    systems: Sequence[str] = (),
    sources: Sequence[str] = (),
    costs: Mapping[str, SeatCost] | None = None,
) -> PanelSeats:
    texts = [
        StudyText(
            system=systems[number] if systems else "",
            source=sources[number] if sources else str(number),
            group=groups[number] if groups else "",
            human=score,
            seats={name: word(line[number]) for name, line in scores.items()},
        )
        for number, score in enumerate(human)
    ]
    return panel_seats(texts, aspect="fluency", costs=costs or {})


def noisy(*, texts: int, seats: int, seed: int = 1, noise: float = 1.0) -> PanelSeats:
    """Return seats that err independently of each other, and alike much."""
    rng = default_rng(seed)
    truth = rng.normal(size=texts)
    lines = {f"s{number}": truth + noise * rng.normal(size=texts) for number in range(seats)}
    return seats_of(truth, lines)


def frontier_of(
    seats: PanelSeats,
    *,
    settings: Settings = QUICK,
    unit: Unit | None = None,
    budget: float | None = None,
    texts: int | None = None,
) -> Frontier:
    agreement = Agreement(seats, settings)
    subsets = subset_findings(agreement).subsets
    return frontier(agreement, subsets, unit=unit, budget=budget, texts=texts)


def test_every_subset_is_correlated_by_hand() -> None:
    seats = seats_of([1, 2, 3, 4, 5], {"a": [1, 2, 3, 4, 5], "b": [5, 4, 3, 2, 1]})
    found = subset_findings(Agreement(seats, QUICK))
    assert [one.seats for one in found.subsets] == [("a",), ("b",), ("a", "b")]
    assert [one.agreement for one in found.subsets[:2]] == pytest.approx([1, -1])
    assert math.isnan(found.subsets[2].agreement)  # their mean is 3 for every text


def test_gains_and_shares_are_of_the_whole_panel() -> None:
    seats = seats_of([1, 2, 3, 4, 5], {"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 5, 4]})
    found = subset_findings(Agreement(seats, QUICK))
    # rho of b: 1 - 6 * 2 / (5 * 24) = .9; of the mean (1, 2, 3, 4.5, 4.5): 9.5 / sqrt(10 * 9.5).
    both = 9.5 / math.sqrt(95)
    assert found.whole.value == pytest.approx(both)
    a, b = found.shares
    assert (a.alone.value, b.alone.value) == pytest.approx((1, 0.9))
    assert (a.gain.value, b.gain.value) == pytest.approx((both - 0.9, both - 1))
    assert a.shapley == pytest.approx((1 + both - 0.9) / 2)
    assert a.shapley + b.shapley == pytest.approx(both)


def test_more_seats_than_eight_join_one_by_one() -> None:
    found = subset_findings(Agreement(noisy(texts=40, seats=9), QUICK))
    assert not found.is_complete
    assert [one.panels for one in found.sizes] == list(range(9, 0, -1))
    best = [set(one.best.members) for one in found.sizes]
    assert all(small < large for small, large in pairwise(best))
    assert all(math.isnan(one.shapley) for one in found.shares)


def test_the_best_of_many_alike_is_corrected_downwards() -> None:
    # Eight seats of equal worth: the best on 40 texts is best by chance, and so is its lead.
    found = subset_findings(Agreement(noisy(texts=40, seats=8, noise=2.0), DRAWN))
    single = found.sizes[0]
    assert single.mean < single.corrected < single.best.agreement


def test_agreement_within_groups_is_averaged() -> None:
    # Within x rho is 1, within y it is -1; over all texts together it is above 0.
    seats = seats_of(
        [1, 2, 3, 11, 12, 13],
        {"a": [1, 2, 3, 13, 12, 11], "b": [1, 2, 3, 13, 12, 11]},
        groups=["x"] * 3 + ["y"] * 3,
    )
    assert Agreement(seats, QUICK).of(seats.scores) == pytest.approx([0, 0])
    pooled = replace(seats, groups=np.zeros(6, dtype=np.intp), group_names=("",))
    assert Agreement(pooled, QUICK).of(seats.scores) == pytest.approx([1 - 6 * 8 / 210] * 2)


def test_inputs_with_several_systems_are_compared_within() -> None:
    seats = seats_of(
        [1, 2, 3, 4, 5, 5, 4, 3, 2, 1],
        {"a": [1, 2, 3, 4, 5, 50, 40, 30, 20, 10], "b": [5, 4, 3, 2, 1, 50, 40, 30, 20, 10]},
        systems=["p", "q", "r", "s", "t"] * 2,
        sources=["1"] * 5 + ["2"] * 5,
    )
    agreement = Agreement(seats, QUICK)
    assert agreement.level == "by-input"
    assert agreement.of(seats.scores) == pytest.approx([1, 0])


def test_texts_of_one_source_are_never_in_two_folds() -> None:
    sources = [str(number // 3) for number in range(60)]
    groups = ["x" if number < 30 else "y" for number in range(60)]
    seats = seats_of(list(range(60)), {"a": list(range(60))}, sources=sources, groups=groups)
    folds = source_folds(seats, QUICK)
    for source in range(20):
        assert len({*folds[seats.sources == source].tolist()}) == 1
    for group in range(2):  # each fold has its share of both
        assert np.bincount(folds[seats.groups == group]).tolist() == [6] * 5
    tested = np.concatenate([test for _, test in splits(folds)])
    assert sorted(tested.tolist()) == list(range(60))


def test_twins_count_as_one_seat_and_strangers_as_two() -> None:
    rng = default_rng(3)
    truth = rng.normal(size=300)
    shared, own = rng.normal(size=(2, 300))
    twins = seats_of(truth, {"llama-a": truth + shared, "llama-b": truth + shared + own / 99})
    found = redundancy_findings(Agreement(twins, DRAWN), KNOWN)
    assert found is not None
    assert found.effective.value == pytest.approx(1, abs=0.02)
    assert found.pairs[0].family == "llama"
    assert found.within > 0.95
    assert math.isnan(found.between)
    apart = seats_of(truth, {"llama": truth + shared, "qwen": truth + own})
    others = redundancy_findings(Agreement(apart, DRAWN), KNOWN)
    assert others is not None
    assert others.effective.value == pytest.approx(2, abs=0.3)
    assert others.between == others.pairs[0].partial.value


def test_a_judge_that_likes_its_own_family_is_seen_leaning() -> None:
    rng = default_rng(5)
    systems = ["llama-3", "gpt-4", "qwen2"] * 60
    truth = rng.normal(3, 1, size=180)
    own = np.array([name == "llama-3" for name in systems])
    seats = seats_of(
        truth,
        {
            "llama": truth + 1.0 * own + rng.normal(0, 0.3, size=180),
            "gemma": truth + rng.normal(0, 0.3, size=180),
        },
        systems=systems,
        sources=[str(number // 3) for number in range(180)],
    )
    (found,) = leans(seats, DRAWN, KNOWN)  # gemma judged no system of its own
    assert (found.seat, found.systems, found.texts) == ("llama", ("llama-3",), 60)
    assert found.beyond_seats.value == pytest.approx(1, abs=0.15)
    assert found.beyond_people.value == pytest.approx(1, abs=0.15)
    assert max(found.beyond_people.low, found.beyond_seats.low) > 0


def test_stacking_passes_over_a_seat_that_says_nothing() -> None:
    rng = default_rng(7)
    truth = rng.normal(size=200)
    lines = {"good": truth + rng.normal(size=200), "noise": rng.normal(size=200)}
    seats = seats_of(truth, lines)
    by_name = {one.name: one for one in weighings(Agreement(seats, DRAWN))}
    assert [*by_name] == ["plain mean", "Dawid-Skene", "ordinal", "stacking"]
    stacked = by_name["stacking"]
    assert stacked.uses_people
    assert stacked.weights["good"] > 0.8
    assert sum(stacked.weights.values()) == pytest.approx(1)
    assert stacked.gain.low > 0
    assert by_name["plain mean"].gain.value == 0


def test_the_frontier_has_what_no_other_panel_beats() -> None:
    human = [1, 2, 3, 4, 5, 6]
    seats = seats_of(
        human,
        {"cheap": [1, 2, 3, 4, 6, 5], "dear": human, "waste": [2, 1, 3, 4, 6, 5]},
        costs={
            "cheap": SeatCost(calls=1, tokens=10),
            "dear": SeatCost(calls=1, tokens=100),
            "waste": SeatCost(calls=1, tokens=50),
        },
    )
    found = frontier_of(seats, budget=200)
    assert found.unit == "tokens"
    choices = [point.choice for point in found.points]
    names = [choice.name for choice in choices]
    assert (names[0], names[-1]) == ("cheap", "dear")
    assert "waste" not in names
    assert sorted(choices, key=lambda choice: choice.cost) == choices
    assert sorted(choices, key=lambda choice: choice.agreement) == choices
    assert found.whole.cost == 160
    assert found.budget is not None
    assert found.budget.best is not None
    assert found.budget.best.choice.name == "cheap"  # six texts at 10 tokens; dear ones take 600


def graded(*, texts: int = 120, seats: int = 3, costs: Sequence[SeatCost]) -> PanelSeats:
    """Return seats that see the same quality, in grades of five, and err independently."""
    rng = default_rng(11)
    quality = rng.uniform(0.5, 5.5, size=texts)
    lines = {
        f"s{number}": np.clip(np.rint(quality + rng.normal(size=texts)), 1, 5)
        for number in range(seats)
    }
    return seats_of(quality, lines, costs=dict(zip(lines, costs, strict=True)))


FREE = SeatCost(seconds=0.01)


def test_cascades_ask_cheap_seats_first_and_take_their_share_of_the_cost() -> None:
    costs = [SeatCost(calls=1, tokens=300), FREE, SeatCost(calls=1, tokens=100)]
    found = frontier_of(graded(costs=costs))
    cascades = {one.name: one for one in found.choices if one.share}
    whole = [one for one in cascades.values() if one.name.startswith("s1 > s2 > s0 at ")]
    assert [one.name[-3:] for one in whole] == ["20%", "40%", "60%", "80%"]
    for one, share in zip(whole, (0.2, 0.4, 0.6, 0.8), strict=True):
        assert one.stages == (("s1",), ("s2",), ("s0",))
        assert one.share == share
        assert one.cost <= 400 * (share + 0.05)  # texts of other sources may take a little more
        assert 0 < one.calls < 1
    spent = [one.cost for one in whole]
    assert spent == sorted(spent)
    assert spent[0] < spent[-1] < 400
    assert found.whole.cost == 400
    assert found.whole.agreement > whole[0].agreement


def test_a_cascade_of_the_frontier_is_judged_on_other_sources_than_it_is_fitted_to() -> None:
    costs = [FREE, SeatCost(calls=1, tokens=100)]
    seats = graded(seats=2, costs=costs)
    settings = replace(QUICK, folds=3)
    (choice,) = [one for one in frontier_of(seats, settings=settings).choices if one.share == 0.4]
    texts = staged(seats, ((0,), (1,)), unit="tokens")
    (ended,) = judge_held_out(texts, source_folds(seats, settings), shares=[0.4])
    assert choice.agreement == Agreement(seats, settings).of(ended.fractions[np.newaxis])[0]
    assert choice.cost == ended.costs.mean()
    assert choice.calls == (ended.stages == 1).mean()


def test_seats_that_cost_nothing_have_no_cascade() -> None:
    found = frontier_of(graded(costs=[FREE] * 3), unit="tokens")
    assert not any(one.share for one in found.choices)
    (point,) = found.points
    assert point.choice.cost == 0
    assert point.choice.agreement == max(one.agreement for one in found.choices)


def test_frontier_choices_are_corrected_downwards() -> None:
    # Six seats of one worth and one cost: the best single one leads by chance.
    costs = [SeatCost(calls=1, tokens=100)] * 6
    agreement = Agreement(graded(texts=40, seats=6, costs=costs), DRAWN)
    subsets = subset_findings(agreement)
    first = frontier(agreement, subsets.subsets).points[0]
    assert first.choice.name == subsets.sizes[0].best.seats[0]
    assert first.corrected < first.choice.agreement
    assert first.corrected == pytest.approx(subsets.sizes[0].corrected)


def test_each_point_of_the_frontier_is_better_than_all_cheaper_ones() -> None:
    costs = [FREE, *(SeatCost(calls=1, tokens=100 + 10 * one) for one in range(3))]
    points = frontier_of(graded(texts=60, seats=4, costs=costs), settings=DRAWN).points
    assert len(points) > 2
    for cheaper, dearer in pairwise(points):
        assert cheaper.choice.cost < dearer.choice.cost
        assert cheaper.choice.agreement < dearer.choice.agreement
        assert cheaper.corrected < dearer.corrected


def test_a_seat_with_scores_of_half_the_texts_is_not_on_the_frontier_alone() -> None:
    human = [float(number % 5 + 1) for number in range(40)]
    noise = [min(5.0, score + number % 3) for number, score in enumerate(human)]
    half = [score if number < 20 else None for number, score in enumerate(human)]
    costs = {"a": SeatCost(calls=1, tokens=100), "b": SeatCost(calls=1, tokens=10)}
    seats = seats_of(human, {"a": noise, "b": half}, costs=costs)
    found = studied(seats)
    priced = found.aspects[0].frontier
    assert priced.uneven == ("b",)
    assert "b" not in [one.choice.name for one in priced.points]
    excluded = "Excluded from the frontier, because they leave many texts without a score: b."
    assert excluded in report_markdown(study_report(found))


def test_a_budget_is_for_all_texts_of_the_run() -> None:
    costs = [SeatCost(calls=1, tokens=10), SeatCost(calls=1, tokens=1000)]
    seats = graded(seats=2, costs=costs)
    found = frontier_of(seats, budget=200 * 10, texts=200)
    assert found.budget is not None
    assert found.budget.texts == 200
    assert found.budget.best is not None
    assert found.budget.best.choice.cost == 10
    less = frontier_of(seats, budget=199 * 10, texts=200).budget
    assert less is not None
    assert less.best is None


def test_dollars_count_where_all_prices_are_known() -> None:
    free, priced = SeatCost(seconds=1.0), SeatCost(calls=1, tokens=9, dollars=0.5)
    scores = {"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 5, 4]}
    seats = seats_of([1, 2, 3, 4, 5], scores, costs={"a": free, "b": priced})
    found = frontier_of(seats)
    assert found.unit == "dollars"
    assert found.whole.cost == 0.5


@pytest.mark.parametrize(
    ("human", "scores", "says"),
    [
        ([1, 2, 3, 4], {"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, "4 of the texts"),
        ([3, 3, 3, 3, 3], {"a": [1, 2, 3, 4, 5], "b": [1, 2, 3, 4, 5]}, "the score 3"),
        ([1, 2, 3, 4, 5], {"a": [1, 2, 3, 4, 5], "b": [None] * 5}, "but only a gave scores"),
        ([1, 2, 3, 4, 5], {"a": [2] * 5, "b": [2] * 5}, "is undefined"),
    ],
)
def test_too_little_to_say_anything_is_refused(
    human: list[float], scores: dict[str, list[float | None]], says: str
) -> None:
    with pytest.raises(DataError, match=says):
        study_aspect(seats_of(human, scores), QUICK, families=KNOWN, spending=Spending())


def studied(seats: PanelSeats, *, budget: float | None = None) -> Found:
    found = study_aspect(seats, DRAWN, families=KNOWN, spending=Spending(budget=budget))
    return Found(settings=DRAWN, results=("run",), human="people", aspects=(found,))


def test_the_page_says_what_is_unsure_and_draws_the_frontier() -> None:
    seats = noisy(texts=20, seats=3)
    costs = tuple(SeatCost(calls=1, tokens=number * 100) for number in (1, 2, 3))
    named = replace(seats, costs=costs, models=("llama-3", "vicuna", "qwen"))
    found = studied(named, budget=5000)
    markdown = report_markdown(study_report(found))
    assert "20 texts are few" in markdown
    assert "s0, s1 are of one family, llama" in markdown
    assert "upper bound" in markdown
    assert "What 5,000 tokens buys" in markdown
    assert "The best panel that judges all 20 texts of the run for 5,000 tokens:" in markdown
    html = report_html(study_report(found))
    assert html.count("<svg") == 1
    assert "<script" not in html
    assert found.aspects[0].families == {"s0": "llama", "s1": "llama", "s2": "qwen"}
    (aspect,) = json.loads(json_text(study_json(found)))["aspects"]
    assert aspect["frontier"]["budget"]["amount"] == 5000


def test_a_seat_that_scored_few_texts_is_named() -> None:
    human = [float(number) for number in range(12)]
    half = [score if score < 6 else None for score in human]
    found = studied(seats_of(human, {"a": human, "b": half}))
    assert "b scored only 6 of 12 texts; its figures cover these" in found.aspects[0].notes
    assert found.aspects[0].subsets.shares[1].coverage == 0.5


def test_a_seat_that_takes_nearly_all_calls_leaves_no_cascade_to_save_any() -> None:
    """By calls the seat of fewer tokens is asked first, and it takes nine of ten."""
    seats = noisy(texts=40, seats=2)
    costs = (SeatCost(calls=9, tokens=10), SeatCost(calls=1, tokens=90))
    spending = Spending(unit="calls")
    found = study_aspect(replace(seats, costs=costs), DRAWN, families=KNOWN, spending=spending)
    assert all(choice.share is None for choice in found.frontier.choices)


def test_dollars_are_for_a_thousand_texts_and_no_plot_is_drawn_where_all_cost_the_same() -> None:
    seats = noisy(texts=20, seats=2)
    paid = (SeatCost(calls=1, dollars=2e-5), SeatCost(calls=1, dollars=4e-5))
    page = report_html(study_report(studied(replace(seats, costs=paid), budget=1)))
    assert "All seats: $0.06 per 1,000 texts" in page
    assert "What $1 buys" in page
    assert "<svg" in page
    free = (SeatCost(dollars=0.0), SeatCost(dollars=0.0))
    assert "<svg" not in report_html(study_report(studied(replace(seats, costs=free))))


def test_a_share_that_the_first_stage_exceeds_is_out_of_reach() -> None:
    seats = replace(noisy(texts=40, seats=2), costs=(SeatCost(calls=1), SeatCost(calls=3)))
    by_stages = {
        stages: cascade_findings(
            staged(seats, stages, unit="calls"),
            seats,
            share=0.6,
            unit="calls",
            people="",
            settings=QUICK,
        ).notes
        for stages in (((0,), (1,)), ((1,), (0,)))
    }
    few = "40 texts are few: another sample may lead to a different cascade"
    says = "the first stage alone uses {} of the calls, so no cascade uses less"
    assert by_stages[(0,), (1,)] == (few, says.format("25%"))
    assert by_stages[(1,), (0,)] == (few, says.format("75%"))


def answer_of(seats: PanelSeats, *, budget: float | None = None) -> str:
    (line,) = [
        line
        for line in report_markdown(study_report(studied(seats, budget=budget))).splitlines()
        if line.startswith("**On *fluency*")
    ]
    return line.replace("\\", "")


@pytest.mark.parametrize("sign", [0, -1])
def test_no_seat_is_recommended_that_is_not_shown_to_agree_with_people(sign: int) -> None:
    rng = default_rng(3)
    truth = rng.normal(size=60)
    lines = {name: sign * truth + rng.normal(size=60) for name in ("a", "b")}
    answer = answer_of(seats_of(truth, lines))
    assert "no seat is shown to agree with people: the agreement of" in answer
    assert "keep" not in answer


def test_no_seat_is_recommended_for_a_gain_that_is_not_shown() -> None:
    seats = noisy(texts=30, seats=2, seed=2, noise=0.5)
    equal = replace(seats, costs=(SeatCost(calls=1, tokens=1),) * 2)
    answer = answer_of(equal)
    assert "all 2 seats together agree best with people, 0.92 [0.83, 0.95]" in answer
    assert "but none of them is shown to add to the others" in answer


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        (8, "no seat is shown to agree with people: the agreement of `a` is 1.00 [-0.20, 1.00]"),
        (40, "keep only `a`: its agreement with people is 1.00 [0.66, 1.00]"),
    ],
)
def test_perfect_agreement_on_few_texts_has_no_interval_of_width_0(texts: int, answer: str) -> None:
    human = [float(number) for number in range(texts)]
    seats = seats_of(human, dict.fromkeys("ab", human), costs={"b": SeatCost(seconds=2)})
    assert answer in answer_of(seats)
    study = studied(seats).aspects[0]
    gains = [share.gain for share in study.subsets.shares]
    gains += [weighing.gain for weighing in study.weighings]
    gains += [study.redundancy.effective, *(pair.partial for pair in study.redundancy.pairs)]
    assert all(math.isnan(gain.low) or gain.low < gain.high for gain in gains)


def test_the_answer_quotes_the_corrected_agreement_with_its_interval() -> None:
    seats = noisy(texts=80, seats=3)
    costs = tuple(SeatCost(calls=1, tokens=number * 100) for number in (1, 2, 3))
    priced = replace(seats, costs=costs)
    point = studied(priced).aspects[0].frontier.points[-1]
    value, low, high = point.shifted
    assert value == point.corrected < point.estimate.value
    assert high - low == pytest.approx(point.estimate.high - point.estimate.low)
    assert point.is_shown
    said = f"is {value:.2f} [{low:.2f}, {high:.2f}], corrected for the choice"
    assert said in answer_of(priced)
    undrawn = replace(point, estimate=Estimate(0.4), corrected=math.nan)
    assert undrawn.shifted.value == 0.4
    assert undrawn.is_shown
    assert not replace(point, estimate=Estimate(0.4), corrected=0.4).is_shown


def test_a_budget_that_buys_only_noise_buys_no_panel_that_is_shown_to_agree() -> None:
    rng = default_rng(5)
    truth = rng.normal(size=60)
    lines = {"noise": rng.normal(size=60), "good": truth + rng.normal(size=60)}
    costs = {"noise": SeatCost(calls=1, tokens=1), "good": SeatCost(calls=1, tokens=100)}
    seats = seats_of(truth, lines, costs=costs)
    assert "keep only `good`: its agreement with people is" in answer_of(seats)  # within an error
    answer = answer_of(seats, budget=60)
    assert "no panel within the budget is shown to agree with people" in answer
