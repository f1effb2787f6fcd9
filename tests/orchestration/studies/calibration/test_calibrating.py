"""A calibration fitted to texts whose truth is known."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from fakes.judges import ASPECT, mark
from numpy.random import default_rng
from numpy.typing import NDArray

from spanjury.orchestration.engine.thresholds import Thresholds
from spanjury.orchestration.report import Report
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.calibration.findings import (
    AGREEMENT,
    BY_SPANS,
    DISTANCE,
    MAP,
    THRESHOLDS,
    TO_MEAN,
    AspectFindings,
    alarms,
    aspect_findings,
    calibration_error,
    cautions,
    distance,
    fold_numbers,
    rank_correlation,
)
from spanjury.orchestration.studies.calibration.fitting import (
    CalibrationTexts,
    Terms,
    TextOnAspect,
    fit,
    fit_map,
    fit_severities,
    fit_thresholds,
    threshold,
)
from spanjury.orchestration.studies.calibration.tables import (
    CalibrationFindings,
    calibration_report,
    enough,
)
from spanjury.stats.conformal import conformal_threshold

TEXT = "The bridge opened in 1935."
QUICK = Terms(draws=100)


def text(number: int, score: float, human: float | None = None, **more: object) -> TextOnAspect:
    return TextOnAspect(
        score=score,
        people={} if human is None else {"anna": human},
        **{  # type: ignore[arg-type]  # fields by name
            "source": f"source {number}",
            "is_clean": None if human is None else human == 5,
            "output": TEXT,
            "scored": frozenset({"a"}),
            **more,
        },
    )


def texts(some: Sequence[TextOnAspect]) -> CalibrationTexts:
    return CalibrationTexts(aspect=ASPECT, texts=tuple(some), made_on="made-up texts")


def scored(scores: NDArray[np.float64], human: NDArray[np.float64]) -> CalibrationTexts:
    pairs = zip(scores.tolist(), human.tolist(), strict=True)
    return texts([text(n, score, by_people) for n, (score, by_people) in enumerate(pairs)])


def thresholds_of(marked: CalibrationTexts) -> Thresholds:
    made = fit_thresholds(marked, Terms(rate=0.1))
    assert made is not None
    return made


def drawn(number: int, *, seed: int) -> CalibrationTexts:
    """Draw texts of which half have an error, with scores that are far too high but in order."""
    rng = default_rng(seed)
    clean = rng.random(number) < 0.5
    scores = 4 + 1 / (1 + np.exp(-rng.normal(np.where(clean, 1, -1), 1)))
    return scored(scores, np.where(clean, 5.0, 2.0))


@pytest.mark.heavy
def test_a_threshold_keeps_its_promise_over_a_thousand_sets_of_marks() -> None:
    # An alarm on a new text without error has a probability of 4 / 41 with 40 of them; the mean
    # over the splits is within four standard errors of it, and so is the promise kept.
    rng = default_rng(11)
    marked, new, splits = 40, 50, 1000
    raised = np.empty(splits)
    for split in range(splits):
        scores = (5 - 4 * rng.beta(1, 3, marked + new)).tolist()
        made = texts([text(n, score, 5.0) for n, score in enumerate(scores)])
        inside = np.arange(marked + new) < marked
        thresholds = thresholds_of(made.part(inside))
        unsure, _ = alarms(made.part(~inside).suspicions(), thresholds)
        raised[split] = unsure.mean()
    error = raised.std() / math.sqrt(splits)
    assert raised.mean() == pytest.approx(4 / 41, abs=4 * error)
    assert raised.mean() - 4 * error < 0.1


def test_a_confidence_keeps_the_rate_in_most_sets_of_marks() -> None:
    # With uniform scores the rate of alarms of a threshold is known: it is 1 less the threshold.
    rng = default_rng(12)
    over = 0
    for _ in range(1000):
        scores = rng.random(60)
        value = threshold(scores, np.ones(60), rate=0.1, confidence=0.9)
        over += 1 - value > 0.1
    assert over <= 100 + 4 * math.sqrt(1000 * 0.1 * 0.9)


def test_many_texts_of_few_sources_are_too_few_for_a_confidence() -> None:
    rng = default_rng(4)

    def of_sources(count: int) -> CalibrationTexts:
        return texts(
            [
                text(n, 5 - rng.random(), 5.0, source=f"source {n % count}")
                for n in range(25 * count)
            ]
        )

    terms = Terms(rate=0.1, confidence=0.9, draws=100)
    few = aspect_findings(of_sources(12), terms)
    assert (few.clean, few.clean_sources, few.alarms[0].needed) == (300, 12, 27)
    assert few.alarms[0].threshold is None
    (first, *_) = enough(few)
    assert first.endswith("27 sources with error-free texts: 12 are marked, 15 are missing")
    many = of_sources(60)
    assert fit_thresholds(many, terms) is not None
    found = aspect_findings(of_sources(12), replace(terms, confidence=None))
    assert found.alarms[0].threshold is not None
    (said,) = [line for line in cautions(many, found, terms) if "new sources" in line]
    assert said.startswith("the 300 error-free texts come from only 12 sources")


def test_a_weight_counts_a_text_as_many_times() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    # By hand: a new text may weigh 2 of 8. With 0.8 among the alarms (2 + 1 + 2) / 8 would raise
    # one, which is too many; 0.9 alone makes (1 + 2) / 8.
    value = threshold(scores, np.array([1.0, 2, 1, 1, 1]), rate=0.4, confidence=None)
    assert value == np.nextafter(0.8, 1)
    assert threshold(scores, np.array([1.0, 2, 1, 1, 1]), rate=0.2, confidence=None) == math.inf


def test_nearly_equal_weights_make_nearly_the_usual_threshold() -> None:
    scores = default_rng(3).random(50)
    weights = np.ones(50)
    weights[0] += 1e-12
    assert threshold(scores, weights, rate=0.1, confidence=None) == (
        conformal_threshold(scores, rate=0.1).value
    )


def test_a_grave_error_counts_as_an_alarm() -> None:
    # Of 20 texts without error one may raise an alarm, beside the new one; two have a grave error.
    by = frozenset({"reader"})
    plain = [text(n, 4, 5.0, probability=n / 20, stating=by) for n in range(18)]
    grave = [text(n, 4, 5.0, probability=0.0, is_grave=True, stating=by) for n in (18, 19)]
    with_one = texts([*plain, *grave[:1]])
    made = thresholds_of(with_one)
    assert alarms(with_one.suspicions(), made)[0].sum() == 1
    assert fit_thresholds(texts([*plain, *grave]), Terms(rate=0.1)) is None


def test_a_grave_error_is_no_alarm_where_scores_are_compared() -> None:
    grave = texts([text(n, 4, 5.0, is_grave=True) for n in range(20)])
    made = thresholds_of(grave)
    assert alarms(grave.suspicions(), made)[0].sum() == 0


def test_the_alarms_of_a_threshold_are_those_that_are_promised() -> None:
    made = thresholds_of(texts([text(n, 2 + n / 10, 5.0) for n in range(20)]))
    assert (made.unsure_alarms, made.faulty_alarms) == (0.1, 0.05)
    few = thresholds_of(texts([text(n, 2 + n / 10, 5.0) for n in range(10)]))
    assert (few.faulty, few.faulty_alarms) == (math.inf, 0.0)


def test_texts_on_which_a_seat_failed_set_no_threshold() -> None:
    usual = [text(n, 4.0, 5.0) for n in range(12)]
    failed = [text(n, 1.0, 5.0, scored=frozenset()) for n in range(12, 16)]
    made = thresholds_of(texts([*usual, *failed]))
    assert made.texts == 12
    assert made.judges == {"a"}


def test_a_probability_is_the_signal_where_one_is_stated() -> None:
    by = frozenset({"reader"})
    stated = [text(n, 4.0, 5.0, probability=n / 20, stating=by) for n in range(20)]
    made = thresholds_of(texts(stated))
    assert (made.signal, made.judges) == ("probability", by)
    assert made.unsure == np.nextafter(0.9, 1)  # one of twenty, and a new one, are 2 of 21
    assert made.faulty == np.nextafter(0.95, 1)


def test_the_map_stands_at_the_centres_of_pooled_scores() -> None:
    made = fit_map(texts([text(0, 3, 2), text(1, 4, 1), text(2, 5, 5)]))
    assert made is not None
    assert (made.knots, made.values) == ((3.5, 5.0), (1.5, 5.0))


def test_there_is_no_map_to_one_score_and_no_severity_of_few_errors() -> None:
    alike = texts([text(n, n, 3) for n in range(5)])
    assert fit_map(alike) is None
    assert fit_severities(alike) is None


def test_severities_weigh_what_people_take_off() -> None:
    # People take off nothing for an error of severity 1, and 3 points for one of severity 3.
    light, heavy = (mark(TEXT, "1935", severity=one) for one in (1, 3))
    some = [text(n, 3, 5, spans=(light,)) for n in range(5)]
    some += [text(n, 3, 2, spans=(heavy,)) for n in range(5, 10)]
    weights = fit_severities(texts([*some, text(10, 5, 5)]))
    assert weights is not None
    assert (weights[0], weights[2], weights[4]) == pytest.approx((0, 3, 3))


def test_severities_are_weighed_only_where_the_score_follows_from_spans() -> None:
    light, heavy = (mark(TEXT, "1935", severity=one) for one in (1, 3))
    some = [text(n, 5, 2 if n % 2 else 5, spans=(heavy if n % 2 else light,)) for n in range(30)]
    a_mean = texts(some)
    assert fit(a_mean, QUICK).severity_weights is None
    assert BY_SPANS not in {one.name for one in aspect_findings(a_mean, QUICK).changes}
    from_spans = replace(a_mean, from_spans=True)
    assert fit(from_spans, QUICK).severity_weights is not None
    assert BY_SPANS in {one.name for one in aspect_findings(from_spans, QUICK).changes}


def test_a_source_is_in_one_fold_whatever_the_order() -> None:
    sources = ("c", "a", "b", "a", "c", "d")
    folds = fold_numbers(sources, folds=3, seed=1)
    by_name = dict(zip(sources, folds.tolist(), strict=True))
    assert [by_name[one] for one in sources] == folds.tolist()
    again = fold_numbers(sources[::-1], folds=3, seed=1)
    assert again.tolist() == folds.tolist()[::-1]
    assert set(folds.tolist()) == {0, 1, 2}


def test_distances_and_calibration_errors_are_in_points() -> None:
    scores, human = np.array([4.0, 4, 4, 4, 4]), np.array([1.0, 4, 4, 4, 7])
    assert distance(scores, human) == pytest.approx(math.sqrt(18 / 5))
    assert calibration_error(scores, human) == 0.0
    assert calibration_error(scores + 1, human) == pytest.approx(1.0)


def test_the_order_of_equal_scores_does_not_change_the_calibration_error() -> None:
    human = np.tile([1.0, 5.0], 20)
    same = np.full(40, 4.0)
    assert calibration_error(same, human) == pytest.approx(1.0)  # 4, and 3 on average
    assert calibration_error(same, np.sort(human)) == pytest.approx(1.0)


@pytest.mark.parametrize(("sources", "shows"), [(5, False), (6, True)])
def test_few_sources_show_no_gain(sources: int, shows: bool) -> None:
    rng = np.random.default_rng(1)
    scores = np.clip(np.round(rng.normal(3.5, 0.8, size=60) * 2) / 2, 2, 5)
    findings = aspect_findings(
        texts([text(n, scores[n], scores[n] - 1, source=str(n % sources)) for n in range(60)]),
        QUICK,
    )
    change = {each.name: each for each in findings.changes}[DISTANCE]
    assert change.difference.high < 0
    assert change.is_gain is shows


def test_scores_that_are_too_high_are_mapped_and_thresholds_are_set() -> None:
    found = aspect_findings(drawn(200, seed=5), QUICK)
    assert found.kept == (MAP, THRESHOLDS)
    change = {one.name: one for one in found.changes}
    assert change[DISTANCE].is_gain
    assert change[DISTANCE].after.value < change[DISTANCE].before.value
    assert not change[AGREEMENT].is_gain  # a map that rises changes no order
    unsure, faulty = found.alarms
    assert unsure.attained.low < 0.1
    assert unsure.caught.value > 0.1
    assert faulty.caught.value == 0.0  # without an error no score makes a text faulty
    assert "above 0" not in page_of(found)
    assert "above 0" in page_of(replace(found, alarms=(replace(unsure, threshold=5e-324),)))


def test_a_map_without_a_gain_is_not_kept() -> None:
    rng = default_rng(1)
    right = [text(n, score, score) for n, score in enumerate(rng.integers(1, 6, 60).tolist())]
    found = aspect_findings(texts(right), QUICK)
    assert MAP not in found.kept
    assert found.calibration.score_map is None


def test_thirty_texts_say_what_they_suffice_for() -> None:
    made = drawn(30, seed=6)
    found = aspect_findings(made, QUICK)
    said = list(enough(found))
    assert said[0].startswith(
        'a threshold for "unsure" at 10.0% false alarms needs 9 error-free texts: '
    )
    assert said[0].endswith(", which is enough")
    assert said[1].endswith(f"{19 - found.clean} are missing")
    assert found.alarms[1].threshold is None
    assert math.isnan(found.alarms[1].caught.value)
    assert any("would halve that interval" in one for one in said)
    assert any("more marked texts would narrow this to" in one for one in said)


def test_texts_that_no_threshold_was_tried_on_are_counted() -> None:
    # Nine texts without error suffice for a tenth, and eight do not: of ten folds of two, those
    # without a fold that holds a clean text have too few, and the others enough.
    made = texts([text(n, 5 - n / 20, 5 if n < 9 else 2) for n in range(20)])
    found = aspect_findings(made, QUICK)
    dealt = fold_numbers(made.sources, folds=10, seed=QUICK.seed)
    short = int(np.isin(dealt, dealt[:9]).sum())
    assert 9 <= found.alarms[0].untried == short < 20
    assert math.isnan(found.alarms[0].attained.value)
    said = " ".join(cautions(made, found, QUICK))
    assert f'{short} of 20 held-out texts are excluded from both rates of "unsure"' in said


def test_a_fold_without_a_threshold_for_faulty_catches_nothing_and_misses_nothing() -> None:
    # 19 texts without error suffice for a twentieth, but not without a fold, which holds some.
    made = texts([text(n, 5 - n / 30, 5 if n < 19 else 2) for n in range(30)])
    found = aspect_findings(made, QUICK)
    unsure, faulty = found.alarms
    assert faulty.threshold is not None
    assert (unsure.untried, faulty.untried) == (0, 30)
    assert math.isnan(faulty.caught.value)
    assert '30 of 30 held-out texts are excluded from both rates of "faulty"' in found.cautions[-1]


def test_a_share_of_nought_has_an_interval_also_if_texts_weigh_differently() -> None:
    made = texts(
        [text(n, 5, 5 if n % 2 else 2, inclusion=0.5 if n % 3 else 0.3) for n in range(40)]
    )
    caught = aspect_findings(made, QUICK).alarms[0].caught
    assert caught.low == caught.value == 0.0
    assert 0.1 < caught.high < 0.3


def test_nothing_is_held_out_of_one_source() -> None:
    alike = [TextOnAspect(source="one", score=n, people={"": n}) for n in range(1, 6)]
    found = aspect_findings(texts(alike), QUICK)
    assert found.changes == ()
    assert math.isnan(found.alarms[0].attained.value)
    assert found.kept == ()


def test_people_who_do_not_agree_are_named() -> None:
    some = [
        TextOnAspect(source=str(n), score=3, people={"anna": n, "ben": 6 - n}, is_clean=n == 5)
        for n in (1, 2, 3, 4, 5)
    ]
    made = texts(some)
    said = list(cautions(made, aspect_findings(made, QUICK), QUICK))
    assert any("anna and ben do not agree on the 5 texts" in one for one in said)


@pytest.mark.parametrize(
    ("human", "says"),
    [(5.0, "people find no error in any text"), (2.0, "an error in every text")],
)
def test_a_single_class_is_reported(human: float, says: str) -> None:
    made = texts([text(n, 3 + n / 10, human) for n in range(10)])
    said = " ".join(cautions(made, aspect_findings(made, QUICK), QUICK))
    assert says in said
    assert "the same score" in said


def test_unequal_sampling_probabilities_are_reported() -> None:
    made = texts([text(n, n % 5 + 1, n % 4 + 2, inclusion=0.5 if n else 0.1) for n in range(20)])
    terms = Terms(draws=100, confidence=0.9)
    said = " ".join(cautions(made, aspect_findings(made, terms), terms))
    assert "20 texts were drawn for people with different chances" in said
    assert "would rest on about 13 texts" in said  # 48**2 / 176: weights of 10 and 19 times 2
    assert "no confidence is promised" in said


def test_the_fitted_scores_are_those_the_panel_gives_after_the_map() -> None:
    made = fit(drawn(50, seed=2), QUICK)
    assert made.signal == "score"
    assert made.seen[-1] == pytest.approx(5.0)
    assert made.seen[0] == pytest.approx(2.0)


@pytest.mark.parametrize("terms", [{"rate": 0.0}, {"rate": 1.0}, {"confidence": 1.0}])
def test_a_promise_is_a_share(terms: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        Terms(**terms)  # type: ignore[arg-type]  # fields by name


def noisy(slope: float, *, seed: int) -> CalibrationTexts:
    """Draw texts with people's scores from 1 to 5, and a panel's that rise with them by `slope`."""
    rng, number = default_rng(seed), 120
    human = rng.integers(1, 6, number).astype(np.float64)
    scores = np.clip(2.5 + slope * (human - 3) + rng.normal(0, 0.7, number), 1, 5)
    return scored(scores, human)


def report_of(findings: AspectFindings) -> Report:
    return calibration_report(
        CalibrationFindings(
            results="run", marks="marks", terms=QUICK, calibration=None, aspects=(findings,)
        )
    )


def answer_of(findings: AspectFindings) -> str:
    return str(report_of(findings).answer)


def page_of(findings: AspectFindings) -> str:
    return report_markdown(report_of(findings))


@pytest.mark.parametrize(("slope", "seed"), [(0, 1), (0, 2), (0, 3), (0, 4), (-0.8, 1)])
def test_a_map_that_only_shrinks_scores_to_their_mean_is_not_kept(slope: float, seed: int) -> None:
    """Any shrinkage brings poor scores closer to people's, even if the panel knows nothing."""
    made = noisy(slope, seed=seed)
    found = aspect_findings(made, QUICK)
    assert DISTANCE in found.gains
    assert TO_MEAN not in found.gains
    assert MAP not in found.kept
    assert "are not shown to follow people's" in answer_of(found)
    assert any("no map is kept" in line for line in found.cautions)


def test_a_map_of_scores_that_follow_people_is_kept() -> None:
    found = aspect_findings(noisy(0.4, seed=1), QUICK)
    assert found.gains >= {DISTANCE, TO_MEAN}
    assert MAP in found.kept


@pytest.mark.parametrize("slope", [0, -0.8, 0.8])
def test_folds_change_no_rank_correlation(slope: float) -> None:
    """Means of the other folds run against a fold, so pooled maps would correlate on their own."""
    made = noisy(slope, seed=1)
    (change,) = [each for each in aspect_findings(made, QUICK).changes if each.name == AGREEMENT]
    assert change.before.value == rank_correlation(made.scores, made.human)
    assert math.isnan(change.after.value)
    assert not change.is_gain


def test_thresholds_that_catch_no_more_than_false_alarms_are_of_little_use() -> None:
    blind = aspect_findings(noisy(0, seed=1), QUICK)
    assert THRESHOLDS in blind.kept
    assert not blind.alarms[0].catches_more
    assert "so no difference is shown" in answer_of(blind)
    seeing = aspect_findings(drawn(200, seed=5), QUICK)
    assert seeing.alarms[0].catches_more
    answer = answer_of(seeing)
    unsure = seeing.alarms[0]
    for share in (unsure.caught, unsure.attained):
        assert f"{share.value:.0%} [{share.low:.0%}, {share.high:.0%}]" in answer
    assert "unsure or faulty" in answer
