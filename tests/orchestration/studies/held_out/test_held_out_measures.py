"""Reports beside targets, by examples worked out by hand."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from fakes.judges import ASPECT, mark, segment

from spanjury.judges.core import ErrorSpan, Outcome, Report, Scale
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.estimates import Settings
from spanjury.orchestration.studies.held_out import (
    FIGURES,
    Case,
    ScoreArrays,
    SeenInTraining,
    cautions,
    collect_scores,
    groups_of,
    measure_name,
    measures_of,
    split_name,
)

TEXT = "The bridge opened in 1935."  # 26 characters
FEW = Settings(draws=200)


def target(*spans: ErrorSpan, score: float, input_id: str, damages: tuple[str, ...] = ()) -> Case:
    return Case(
        segment=segment(output=TEXT),
        aspect=ASPECT,
        target=Report(score=score, spans=spans),
        input_id=input_id,
        damages=damages,
    )


def failed(outcome: Outcome = Outcome.UNPARSEABLE) -> Report:
    return Report(outcome=outcome, reason="not a report")


CASES = (
    target(mark(TEXT, "opened in", severity=2), score=3, input_id="a", damages=("typo",)),
    target(score=5, input_id="a"),
    target(mark(TEXT, "1935", severity=4), score=2, input_id="b", damages=("typo", "date")),
    target(score=5, input_id="b"),
    target(mark(TEXT, "bridge", severity=5), score=1, input_id="c", damages=("date",)),
)
SAID = (
    Report(score=3, spans=(mark(TEXT, "in 1935", severity=2),)),  # 2 of its 7 characters are due
    Report(score=5),
    Report(score=3, spans=(mark(TEXT, "1935", severity=3),)),
    Report(score=4, spans=(mark(TEXT, "The", severity=1),)),
    failed(),
)


def measured(
    score_arrays: ScoreArrays, groups: Mapping[str, np.ndarray] | None = None
) -> dict[str, Measure]:
    everything = {"": np.ones(score_arrays.asked, dtype=np.bool_)}
    measures = measures_of(score_arrays, groups or everything, settings=FEW)
    return {one.name: one for one in measures}


def test_every_figure_is_as_reckoned_by_hand() -> None:
    measures = measured(collect_scores(CASES, SAID))
    assert list(measures) == list(FIGURES)
    values = {name: one.value for name, one in measures.items()}
    # Found 7 + 4 + 3 characters, due 9 + 4, in common 2 + 4; the fifth has no report.
    assert values["spans.precision"] == pytest.approx(6 / 14)
    assert values["spans.recall"] == pytest.approx(6 / 13)
    assert values["spans.f1"] == pytest.approx(12 / 27)
    # 2 is minor as 2 is, and 3 major as 4 is: no mark is of another grade.
    assert values["graded.f1"] == pytest.approx(12 / 27)
    assert values["reports.parsed"] == pytest.approx(4 / 5)
    assert values["recognised.error_free"] == pytest.approx(1 / 2)
    assert values["recognised.faulty"] == pytest.approx(1)
    # Two pairs meet: 2 with 2, and 3 with 4.
    assert values["severity.alike"] == pytest.approx(1 / 2)
    assert values["severity.apart"] == pytest.approx(1 / 2)
    # Due 3, 5, 2, 5 and said 3, 5, 3, 4: 25 points a step of the scale.
    assert values["score.error"] == pytest.approx((0 + 0 + 25 + 25) / 4)
    # Ranks 2, 3.5, 1, 3.5 and 1.5, 4, 1.5, 3: less 2.5, products sum to 4, squares to 4.5 each.
    assert values["score.spearman"] == pytest.approx(4 / 4.5)
    counts = {name: one.count for name, one in measures.items()}
    assert counts["reports.parsed"] == 5
    assert counts["spans.f1"] == counts["score.error"] == 4
    assert counts["recognised.error_free"] == counts["recognised.faulty"] == 2
    assert counts["severity.alike"] == 2


def test_another_grade_counts_half() -> None:
    graver = Report(score=3, spans=(mark(TEXT, "opened in"),))
    measures = measured(collect_scores(CASES[:1], [graver]))
    assert measures["spans.f1"].value == 1
    assert measures["graded.f1"].value == 0.5  # severity 3 is major, 2 is minor


def test_an_interval_is_of_inputs_drawn_with_all_their_texts() -> None:
    measures = measured(collect_scores(CASES, SAID))
    parsed = measures["reports.parsed"]
    assert parsed.low is not None
    assert parsed.high is not None
    # Inputs a and b have two reports of two, and c none of one: shares of draws of three inputs.
    assert parsed.low in {0, 2 / 4, 4 / 5}
    assert parsed.high == 1
    again = measured(collect_scores(CASES, SAID))
    assert again == measures


def test_one_input_alone_has_no_interval() -> None:
    measures = measured(collect_scores(CASES[:2], SAID[:2]))
    assert measures["spans.f1"].value is not None
    assert {bound for one in measures.values() for bound in (one.low, one.high)} == {None}


def test_failures_are_counted_and_are_no_numbers() -> None:
    ends = (Outcome.UNPARSEABLE, Outcome.TRUNCATED, Outcome.TRUNCATED)
    score_arrays = collect_scores(CASES[:3], [failed(end) for end in ends])
    measures = measured(score_arrays)
    assert measures.pop("reports.parsed").value == 0
    assert {one.value for one in measures.values()} == {None}
    assert {one.count for one in measures.values()} == {0}
    assert dict(score_arrays.ended()) == {Outcome.UNPARSEABLE: 1, Outcome.TRUNCATED: 2}
    (first, _) = cautions(score_arrays)
    assert first.startswith("3 of 3 examples have no report (1 unparseable, 2 truncated)")


def test_fewer_than_three_target_scores_have_no_correlation_and_say_so() -> None:
    cases = [target(score=score, input_id=str(score)) for score in (5, 3, 5, 3)]
    said = [Report(score=score) for score in (5, 3, 4, 2)]
    spearman = measured(collect_scores(cases, said))["score.spearman"]
    assert (spearman.value, spearman.low, spearman.high) == (None, None, None)
    assert spearman.says.endswith("none: fewer than 3 different target scores")


def test_a_judge_that_always_says_the_same_has_no_correlation() -> None:
    cases = [target(score=score, input_id=str(score)) for score in (5, 3, 1)]
    spearman = measured(collect_scores(cases, [Report(score=4)] * 3))["score.spearman"]
    assert spearman.value is None
    assert spearman.says.endswith("none: constant scores")


def test_scores_of_other_scales_are_compared_in_points() -> None:
    yes_no = replace(ASPECT, name="value", kind="content", scale=Scale(labels=("no", "yes")))
    case = target(score=1, input_id="a")
    other = replace(case, aspect=yes_no, target=Report(score=2), input_id="b")
    score_arrays = collect_scores([case, other], [Report(score=3), Report(score=1)])
    assert score_arrays.target_score.tolist() == [0, 100]
    assert measured(score_arrays)["score.error"].value == pytest.approx((50 + 100) / 2)


def test_a_quotation_that_is_not_in_the_text_is_an_error_found_and_no_character() -> None:
    lost = ErrorSpan(text="1932", explanation="not there", severity=3)
    measures = measured(collect_scores(CASES[1:2], [Report(score=4, spans=(lost,))]))
    assert measures["recognised.error_free"].value == 0
    assert measures["spans.precision"].value is None


def test_cases_are_grouped_by_what_was_seen_in_training() -> None:
    task, name = ASPECT.task.name, ASPECT.name
    aspects, typo = frozenset({(task, name)}), frozenset({"typo"})
    seen = SeenInTraining(tasks=frozenset({task}), aspects=aspects, damages=typo)
    groups = groups_of(CASES, seen)
    assert list(groups) == ["", "seen-tasks", "seen-aspects", "seen-damages", "unseen-damages"]
    assert groups["seen-damages"].tolist() == [True, False, False, False, False]
    assert groups["unseen-damages"].tolist() == [False, False, True, False, True]
    story, none = frozenset({("story", name)}), frozenset[str]()
    other = SeenInTraining(tasks=none, aspects=story, damages=none)
    groups = groups_of(CASES, other)
    assert groups["unseen-tasks"].all()
    assert groups["unseen-aspects"].all()
    assert list(groups_of(CASES, None)) == [""]


def test_a_group_is_measured_by_itself() -> None:
    seen = SeenInTraining(tasks=frozenset(), aspects=frozenset(), damages=frozenset({"typo"}))
    groups = groups_of(CASES, seen)
    measures = measured(collect_scores(CASES, SAID), groups)
    alone = measured(collect_scores(CASES[:1], SAID[:1]))
    for figure in FIGURES:
        one = measures[measure_name(figure, "seen-damages")]
        assert (one.value, one.count) == (alone[figure].value, alone[figure].count)
    assert measures["reports.parsed.unseen-damages"].value == 0.5
    assert split_name("reports.parsed.unseen-damages") == ("reports.parsed", "unseen-damages")


def test_a_case_without_a_target_score_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="has no score"):
        Case(segment=segment(), aspect=ASPECT, target=failed(), input_id="a")
