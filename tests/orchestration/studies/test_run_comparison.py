"""Two runs on the same texts."""

import math

import pytest

from spanjury.orchestration.studies.agreement.ratings import Scorer
from spanjury.orchestration.studies.comparison.runs import differences


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


def test_texts_with_one_score_are_counted_and_skipped() -> None:
    (one,) = differences([run("j", [1, 2, 3])], [run("j", [1, 2])], draws=100)
    assert (one.texts, one.only_first, one.only_second) == (2, 1, 0)


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
