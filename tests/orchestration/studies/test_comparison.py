"""Two judges compared on what both were shown."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes.exam_scores import scored
from fakes.result_files import result, write_results
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.services.judging.scorers import read_scorers
from spanjury.orchestration.studies.agreement.scorers import Scorer
from spanjury.orchestration.studies.comparison.comparison import (
    Compared,
    Comparison,
    Preference,
    _Cell,
    compare,
)
from spanjury.orchestration.studies.comparison.runs import (
    differences,
    differences_report,
    doubts,
)
from spanjury.orchestration.studies.comparison.tables import (
    caught_conclusion,
    conclusion,
    preferred,
    remarks,
)
from spanjury.orchestration.studies.discernment.score_arrays import ScoreRow
from spanjury.orchestration.studies.sources import TextIds

# Of 20 texts A's score falls on 15; B's on 5 of them, and it rises on one.
KEEN = [1.0] * 15 + [0.0] * 5
DULL = [1.0] * 5 + [0.0] * 14 + [-1.0]
STILL = [0.0] * 20


def only(comparison: Comparison) -> Compared:
    ((_, compared),) = comparison.contrasts
    return compared


def verdicts(comparison: Comparison) -> list[str]:
    return [preferred(place, compared) for place, compared in comparison.contrasts]


def test_effects_and_their_difference_are_those_that_can_be_counted() -> None:
    compared = only(compare(scored(KEEN), scored(DULL)))
    assert (compared.first, compared.second) == pytest.approx((0.75, 0.2))
    assert compared.difference == pytest.approx(0.55)
    # Eleven texts speak for A and none for B: a binomial of 20 texts with .55,
    # between its percentiles 1.6 and 98.4; and 2 of 2^11.
    assert (compared.low, compared.high) == pytest.approx((0.3, 0.8))
    assert compared.p == pytest.approx(2 / 2**11)
    assert compared.texts == 20
    assert compared.preference is Preference.FIRST


def test_a_few_texts_show_nothing_however_clear_they_are() -> None:
    compared = only(compare(scored([1.0] * 5), scored([0.0] * 5)))
    assert (compared.difference, compared.low, compared.high) == (1, 1, 1)
    assert compared.p == pytest.approx(2 / 2**5)
    assert compared.preference is Preference.NOT_SHOWN


def test_p_values_are_adjusted_for_everything_that_is_compared() -> None:
    still = scored(STILL, aspect="coherence", expected="unchanged")
    comparison = compare(scored(KEEN) + still, scored(DULL) + still)
    adjusted = [compared.adjusted for _, compared in comparison.contrasts]
    assert adjusted == [pytest.approx(2 * 2 / 2**11), 1]


def test_the_judge_that_moves_less_is_better_if_scores_should_stay() -> None:
    wild = [1.0, -1.0] * 10
    compared = compare(
        scored(wild, condition="spaces", expected="unchanged") + scored(STILL),
        scored(STILL, condition="spaces", expected="unchanged") + scored(STILL),
    )
    moved = compared.contrasts[0][1]
    assert (moved.first, moved.second, moved.difference) == (1, 0, 1)
    assert verdicts(compared) == ["B moves less", "not shown"]


def test_the_judge_whose_scores_fall_more_is_named_if_either_may_happen() -> None:
    compared = compare(scored(DULL, expected=None), scored(KEEN, expected=None))
    assert verdicts(compared) == ["B falls more"]
    assert compared.summary is None
    assert conclusion(compared).startswith("There are no damaged aspects")


def test_the_conclusion_is_of_the_mean_over_damaged_aspects_alone() -> None:
    first = scored(KEEN) + scored(STILL, aspect="coherence")
    second = scored(DULL) + scored(STILL, aspect="coherence")
    other = scored(KEEN, aspect="relevance", expected=None)
    compared = compare(first + other, second + other).summary
    assert compared is not None
    assert (compared.first, compared.second) == pytest.approx((0.375, 0.1))
    # Half of the binomial above: the other half does not move in any draw.
    assert (compared.low, compared.high) == pytest.approx((0.15, 0.4))
    assert compared.p == pytest.approx(2 / 2**11)


def test_a_text_without_a_score_of_one_judge_counts_for_neither() -> None:
    lacking = [None, *KEEN[1:]]
    compared = compare(scored(lacking), scored(DULL))
    assert only(compared).texts == 19
    assert only(compared).second == pytest.approx(3 / 19)
    assert compared.unshared.unscored == (1, 0)
    assert "Pairs shown to both judges that A did not score: 1." in remarks(compared)


@pytest.mark.parametrize(
    ("second", "remark"),
    [
        (scored(KEEN[:18]), "Texts only in the exam of A: 2 (18, 19)."),
        (
            scored(KEEN) + scored(KEEN, condition="order"),
            "Conditions only in the exam of B: 1 (order).",
        ),
        (
            scored(KEEN) + scored(KEEN, aspect="charm"),
            "Aspects only in the exam of B: 1 (charm).",
        ),
        (
            scored(KEEN[:15]) + scored(KEEN[15:], texts=map(str, range(15, 20)), version="new"),
            "Damaged texts skipped, because they differ: 5.",
        ),
        (
            scored(KEEN[:18]) + scored([0, 0], texts=["18", "19"], condition=None),
            "Damaged texts shown only to A: 2.",
        ),
        (
            [*scored(KEEN)[1:], replace(scored(KEEN)[0], clean_digest="other")],
            "Texts with the same name that differ: 1 (0).",
        ),
        (
            scored(KEEN, repeats=5),
            "A's scores are sums of 1 judgment, and B's of 5; a finer score changes more often.",
        ),
    ],
)
def test_unshared_rows_are_reported_and_skipped(second: list[ScoreRow], remark: str) -> None:
    compared = compare(scored(KEEN), second)
    assert remarks(compared) == (remark,)
    assert verdicts(compared) == ["not shown"]


def test_an_aspect_of_which_something_else_is_expected_is_skipped() -> None:
    compared = compare(
        scored(KEEN) + scored(KEEN, aspect="charm"),
        scored(KEEN) + scored(KEEN, aspect="charm", expected="unchanged"),
    )
    assert [place.aspect for place, _ in compared.contrasts] == ["fluency"]
    remark = "Conditions that are expected to affect an aspect differently: 1."
    assert remarks(compared) == (remark,)


@pytest.mark.parametrize(
    ("second", "problem"),
    [
        (scored(KEEN, texts=[f"b{n}" for n in range(20)]), "share no text"),
        (scored(KEEN, condition="order"), "share no condition"),
        (scored(KEEN, aspect="charm"), "share no aspect"),
        (scored(KEEN, version="new"), "share no damaged text with scores of both"),
        (scored([None] * 20), "share no damaged text with scores of both"),
    ],
)
def test_exams_with_nothing_in_common_are_an_error(second: list[ScoreRow], problem: str) -> None:
    control = scored(STILL, condition=None, expected="unchanged")
    with pytest.raises(ConfigError, match=problem):
        compare(control + scored(KEEN), second)


def test_texts_of_one_source_are_one_observation() -> None:
    """Ten sources of which the judges differ on one, two texts each, are not twenty."""
    keen, dull = [1.0, 1.0] * 5 + [0.0] * 10, [0.0] * 20
    shared, alone = (
        only(compare(scored(keen, texts_each=each), scored(dull, texts_each=each)))
        for each in (2, 1)
    )
    assert (shared.difference, shared.texts, shared.sources) == (0.5, 20, 10)
    assert shared.p == pytest.approx(2 / 2**5)
    assert alone.p == pytest.approx(2 / 2**10)
    assert shared.high - shared.low > 1.3 * (alone.high - alone.low)


def test_scores_that_do_not_name_sources_count_each_text_and_are_a_remark() -> None:
    old = [replace(row, source=None) for row in scored(KEEN)]
    compared = compare(old, old)
    assert only(compared).sources == only(compared).texts == 20
    assert "do not say which texts share a source" in " ".join(remarks(compared))
    assert not remarks(compare(old, scored(KEEN)))


def test_one_source_compares_nothing() -> None:
    compared = only(compare(scored(KEEN, texts_each=20), scored(DULL, texts_each=20)))
    assert (compared.p, compared.preference) == (1, Preference.NOT_SHOWN)
    assert math.isnan(compared.low)


def test_too_few_draws_for_so_many_places_are_warned_of() -> None:
    rows = [row for aspect in "abcdef" for row in scored(KEEN, aspect=aspect)]
    assert not remarks(compare(rows, rows, draws=240))
    assert "239 draws are too few" in " ".join(remarks(compare(rows, rows, draws=239)))


DROPS = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 2.0, None]), min_size=6, max_size=6)
EXAM = st.tuples(DROPS, DROPS, DROPS)


def exam(differences: Sequence[Sequence[float | None]]) -> list[ScoreRow]:
    harmed, spared, either = differences
    return [
        *scored([1.0] * 6, aspect="always there"),
        *scored(harmed),
        *scored(spared, aspect="coherence", expected="unchanged"),
        *scored(either, aspect="relevance", expected=None),
    ]


@settings(max_examples=40)
@given(EXAM)
def test_a_judge_does_not_differ_from_itself(differences: Sequence[Sequence[float | None]]) -> None:
    comparison = compare(exam(differences), exam(differences), draws=100)
    assert comparison.summary is not None
    for compared in (comparison.summary, *(one for _, one in comparison.contrasts)):
        assert (compared.difference, compared.low, compared.high) == (0, 0, 0)
        assert (compared.p, compared.adjusted) == (1, 1)
        assert compared.preference is Preference.NOT_SHOWN


MIRROR = {
    Preference.FIRST: Preference.SECOND,
    Preference.SECOND: Preference.FIRST,
    Preference.NOT_SHOWN: Preference.NOT_SHOWN,
}


@settings(max_examples=40)
@given(EXAM, EXAM)
def test_swapping_the_judges_mirrors_the_conclusions(
    first: Sequence[Sequence[float | None]], second: Sequence[Sequence[float | None]]
) -> None:
    here = compare(exam(first), exam(second), draws=100)
    there = compare(exam(second)[::-1], exam(first), draws=100)
    assert here.summary is not None
    assert there.summary is not None
    mirrored = dict(there.contrasts)
    pairs = [(compared, mirrored[place]) for place, compared in here.contrasts]
    for one, other in [(here.summary, there.summary), *pairs]:
        assert (one.first, one.second) == pytest.approx((other.second, other.first))
        assert one.difference == pytest.approx(-other.difference)
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), nan_ok=True)
        assert (one.p, one.adjusted) == pytest.approx((other.p, other.adjusted))
        assert one.preference is MIRROR[other.preference]


def ranked(rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """Spread the clean scores from 3.0 to 4.9, and keep the drops."""
    moved = [3.0 + 0.1 * int(row.text) for row in rows]
    return [
        replace(row, clean=clean, damaged=clean - (row.clean - row.damaged))
        for row, clean in zip(rows, moved, strict=True)
        if row.clean is not None and row.damaged is not None
    ]


def test_catches_are_compared_at_each_judges_own_cutoff() -> None:
    comparison = compare(scored(KEEN), scored(DULL))
    ((place, caught),) = comparison.caught_contrasts
    assert (place.condition, place.aspect) == ("typos", "fluency")
    # All clean scores are 4.0, so that every fall is caught.
    assert (caught.first, caught.second, caught.texts) == (0.75, 0.25, 20)
    assert (caught.low, caught.high) == pytest.approx((0.25, 0.75))
    assert caught.p == pytest.approx(2 / 2**10)
    assert comparison.caught == caught
    assert "At a false-alarm rate of 10 % A catches more: A 75%, B 25%" in caught_conclusion(
        comparison
    )


def test_a_judge_that_takes_a_little_off_everything_moves_more_and_catches_less() -> None:
    petty, bold = ranked(scored([0.09] * 20)), ranked(scored([2.0] * 12 + [0.0] * 8))
    comparison = compare(petty, bold)
    assert only(comparison).preference is Preference.FIRST
    ((_, caught),) = comparison.caught_contrasts
    # Of 20 clean scores two lie below 3.2: of 3.0, 3.1, 3.2 less 0.09 all three do.
    assert (caught.first, caught.second) == pytest.approx((3 / 20, 12 / 20))
    assert caught.preference is Preference.SECOND


@pytest.mark.parametrize(("harmless", "expected"), [(None, 0), (True, 0), (False, 1)])
def test_harmless_changes_lower_the_cut_off_in_old_files_as_well(
    *, harmless: bool | None, expected: float
) -> None:
    spaces = [
        replace(row, harmless=harmless)
        for row in scored([1.0] * 20, condition="spaces", expected="unchanged")
    ]
    rows = [*scored([0.5] * 20), *spaces]
    ((_, caught),) = compare(rows, rows).caught_contrasts
    assert (caught.first, caught.second) == (expected, expected)
    assert caught.preference is Preference.NOT_SHOWN


def test_nine_texts_are_too_few_to_say_what_is_caught() -> None:
    comparison = compare(scored(KEEN[:9]), scored(DULL[:9]))
    assert comparison.caught is None
    assert not comparison.caught_contrasts
    assert "Too few clean texts" in caught_conclusion(comparison)


def test_the_caught_share_is_that_of_the_flagged_texts() -> None:
    # Two of 20 clean scores may lie below the cut-off, which is 0.9 then.
    cell = _Cell(
        pool=np.array([[0.1, 0.2, *[0.9] * 18]]),
        scores=np.array([0.0, 0.95, np.nan, 0.1, *[0.9] * 16]),
    )
    flags = cell.flags()
    assert flags[:5].tolist() == pytest.approx([1, 0, np.nan, 1, 0], nan_ok=True)
    assert cell.effect()(np.ones((1, 20))) == pytest.approx(np.nanmean(flags))


def run(name: str, scores: list[float], *, signature: str = "a") -> Scorer:
    by_text = {str(number): score for number, score in enumerate(scores)}
    return Scorer(name=name, scores=by_text, aspect="fluency", signature=signature)


def test_a_run_that_is_better_everywhere_differs() -> None:
    (one,) = differences([run("j", [1.0] * 20)], [run("j", [2.0] * 20)], draws=100)
    assert (one.first, one.second, one.difference) == (1.0, 2.0, 1.0)
    assert (one.higher, one.lower, one.texts) == (20, 0, 20)
    # 20 equal gains: one of the 2**20 flips of signs is as large, on either side
    assert one.p == pytest.approx(2 / 2**20)
    assert one.adjusted == one.p


def test_the_same_scores_do_not_differ() -> None:
    (one,) = differences([run("j", [1, 2, 3])], [run("j", [1, 2, 3])], draws=100)
    assert (one.difference, one.p, one.low, one.high) == (0.0, 1.0, 0.0, 0.0)
    assert one.same_signature


def test_a_release_by_itself_makes_no_other_judge() -> None:
    earlier = [run("j", [1, 2, 3], signature="panel|seats:1|spanjury:0.2.0")]
    later = [run("j", [1, 2, 3], signature="panel|seats:1|spanjury:0.3.0")]
    (difference,) = differences(earlier, later, draws=100)
    assert difference.same_signature


def test_a_caution_names_the_judge_that_changed_and_in_what() -> None:
    old = "j|model:gemma|prompt:0123456789ab|samples:3"
    new = "j|model:qwen|prompt:ba9876543210|samples:3|form:json"
    rows = differences(
        [run("j", [1, 2], signature=old), run("k", [1, 2], signature="k|order:3")],
        [run("j", [1, 2], signature=new), run("k", [1, 2], signature="k|order:3")],
        draws=10,
    )
    _, *changed = doubts(rows, first="a", second="b", undecided=0)
    assert changed == [
        (
            "j differs in model (gemma in the first, qwen in the second), prompt and form (none in"
            " the first, json in the second)"
        )
    ]


def test_a_seat_and_the_same_judge_alone_are_one_judge() -> None:
    seat = run("j", [1, 2], signature="j|rules:1")
    alone = replace(run("j", [1, 2], signature="j|rules:1|decision:5"), is_own=True)
    (difference,) = differences([seat], [alone], draws=10)
    assert difference.same_signature


def test_a_seat_that_is_the_same_is_not_blamed_for_another(tmp_path: Path) -> None:
    judged = result(scores=(3, 4))
    first, second = judged.report.seats
    other = replace(
        judged.report, signature="panel|2", seats=(first, replace(second, signature="t"))
    )
    runs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    write_results(runs[0], [judged])
    write_results(runs[1], [replace(judged, report=other)])
    before, after = ([*read_scorers([path], ids=TextIds())] for path in runs)
    rows = differences(before, after, draws=10)
    assert {row.scorer: row.same_signature for row in rows} == {
        "panel": False,
        "s1": True,
        "s2": False,
    }


def test_texts_with_one_score_are_counted_and_skipped() -> None:
    (one,) = differences([run("j", [1, 2, 3])], [run("j", [1, 2])], draws=100)
    assert (one.texts, one.only_first, one.only_second) == (2, 1, 0)
    page = report_markdown(differences_report([one], first="a", second="b"))
    assert "2 (1 more in one run only)" in page


def test_nothing_in_common_is_no_difference_of_nought() -> None:
    first = Scorer(name="j", scores={"a": 1.0}, aspect="fluency")
    (one,) = differences([first], [run("j", [1.0])], draws=100)
    assert one.texts == 0
    assert math.isnan(one.difference)
    assert math.isnan(one.adjusted)


def test_p_values_are_adjusted_for_how_many_there_are() -> None:
    first = [run("j", [1.0] * 8), run("k", [1.0, 2.0] * 4)]
    second = [run("j", [2.0] * 8), run("k", [2.0, 1.0] * 4, signature="b")]
    one, other = differences(first, second, draws=100)
    assert one.adjusted == pytest.approx(2 * one.p)
    assert other.adjusted == 1.0
    assert not other.same_signature


def test_a_scorer_of_one_run_alone_is_skipped() -> None:
    assert differences([run("j", [1.0])], [run("k", [1.0])], draws=10) == ()


def test_a_judge_that_abstained_in_both_runs_is_skipped() -> None:
    scored, abstained = run("j", [1.0, 2.0]), replace(run("k", []), aspect="fluency")
    assert [each.scorer for each in differences([scored, abstained], [scored, abstained])] == ["j"]
    lost = differences([replace(abstained, scores={"a": 1.0})], [abstained], draws=10)
    assert [(each.texts, each.only_first) for each in lost] == [(0, 1)]


def test_the_scores_of_two_runs_are_compared_whatever_their_judges_are_called() -> None:
    alone, other = (replace(run(name, [1.0]), is_own=True) for name in "jk")
    panel = [replace(run("panel", [3.0]), is_own=True), run("j", [2.0]), run("k", [4.0])]
    (own,) = differences([alone], [other], draws=10)
    assert (own.scorer, own.difference) == ("panel", 0.0)
    found = differences([alone], panel, draws=10)
    assert {one.scorer: one.second for one in found} == {"panel": 3.0, "j": 2.0}


def test_texts_of_one_source_show_no_more_than_one_text_of_it() -> None:
    drops, copies = [1.0, 2.0, -1.0, 1.0], 4
    texts = np.repeat(drops, copies).tolist()
    sources = {str(number): number // copies for number in range(len(texts))}
    (many,) = differences([run("j", texts)], [run("j", [0.0] * len(texts))], sources=sources)
    (few,) = differences([run("j", drops)], [run("j", [0.0] * len(drops))])
    assert (many.texts, many.sources, few.texts, few.sources) == (16, 4, 4, 4)
    for name in ("difference", "low", "high", "p"):
        assert getattr(many, name) == pytest.approx(getattr(few, name))
    # The ranks of the sizes are 2, 4, 2, 2: 4 of the 16 choices of signs reach the drops' 8.
    assert many.p == pytest.approx(2 * 4 / 16)


def test_one_source_has_no_interval() -> None:
    first, second = [run("j", [1, 2, 3])], [run("j", [3, 2, 2])]
    (one,) = differences(first, second, sources=dict.fromkeys("012", "bridge"))
    assert (one.sources, one.p) == (1, 1.0)
    assert math.isnan(one.low)
    assert math.isnan(one.high)


def test_equal_sums_of_decimals_tie() -> None:
    # In floating point 0.1 + 0.2 exceeds 0.3; as a tie, all three ranks are 2.
    first, second = [run("j", [0.1, 0.2, 0.3, 0.0])], [run("j", [0.0, 0.0, 0.0, 0.3])]
    (one,) = differences(first, second, sources={"0": "bridge", "1": "bridge"})
    assert (one.sources, one.p) == (3, 1.0)
