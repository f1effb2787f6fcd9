"""Findings of scores before and after: worked by hand, and what always holds."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import Outcome, RescoringMethod
from spanjury.orchestration.report import Picture
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.faithfulness.findings import (
    Finding,
    Findings,
    averages,
    cautions,
    findings_json,
    findings_of,
    measures_of,
)
from spanjury.orchestration.studies.faithfulness.outcomes import (
    CONTROL,
    PATTERNS,
    REPEAT,
    SMALLEST_MOVE,
    Change,
    Direction,
    ListOutcome,
    collect_scores,
    patterns,
    severity_moved,
)
from spanjury.orchestration.studies.faithfulness.tables import (
    after_critical,
    by_deleted,
    by_severity,
    by_start,
    faithfulness_report,
)
from spanjury.perturbations.explanation.perturbation import Unchanged


def change(
    text: str,
    before: float | None,
    after: float | None,
    *,
    condition: str = "severity+1",
    errors: int | None = 1,
    list_outcome: ListOutcome = ListOutcome.RESCORED,
) -> Change:
    name, sign, size = condition.partition("+") if "+" in condition else condition.partition("-")
    is_control = condition in (CONTROL, REPEAT)
    direction: Direction = "falls" if sign == "+" else "rises"
    lost = list_outcome is ListOutcome.RESCORED and after is None
    return Change(
        judge="j",
        dataset="d",
        aspect="a",
        text=text,
        condition=condition,
        family="" if is_control else name,
        by=None if is_control else int(f"{sign}{size}"),
        direction=None if is_control else direction,
        before=before,
        after=after,
        list_outcome=list_outcome,
        outcome=Outcome.UNPARSEABLE if lost else Outcome.SCORED,
        reason="a word" if lost else "",
        errors=errors,
    )


def test_texts_of_one_source_are_one_observation() -> None:
    """All eight scores fall as they should; of two sources that shows little."""
    changes = [
        change(str(n), 3, after, condition=condition)
        for n in range(8)
        for condition, after in ((CONTROL, 3), ("severity+1", 2 - n % 3 / 2))
    ]
    shared = [replace(each, source=f"source {int(each.text) // 4}") for each in changes]
    alone, paired = (finding(*each) for each in (changes, shared))
    assert alone.net is not None
    assert paired.net is not None
    assert (alone.net.p_changed, alone.net.p_average) == pytest.approx((2**-8, 2**-8))
    assert (paired.net.p_changed, paired.net.p_average) == pytest.approx((2**-2, 2**-2))
    assert paired.net.used == alone.net.used == 8
    assert paired.net.average.value == alone.net.average.value
    one = finding(*(replace(each, source="source") for each in changes)).net
    assert one is not None
    assert math.isnan(one.average.low)


def page_of(findings: Findings, *, data: str = "d", pictures: Sequence[Picture] = ()) -> str:
    return report_markdown(faithfulness_report(findings, data=data, pictures=pictures))


def finding(*changes: Change) -> Finding:
    return {one.condition: one for one in findings_of(changes, draws=50).findings}["severity+1"]


def plain_finding(findings: Findings) -> dict[str, dict[str, float]]:
    """Return the only finding as a program reads it."""
    written = json.dumps(findings_json(findings))
    result: dict[str, list[dict[str, dict[str, float]]]] = json.loads(written)
    return result["findings"][0]


SIX = (
    change("fell", 4, 2),
    change("rose", 3, 4),
    change("floor", 1, 1),
    change("lost", 3, None),
    change("bare", 5, None, errors=0, list_outcome=ListOutcome.ERROR_FREE),
    change("clipped", 2, None, list_outcome=ListOutcome.CLIPPED),
    change("mute", None, None, errors=None, list_outcome=ListOutcome.UNSCORED),
    change("gone", None, None, errors=None, list_outcome=ListOutcome.ABSENT),
)


def test_every_share_says_over_which_reports() -> None:
    result = finding(*SIX)
    assert (result.texts, result.unscored, result.absent) == (8, 1, 1)
    assert (result.error_free, result.clipped) == (1, 1)
    assert (result.overall.reports, result.overall.lost) == (6, 1)
    assert result.overall.changed == pytest.approx(2 / 5)
    assert result.overall.changed_as_printed == pytest.approx(3 / 6)
    assert result.with_errors.reports == 5
    assert result.with_room.reports == 3
    assert result.with_room.changed == 1
    assert result.toward(result.with_room) == 0.5
    assert result.with_room_against.reports == 4
    assert result.against(result.with_room_against) == pytest.approx(1 / 3)
    assert result.overall.average.value == pytest.approx((-2 + 1) / 5)


@pytest.mark.parametrize(("condition", "stuck"), [("severity+1", (1, 3)), ("severity-1", (5, 4))])
def test_a_score_at_the_end_of_its_scale_that_moves_the_wrong_way_counts(
    condition: str, stuck: tuple[int, int]
) -> None:
    wrong = [change(f"wrong {n}", *stuck, condition=condition) for n in range(3)]
    still = [change(f"still {n}", 3, 3, condition=condition) for n in range(2)]
    best = change("the other end", 6 - stuck[0], 6 - stuck[0], condition=condition)
    findings = findings_of([*wrong, *still, best], draws=50)
    (result,) = findings.findings
    assert (result.with_room.reports, result.toward(result.with_room)) == (3, 0)
    against = result.with_room_against
    assert (against.reports, result.against(against)) == (5, 3 / 5)
    measures = {one.name: one for one in measures_of(findings)}
    followed, opposed = measures["faithfulness.toward"], measures["faithfulness.against"]
    assert (followed.value, followed.low, followed.count) == (0, 0, 3)
    assert (opposed.value, opposed.count) == (3 / 5, 5)
    assert 0 < (opposed.low or 0) < 3 / 5 < (opposed.high or 0) < 1
    assert averages(findings.findings)[0].against == 3 / 5
    (row,) = (one for one in page_of(findings).splitlines() if "(5)" in one)
    assert "0.600 (5)" in row
    plain = plain_finding(findings)
    assert plain["with_room_against"]["against"] == 3 / 5
    assert "against" not in plain["with_room"]


def test_a_report_without_a_row_is_absent() -> None:
    result = finding(*SIX, change("new", 3, 3, condition=CONTROL))
    assert (result.texts, result.absent) == (9, 2)


def test_below_the_best_score_an_unknown_number_of_errors_is_taken_as_some() -> None:
    result = finding(change("good", 5, 5, errors=None), change("bad", 4, 3, errors=None))
    assert (result.overall.reports, result.with_errors.reports) == (2, 1)


def four(after: Sequence[float | None], *, condition: str = "severity+1") -> list[Change]:
    """Return changes of four texts with the score 4."""
    return [
        change(name, 4, score, condition=condition)
        for name, score in zip("abcd", after, strict=True)
    ]


def test_the_null_control_is_subtracted_report_by_report() -> None:
    rows = four((3, 3, 3, 4))
    null = four((4, 4, 3, 5), condition=CONTROL)
    net = finding(*rows, *null).net
    assert net is not None
    assert (net.used, net.control) == (4, 0.5)
    assert net.changed.value == pytest.approx(3 / 4 - 2 / 4)
    assert net.toward.value == pytest.approx(3 / 4 - 1 / 4)
    assert net.against.value == pytest.approx(0 - 1 / 4)
    assert net.average.value == pytest.approx(3 / 4 - 0)
    # Two reports changed under the condition only, one under the control only: (3 + 1) / 8.
    assert net.p_changed == pytest.approx(0.5)


def test_the_mean_of_two_controls_is_subtracted_and_the_tests_use_the_first() -> None:
    rows = four((3, 3, 3, 4))
    null = four((4, 4, 3, 5), condition=CONTROL)
    again = four((3, 4, 3, None), condition=REPEAT)
    once, twice = finding(*rows, *null).net, finding(*rows, *null, *again).net
    assert once is not None
    assert twice is not None
    # Of the fourth report the repeat has no score, so that the first control counts alone.
    assert (twice.used, twice.control) == (4, (0.5 + 0 + 1 + 1) / 4)
    assert twice.changed.value == pytest.approx(3 / 4 - 2.5 / 4)
    assert twice.toward.value == pytest.approx(3 / 4 - 1.5 / 4)
    assert twice.against.value == pytest.approx(0 - 1 / 4)
    assert twice.average.value == pytest.approx(3 / 4 - (0.5 + 0 + 1 - 1) / 4)
    assert (twice.p_changed, twice.p_average) == (once.p_changed, once.p_average)
    assert finding(*rows, *again).net is None  # the tests need the first


def test_why_lists_cannot_be_changed_is_counted_in_all_its_reasons() -> None:
    result = [
        replace(change(why.name, 3, None, list_outcome=ListOutcome.CLIPPED), unchanged=why)
        for why in Unchanged
        if why is not Unchanged.NO_ERRORS
    ]
    bare = [
        change(name, 5, None, errors=0, list_outcome=ListOutcome.ERROR_FREE)
        for name in ("old", "new")
    ]
    result += [bare[0], replace(bare[1], unchanged=Unchanged.NO_ERRORS)]
    one = finding(
        *result, change("silent", 3, None, list_outcome=ListOutcome.CLIPPED), change("fell", 4, 3)
    )
    assert one.unchanged == {
        "too few errors": 1,
        "no severities": 1,
        "no room": 1,
        "no text": 1,
        "no errors": 2,
        "not recorded": 1,
    }
    assert (one.error_free, one.clipped) == (2, 5)
    page = page_of(findings_of(result, draws=50))
    assert "no severities (1)" in page


def test_a_list_that_was_changed_has_no_reason_why_it_was_not() -> None:
    with pytest.raises(ValueError, match="rescored, but its list has no room"):
        replace(change("a", 4, 3), unchanged=Unchanged.NO_ROOM)


def test_a_missing_control_is_reported_and_nothing_is_net_of_it() -> None:
    assert finding(change("a", 4, 3)).net is None
    assert any("no null control" in result for result in cautions(findings_of([change("a", 4, 3)])))


def test_one_step_and_two_are_compared_in_both_definitions() -> None:
    ones = {"still": 3, "reverted": 2, "both": 2, "second": 3, "wrong": 4}
    twos = {"still": 3, "reverted": 3, "both": 1, "second": 2, "wrong": 4}
    rows = [change(name, 3, after) for name, after in ones.items()]
    rows += [change(name, 3, after, condition="severity+2") for name, after in twos.items()]
    (result,) = findings_of(rows, draws=50).consistencies
    assert (result.family, result.direction, result.reports) == ("severity", "falls", 5)
    assert (result.reverted, result.broad) == (1, 2)
    assert result.share_broad == pytest.approx(2 / 5)
    (stack,) = by_start(collect_scores(rows)[0])
    assert stack.parts == PATTERNS
    assert stack.shares[2] == pytest.approx([0.2, 0.2, 0.2, 0.4])


@given(st.floats(-4, 4), st.floats(-4, 4))
def test_whatever_reverts_is_inconsistent_in_the_broad_sense_too(one: float, two: float) -> None:
    (result,) = patterns(np.array([one]), np.array([two]))
    if abs(one) >= SMALLEST_MOVE and two == 0:
        assert PATTERNS[int(result)] == "inconsistent"


scores = st.one_of(st.none(), st.integers(1, 5))


@given(st.lists(st.tuples(st.integers(1, 5), scores, scores), min_size=2, max_size=20))
def test_shares_are_shares_and_the_bases_are_nested(
    pairs: list[tuple[int, int | None, int | None]],
) -> None:
    rows = [
        row
        for number, (before, after, null) in enumerate(pairs)
        for row in (
            change(str(number), before, after),
            change(str(number), before, null, condition=CONTROL),
        )
    ]
    result = finding(*rows)
    assert result.overall.reports >= result.with_errors.reports >= result.with_room.reports
    for base in (result.overall, result.with_errors, result.with_room, result.with_room_against):
        assert base.fell + base.rose + base.lost <= base.reports
        if base.scored:
            assert 0 <= base.changed <= base.changed_as_printed <= 1
            assert result.toward(base) + result.against(base) == pytest.approx(base.changed)
    if result.net:
        assert -1 <= result.net.changed.low <= result.net.changed.high <= 1
        assert 0 < result.net.p_changed <= 1


@given(st.lists(st.one_of(st.none(), st.integers(1, 5))), st.sampled_from([-2, -1, 1, 2]))
def test_severities_move_no_further_than_they_should(severities: list[int | None], by: int) -> None:
    known = sum(severity is not None for severity in severities)
    assert 0 <= severity_moved(severities, by=by) * by <= by * by * known


def test_the_figures_of_the_paper_are_made_of_the_rows() -> None:
    removal = replace(
        change("t", 3, 3, errors=3), condition="cut", family="removal", direction="rises", by=None
    )
    rows = [
        replace(removal, text=str(number), after=after, errors_after=1)
        for number, after in enumerate((3, 4, 5, 3))
    ]
    (curve,) = by_deleted(collect_scores(rows)[0])
    assert (curve.name, curve.x, curve.mean) == ("3 errors", (2,), (0.5,))
    critical = replace(
        change("t", 5, 2, errors=0), condition="critical-error", family="critical", by=None
    )
    (stack,) = after_critical(collect_scores([critical])[0])
    assert stack.shares[4].tolist() == [0, 1, 0, 0, 0]
    moved = [change(str(number), 3, 2) for number in range(3)]
    assert by_severity(collect_scores(moved)[0]) == ()  # the record does not say how far


def test_a_page_and_json_say_the_same_of_the_same() -> None:
    rows = [*SIX, *(change(one.text, 3, 2, condition=CONTROL) for one in SIX)]
    result = findings_of(rows, draws=50)
    pictures = [Picture(file=Path("steps.png"), alt="one step and two")]
    page = page_of(result, data="data|1.jsonl", pictures=pictures)
    assert "![one step and two](steps.png)" in page
    assert "100%" in page  # the control is not quiet, and it is said
    assert "nan" not in page
    plain = findings_json(result)
    assert plain["exam"] == "faithfulness"
    assert plain["outcomes"] == {"j": {"scored": 11, "unparseable": 1}}
    assert findings_json(findings_of(rows, draws=50)) == plain


def test_a_computed_score_that_no_reworded_explanation_moves_is_pointed_out() -> None:
    reworded, graver = change("a", 3, 3, condition="explanation+1"), change("a", 3, 2)
    computed = [replace(row, method=RescoringMethod.COMPUTED) for row in (reworded, graver)]
    assert any("rewording only" in said for said in cautions(findings_of(computed)))
    moved = [replace(computed[0], after=2), computed[1]]
    continued = [replace(row, method=RescoringMethod.CONTINUED) for row in (reworded, graver)]
    for rows in (moved, continued):
        assert not any("rewording only" in said for said in cautions(findings_of(rows)))


def test_an_aspect_without_scores_is_not_said_to_lack_numbers_of_errors() -> None:
    silent = change("a", None, None, list_outcome=ListOutcome.UNSCORED, errors=None)
    assert not any("how many errors" in said for said in cautions(findings_of([silent])))


def test_restated_lists_are_warned_of() -> None:
    row = replace(change("t", 3, 3, condition=CONTROL), method=RescoringMethod.RESTATED)
    assert any("sent in a new turn" in result for result in cautions(findings_of([row])))


@pytest.mark.parametrize(
    ("before", "after", "list_outcome"),
    [
        (0, 1, ListOutcome.RESCORED),
        (3, math.nan, ListOutcome.RESCORED),
        (3, 3, ListOutcome.CLIPPED),
        (3, None, ListOutcome.UNSCORED),
    ],
)
def test_a_change_that_contradicts_itself_is_refused(
    before: float, after: float | None, list_outcome: ListOutcome
) -> None:
    with pytest.raises(ValueError, match="score"):
        change("t", before, after, list_outcome=list_outcome)


def test_a_move_of_less_than_a_tenth_of_a_point_does_not_count() -> None:
    """Two scores fall by 0.05 and by 0.1; a third has only 0.05 points of room."""
    rows = [change("small", 3, 2.95), change("enough", 3, 2.9), change("floor", 1.05, 1.0)]
    result = finding(*rows, *(change(one.text, one.before, 3, condition=CONTROL) for one in rows))
    assert result.overall.changed == pytest.approx(1 / 3)
    assert (result.with_room.reports, result.toward(result.with_room)) == (2, 0.5)
    assert result.with_room_against.reports == 3
    assert result.overall.average.value == pytest.approx((-0.05 - 0.1 - 0.05) / 3)
    assert result.net is not None
    assert result.net.toward.value == pytest.approx(1 / 3)
    tiny, large = np.array([0.05, 0.05, 0.2]), np.array([0.0, 0.3, 0.3])
    named = [PATTERNS[int(one)] for one in patterns(tiny, large)]
    assert named == ["unmoved", "two steps only", "both"]


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=20))
def test_of_integer_labels_every_move_counts(pairs: list[tuple[int, int]]) -> None:
    result = finding(*(change(str(n), *pair) for n, pair in enumerate(pairs)))
    assert result.overall.fell == sum(after < before for before, after in pairs)
    assert result.overall.rose == sum(after > before for before, after in pairs)
    assert result.with_room.reports == sum(before > 1 for before, _ in pairs)


def answer_of(*rows: Change) -> str:
    return str(faithfulness_report(findings_of(rows, draws=200), data="d").answer)


def test_the_answer_tells_missing_scores_from_missing_room() -> None:
    rows = [change(str(n), None, None, list_outcome=ListOutcome.UNSCORED) for n in range(4)]
    assert "No report had a score" in answer_of(*rows)
    at_the_floor = [change(str(n), 1, 1) for n in range(4)]
    assert "No score had room" in answer_of(*at_the_floor)


def test_a_judge_that_moves_at_random_is_not_said_to_follow_its_list() -> None:
    """Half of the scores fall, and half of them fall under the control, too: net, none follows."""
    rows = [change(str(n), 3, 2 if n % 4 in {0, 1} else 3) for n in range(40)]
    null = [change(str(n), 3, 2 if n % 4 in {1, 2} else 3, condition=CONTROL) for n in range(40)]
    answer = answer_of(*rows, *null)
    assert "not shown to follow" in answer
    assert "+0% [" in answer
    assert "(50.0% move although" in answer


def test_the_answer_is_net_of_a_control_that_moves() -> None:
    rows = [change(str(n), 3, 2) for n in range(40)]
    null = [change(str(n), 3, 2 if n % 4 == 0 else 3, condition=CONTROL) for n in range(40)]
    assert "+75% [" in answer_of(*rows, *null)
    assert "net of the null control (25.0% move" in answer_of(*rows, *null)
    quiet = [replace(row, after=row.before) for row in null]
    assert "100% [91%, 100%] of the scores with room to move follow it" in answer_of(*rows, *quiet)
    assert "and 0% [0%, 9%] move against it" in answer_of(*rows, *quiet)
    assert "Without a null control" in answer_of(*rows)
    others = [replace(each, judge="k", after=each.before) for each in rows]
    assert "The share that follows is 100% for j and 0% for k." in answer_of(*rows, *others)


def test_an_aspect_without_scores_is_not_counted_among_those_of_a_mean() -> None:
    silent = change("a", None, None, list_outcome=ListOutcome.UNSCORED, errors=None)
    rows = [change("a", 4, 3), replace(silent, aspect="b")]
    (average,) = averages(findings_of(rows, draws=50).findings)
    assert average.aspects == 1
