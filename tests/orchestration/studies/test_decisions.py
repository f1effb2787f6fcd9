"""Decisions of an exam: what a judge catches without the clean twin, and what it only feels."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import ArrayLike
from scipy.stats import mannwhitneyu

from spanjury.judges.core import Outcome, Scale, Segment
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.tables import Table
from spanjury.orchestration.studies.discernment.conclusions import conclusion, decision_rows
from spanjury.orchestration.studies.discernment.detection import (
    Detection,
    WrittenTwins,
    written_twins,
)
from spanjury.orchestration.studies.discernment.findings import (
    METHODS,
    Findings,
    Settings,
    evaluate_scores,
)
from spanjury.orchestration.studies.discernment.score_arrays import ScoreArrays, is_harmless
from spanjury.orchestration.studies.discernment.summary import (
    cautions,
    decisions_json,
    findings_json,
    measures_of,
    ranges_of,
)
from spanjury.orchestration.studies.discernment.tables import discernment_report
from spanjury.orchestration.studies.judging import Examinee, Judgement
from spanjury.perturbations.pairs import Condition, PerturbedPair, perturbed_pairs
from spanjury.perturbations.perturbation import Perturbation, text_perturbation
from spanjury.perturbations.text.mismatch import written_twin, wrong_ending
from spanjury.stats import PairedTest, paired
from spanjury.stats.significance.paired import PairedStatistic

TEXT = "the town will not close the bridge."
JUDGE = Examinee(signature="judge v1", seats={"judge": "judge v1"})
HIT, MISS = ((9, 17),), ((0, 3),)
"""Spans on the words that `negated` changes, and on others."""
NAN = math.nan


@text_perturbation(family="meaning", level="word", harms={"consistency"})
def negated(text: str, rng: Generator) -> str:
    """Take the denial out."""
    del rng
    return text.replace("will not", "will")


@text_perturbation(family="invariance", level="word", spares={"*"})
def reworded(text: str, rng: Generator) -> str:
    """Say the same in other words."""
    del rng
    return text.replace("the town", "this town")


@text_perturbation(family="bias", level="sentence", spares={"*"})
def boasted(text: str, rng: Generator) -> str:
    """Claim to be right."""
    del rng
    return f"{text} all experts agree."


@text_perturbation(family="discourse", level="sentence", harms={"coherence"}, spares={"*"})
def shuffled(text: str, rng: Generator) -> str:
    """Harm an aspect that is not judged here."""
    del rng
    return f"{text} {text}"


RULES: Mapping[str, Perturbation] = {
    "negated": negated,
    "seldom negated": negated,
    "reworded": reworded,
    "boasted": boasted,
    "shuffled": shuffled,
}


def examined(
    clean: Sequence[float],
    changed: Mapping[str, Sequence[float]],
    *,
    spans: tuple[tuple[int, int], ...] = (),
    repeats: int = 1,
    test: PairedStatistic | None = None,
    all_damaged: bool = False,
) -> Findings:
    """Evaluate made-up scores; the judge marks `spans` in every text that was changed.

    A text without a score was not damaged, unless they are `all_damaged`.
    """
    texts = [
        Segment(segment_id=str(n), task="summarization", output=TEXT) for n in range(len(clean))
    ]
    conditions = [Condition(name=name, perturbation=RULES[name], level="word") for name in changed]
    pairs = list(perturbed_pairs(texts, conditions, seed=1))
    judgements = {
        (text.segment_id, "consistency"): Judgement(score=3.0, outcome=Outcome.SCORED, spans=marked)
        for pair in pairs
        if isinstance(pair, PerturbedPair)
        for text, marked in ((pair.clean, ()), (pair.damaged, spans))
    }
    scores = np.array([clean], dtype=float) * repeats
    damaged = np.array([[row] for row in changed.values()], dtype=float) * repeats
    return evaluate_scores(
        ScoreArrays(
            segments=tuple(text.segment_id for text in texts),
            sources=tuple(text.segment_id for text in texts),
            aspects=("consistency",),
            conditions=tuple(changed),
            clean=scores,
            control=scores.copy(),
            damaged=damaged,
            applied=np.full(damaged[:, 0].shape, all_damaged) | ~np.isnan(damaged[:, 0]),
            repeats=repeats,
        ),
        conditions,
        pairs,
        judgements=judgements,
        scales={"consistency": Scale()},
        settings=Settings(draws=300),
        method=None if test is None else replace(METHODS[Settings().mode], test=test),
    )


def detected(findings: Findings, condition: str) -> Detection:
    (found,) = (one for one in findings.findings if one.condition == condition)
    return found.detections[0]


def verdicts(findings: Findings) -> dict[str, str]:
    return {one.condition: conclusion(one).value for one in findings.findings}


def spread(low: float, high: float, *, texts: int = 40) -> list[float]:
    return [float(score) for score in np.linspace(low, high, texts)]


def lower(scores: Sequence[float], by: ArrayLike) -> list[float]:
    return [float(score) for score in np.array(scores) - by]


CLEAN = [3.0] * 2 + [4.0] * 18
DAMAGED = [2.0] * 5 + [3.5] * 3 + [4.0] * 12


def without_p(differences: ArrayLike) -> PairedTest:
    """Test nothing, as a plugin's statistic may where its own is undefined."""
    return paired(differences).answer(NAN, statistic=NAN)


def test_a_condition_without_a_p_value_is_undecided() -> None:
    changed = {"negated": lower(CLEAN, 1.0)}
    assert verdicts(examined(CLEAN, changed)) == {"negated": "discerned"}
    assert verdicts(examined(CLEAN, changed, test=without_p)) == {"negated": "undecided"}


@pytest.mark.parametrize("repeats", [1, 3])
def test_caught_shares_are_those_below_cut_offs_worked_out_by_hand(repeats: int) -> None:
    findings = examined(CLEAN, {"negated": DAMAGED, "reworded": CLEAN}, repeats=repeats)
    # Of 40 clean and harmless scores 4 are 3.0: at 10 % the cut-off is 4.0, at 5 % it is 3.0.
    (alarms,) = findings.alarms
    assert (alarms.clean, alarms.harmless) == (20, 20)
    assert (alarms.cutoff_5, alarms.cutoff_10) == (3.0, 4.0)
    assert (alarms.flagged_5, alarms.flagged_10) == (0.0, 0.1)
    found = detected(findings, "negated")
    assert found.caught_5.value == 5 / 20
    assert found.caught_10.value == 8 / 20
    area = 1 - mannwhitneyu(DAMAGED, CLEAN + CLEAN).statistic / (20 * 40)
    assert found.auroc.value == pytest.approx(area)
    assert found.mean_drop.value == pytest.approx(np.mean(CLEAN) - np.mean(DAMAGED))
    for one in (found.caught_5, found.caught_10, found.auroc, found.mean_drop):
        assert one.low <= one.value <= one.high
    assert found.caught_10.low < 0.25  # by Wilson's interval 0.22 to 0.61
    assert found.caught_10.high > 0.55
    assert found.still_top == 0


def test_a_judge_that_takes_a_little_off_everything_discerns_nothing() -> None:
    clean = spread(3.0, 4.9)
    findings = examined(clean, {"negated": lower(clean, 0.09), "reworded": clean})
    assert findings.findings[0].discernment > 5
    assert verdicts(findings) == {"negated": "too small to act on", "reworded": "steady"}
    assert detected(findings, "negated").caught_10.value < 0.2


def test_half_a_step_is_enough_and_less_is_not() -> None:
    clean = [2.0] * 6 + [4.0] * 34  # so that few texts can be caught
    half = examined(clean, {"negated": lower(clean, 0.5), "reworded": clean})
    less = examined(clean, {"negated": lower(clean, 0.49), "reworded": clean})
    assert verdicts(half)["negated"] == "discerned"
    assert verdicts(less)["negated"] == "too small to act on"


def test_a_small_drop_is_enough_where_damaged_texts_stand_out() -> None:
    clean = [4.9] * 40
    findings = examined(clean, {"negated": lower(clean, 0.2), "reworded": clean})
    found = detected(findings, "negated")
    assert (found.caught_5.value, found.auroc.value) == (1, 1)
    assert found.caught_10.low > 0.9
    assert verdicts(findings)["negated"] == "discerned"


@pytest.mark.parametrize(
    ("spans", "verdict"), [(HIT, "discerned"), (MISS, "place missed"), ((), "discerned")]
)
def test_a_judge_that_marks_spans_has_to_touch_the_damage(
    spans: tuple[tuple[int, int], ...], verdict: str
) -> None:
    clean = [4.0] * 40
    findings = examined(clean, {"negated": lower(clean, 2), "reworded": clean}, spans=spans)
    assert verdicts(findings)["negated"] == verdict
    first = decisions_json(findings)[0]
    assert first["claims_spans"] is bool(spans)
    page = report_markdown(discernment_report(findings, examinee=JUDGE, data="", recipe=""))
    assert bool(re.search(r"\d% \(\d+%\)", page)) is bool(spans)


def test_a_place_that_is_missed_makes_a_small_drop_no_larger() -> None:
    clean = spread(3.0, 4.9)
    findings = examined(clean, {"negated": lower(clean, 0.09)}, spans=MISS)
    assert verdicts(findings) == {"negated": "too small to act on"}


@pytest.mark.parametrize(("harm", "harmless"), [(0.09, 0.15), (0.6, 0.7)])
def test_harmless_changes_that_cost_more_disturb_and_certify_nothing(
    harm: float, harmless: float
) -> None:
    clean = [4.9] * 36 + [4.0] * 4
    findings = examined(clean, {"negated": lower(clean, harm), "reworded": lower(clean, harmless)})
    assert verdicts(findings) == {"negated": "too small to act on", "reworded": "disturbed"}
    assert [row.finding.condition for row in decision_rows(findings)] == ["reworded", "negated"]
    measures = {one.name: one.value for one in measures_of(findings)}
    assert measures["discernment.harmless_disturbed"] == measures["invariance.moved"] == 1
    assert measures["discernment.false_alarms"] == 1


def test_damage_is_rewarded_only_if_the_mean_rises_with_its_whole_interval() -> None:
    clean = [4.0] * 40
    slightly = [4.01] * 30 + [3.7] * 10  # most rise, and the mean falls
    assert verdicts(examined(clean, {"negated": slightly})) == {"negated": "not discerned"}
    assert verdicts(examined(clean, {"negated": [4.5] * 40})) == {"negated": "rewarded"}
    of_four = examined([4.0] * 4, {"negated": [4.5] * 4})
    assert verdicts(of_four) == {"negated": "undecided"}  # they could not show a fall, either


def test_the_terminal_has_the_column_that_the_headline_on_twins_averages() -> None:
    clean = spread(3.0, 4.9)
    findings = examined(clean, {"negated": lower(clean, 0.09), "reworded": lower(clean, 1)})
    sections = discernment_report(findings, examinee=JUDGE, data="d", recipe="r").sections
    tables = (block for block in sections if isinstance(block, Table))
    (shown,) = (table for table in tables if table.only == "terminal")
    headings = [column.heading for column in shown.columns]
    of_clean = detected(findings, "negated").of_clean_10.value
    assert shown.rows[1].cells[headings.index("clean")].value == of_clean
    assert of_clean != detected(findings, "negated").caught_10.value


def test_scores_that_are_all_alike_catch_nothing() -> None:
    alike = [4.0] * 40
    findings = examined(alike, {"negated": alike, "reworded": alike})
    found = detected(findings, "negated")
    assert (found.caught_5.value, found.caught_10.value, found.auroc.value) == (0, 0, 0.5)
    assert 0 < found.caught_10.high < 0.12
    assert verdicts(findings) == {"negated": "not discerned", "reworded": "steady"}


def test_eight_texts_state_no_rate_of_false_alarms_and_leave_harmless_changes_undecided() -> None:
    clean = [4.0, 4.5] * 4
    findings = examined(clean, {"negated": lower(clean, 1), "reworded": clean})
    found = detected(findings, "negated")
    assert math.isnan(found.caught_5.value)
    assert math.isnan(found.caught_10.value)
    assert verdicts(findings) == {"negated": "discerned", "reworded": "undecided"}
    text = " ".join(cautions(findings))
    assert "Too few clean texts have a score for a false-alarm rate of 5%" in text
    assert "which needs 10: consistency 8." in text
    measures = {one.name: one.value for one in measures_of(findings)}
    assert measures["discernment.caught.average"] is None
    assert measures["discernment.false_alarms"] is None


def test_fifteen_texts_state_ten_percent_and_not_five() -> None:
    clean = [4.0] * 15
    found = detected(examined(clean, {"negated": lower(clean, 1)}), "negated")
    assert math.isnan(found.caught_5.value)
    assert found.caught_10.value == 1


def test_three_texts_decide_nothing() -> None:
    findings = examined([4.0] * 3, {"negated": [2.0] * 3, "reworded": [2.0] * 3})
    assert set(verdicts(findings).values()) == {"undecided"}


def test_one_damaged_source_has_no_interval() -> None:
    clean = spread(3, 5, texts=20)
    findings = examined(clean, {"negated": lower(clean, 1), "seldom negated": [1.0] + [NAN] * 19})
    one, many = (detected(findings, name) for name in ("seldom negated", "negated"))
    for figure in ("caught_10", "of_clean_10", "auroc", "mean_drop"):
        estimate, of_many = getattr(one, figure), getattr(many, figure)
        assert not math.isnan(estimate.value)
        assert math.isnan(estimate.low)
        assert math.isnan(estimate.high)
        assert not math.isnan(of_many.low)
    (contrast,) = findings.findings[1].contrasts
    assert math.isnan(contrast.interval[0])


def test_without_harmless_changes_the_page_says_that_clean_texts_alone_were_counted() -> None:
    assert "clean texts alone" in " ".join(cautions(examined(CLEAN, {"negated": DAMAGED})))
    both = examined(CLEAN, {"negated": DAMAGED, "reworded": CLEAN})
    assert "clean ones alone" not in " ".join(cautions(both))


def test_attempts_to_sway_and_harm_to_other_aspects_are_no_false_alarms() -> None:
    assert is_harmless(reworded, aspects=["consistency"])
    assert not any(is_harmless(one, aspects=["consistency"]) for one in (boasted, shuffled))
    clean = [4.0] * 20
    flagged = {"negated": [3.0] * 20, "boasted": [1.0] * 20, "shuffled": [1.0] * 20}
    findings = examined(clean, flagged)
    assert findings.alarms[0].harmless == 0
    assert detected(findings, "negated").caught_10.value == 1
    assert verdicts(findings)["boasted"] == "disturbed"


def test_harmful_and_harmless_conditions_stand_in_one_table_on_every_page() -> None:
    clean = spread(3.0, 4.9)
    findings = examined(clean, {"negated": lower(clean, 0.09), "reworded": lower(clean, 1)})
    report = discernment_report(findings, examinee=JUDGE, data="d", recipe="r")
    page = report_markdown(report)
    (table,) = (block for block in page.split("\n\n") if "| caught at 10 % |" in block)
    first_cells = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert first_cells == ["reworded", "**negated**"]
    assert "40 clean and 40 harmlessly changed texts" in page
    assert "caught at 10 %" in report_html(report)
    values = findings_json(findings, examinee=JUDGE)
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    first, second = decisions_json(findings)
    assert values["decisions"] == [first, second]
    assert (first["condition"], first["harmless"]) == ("reworded", True)
    assert (second["condition"], second["verdict"]) == ("negated", "too small to act on")


def test_the_card_has_what_is_caught_on_average_and_of_each_condition() -> None:
    findings = examined(CLEAN, {"negated": DAMAGED, "reworded": CLEAN})
    measures = {one.name: one for one in measures_of(findings)}
    for name in ("discernment.caught.average", "discernment.caught.negated"):
        assert measures[name].value == 0.4
        assert (measures[name].low or 1) < 0.4 < (measures[name].high or 0)
    assert measures["discernment.false_alarms"].value == 0.1
    assert measures["discernment.harmless_disturbed"].value == 0
    assert measures.keys() <= {*ranges_of(["negated", "reworded"])}
    assert {"discernment.average", "invariance.steady", "retest.moved"} <= measures.keys()


def test_a_draw_without_a_text_of_a_condition_is_of_the_others() -> None:
    """Every damaged text is caught, so the mean is 1 in every draw; Wilson's interval is wider."""
    findings = examined([5.0] * 20, {"negated": [1.0] * 20, "seldom negated": [1.0] + [NAN] * 19})
    caught = findings.caught
    assert (caught.value, caught.high, caught.texts, caught.unscored) == (1.0, 1.0, 21, 0)
    assert 0.7 < caught.low < detected(findings, "negated").caught_10.low


def test_a_damaged_text_without_a_score_is_not_caught() -> None:
    clean = spread(3, 5, texts=120)
    changed = {"negated": [1.0] * 25 + [NAN] * 95, "reworded": clean[:100] + [NAN] * 20}
    findings = examined(clean, changed, all_damaged=True)
    assert findings.caught.value == pytest.approx(25 / 120)
    assert (findings.caught.texts, findings.caught.unscored) == (120, 95)
    harmless = detected(findings, "reworded")
    assert (harmless.share_of, harmless.flags) == (100, 12)
    measures = {one.name: one for one in measures_of(findings)}
    for name in ("discernment.caught.average", "discernment.caught.negated"):
        assert measures[name].value == pytest.approx(25 / 120)
        assert measures[name].count == 120
    page = report_markdown(discernment_report(findings, examinee=JUDGE, data="d", recipe="r"))
    assert "(95 of 120 scores of damaged texts are missing and count as not caught)" in page
    assert "| 25 of 120 | 21%" in page
    unseen = examined(clean, {"negated": [NAN] * 120}, all_damaged=True)
    assert (unseen.caught.value, unseen.caught.low) == (0, 0)
    (row,) = decision_rows(unseen)
    assert (row.aspect, row.conclusion.value) == ("consistency", "no scores")


def twins_of(
    clean: list[float], damaged: list[float], *, rule: object = written_twin
) -> WrittenTwins | None:
    """Compare scores on consistency of texts of which two share a source."""
    values = np.array([[clean, [5.0] * len(clean)]])
    wrong = np.array([[damaged, [1.0] * len(clean)]])
    scores = ScoreArrays(
        segments=tuple(str(n) for n in range(len(clean))),
        sources=tuple(f"source {n // 2}" for n in range(len(clean))),
        aspects=("consistency", "fluency"),
        conditions=("negation",),
        clean=values[0],
        control=values[0],
        damaged=wrong,
        applied=np.ones((1, len(clean)), dtype=bool),
        repeats=1,
    )
    condition = Condition(name="negation", perturbation=rule, level="word")  # type: ignore[arg-type]
    return written_twins(scores, [condition], seed=1, draws=200)


def test_twins_are_counted_on_what_they_harm_alone() -> None:
    # At most one of ten right texts may be flagged: below 5 lie one of these and six wrong ones.
    clean = [5.0] * 9 + [3.0]
    damaged = [4.0] * 6 + [5.0] * 3 + [4.0]
    found = twins_of(clean, damaged)
    assert found is not None
    assert (found.pairs, found.sources, found.kinds) == (10, 5, ("negation",))
    assert found.aspects == ("consistency",)
    assert found.false_alarms == 0.1
    assert found.caught.value == pytest.approx(0.7)
    assert found.in_order.value == pytest.approx((6 + 1.5 + 0) / 10)
    assert found.in_order.low < found.in_order.value < found.in_order.high


def test_a_constant_judge_catches_none_and_orders_by_chance() -> None:
    found = twins_of([4.0] * 20, [4.0] * 20)
    assert found is not None
    assert (found.caught.value, found.false_alarms, found.in_order.value) == (0, 0, 0.5)
    # Zero caught of ten sources is not certainly zero.
    assert found.caught.low == 0
    assert found.caught.high > 0.1
    assert found.in_order.low < 0.5 < found.in_order.high


def test_fewer_than_ten_pairs_state_no_rate_of_false_alarms() -> None:
    few, enough = (twins_of([5.0] * n, [4.0] * n) for n in (9, 10))
    assert few is not None
    assert math.isnan(few.caught.value)
    assert math.isnan(few.false_alarms)
    assert few.in_order.value == 1
    assert enough is not None
    assert (enough.caught.value, enough.false_alarms) == (1, 0)
    assert enough.caught.low < 1


def test_a_wrong_twin_without_a_score_is_not_caught() -> None:
    found = twins_of([5.0] * 19 + [NAN], [4.0] * 10 + [NAN] * 9 + [4.0])
    assert found is not None
    assert found.caught.value == pytest.approx(11 / 20)
    assert found.in_order.value == 1
    assert (found.pairs, found.wrong, found.unscored) == (10, 20, 9)


def test_pairs_without_both_scores_and_other_damage_are_no_twins() -> None:
    found = twins_of([5.0, NAN, 5.0, 5.0], [4.0, 4.0, NAN, 4.0])
    assert found is not None
    assert (found.pairs, found.wrong, found.unscored) == (2, 4, 1)
    assert twins_of([NAN], [4.0]) is None
    assert twins_of([5.0], [4.0], rule=wrong_ending) is None
