"""A calibration, by itself and on a panel."""

import math
from dataclasses import replace

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, panel_of, segment

from spanjury.judges.core import Decision, Ground, PanelReport, Report, stamped
from spanjury.orchestration.engine.calibration import AspectCalibration, Calibration
from spanjury.orchestration.engine.made_for import aspect_key, panel_digest
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.score_map import ScoreMap
from spanjury.orchestration.engine.span_score import span_score
from spanjury.orchestration.engine.thresholds import Thresholds

EVEN = tuple(number / 20 for number in range(21))
MAP = ScoreMap(knots=(1.0, 3.0, 5.0), values=(1.0, 2.0, 4.0))
BY_SCORE = Thresholds(
    judges=frozenset({"a", "b"}),
    unsure=0.5,
    faulty=0.75,
    unsure_alarms=0.1,
    faulty_alarms=0.05,
    texts=40,
    data="made-up texts",
    signal="score",
    promised=0.1,
)
GRAVE = mark(segment().output, "1935", severity=5)
MILD = mark(segment().output, "1935", severity=2)


def fitted(**parts: object) -> AspectCalibration:
    usual = AspectCalibration(texts=40, sources=20, made_on="made-up texts", seen=EVEN)
    return replace(usual, **parts)  # type: ignore[arg-type]  # the fields are named by the tests


def calibration(about: AspectCalibration, *, aspect: str = "consistency") -> Calibration:
    return Calibration(panel="p", aspects={aspect_key("summarization", aspect): about})


def panel(*says: Report, made: Calibration | None = None, from_spans: bool = False) -> Panel:
    judges = [FixedJudge(says=one) for one in says]
    fields = {"span_score": span_score() if from_spans else None, "calibration": made}
    return panel_of(*judges, names="ab"[: len(judges)], **fields)


async def judged(*says: Report, made: Calibration | None, from_spans: bool = False) -> PanelReport:
    return await panel(*says, made=made, from_spans=from_spans).assess(segment(), ASPECT)


@pytest.mark.parametrize(
    ("score", "value"), [(0.0, 1.0), (1.0, 1.0), (2.0, 1.5), (3.0, 2.0), (4.5, 3.5), (6.0, 4.0)]
)
def test_a_map_is_straight_between_knots_and_flat_outside(score: float, value: float) -> None:
    assert MAP.at(score) == value


@pytest.mark.parametrize(
    ("knots", "values"),
    [
        ((), ()),
        ((1.0,), ()),
        ((1.0, 1.0), (1.0, 2.0)),
        ((1.0, 2.0), (2.0, 1.0)),
        ((math.nan,), (1,)),
    ],
)
def test_a_map_that_falls_is_refused(knots: tuple[float, ...], values: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="knot|fall"):
        ScoreMap(knots=knots, values=values)


@pytest.mark.parametrize(
    "parts",
    [
        {"sources": 0},
        {"sources": 41},
        {"seen": EVEN[:-1]},
        {"seen": EVEN[::-1]},
        {"severity_weights": (1.0, 2.0)},
        {"severity_weights": (1.0, 0.5, 2.0, 3.0, 4.0)},
    ],
)
def test_a_calibration_that_cannot_be_is_refused(parts: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"sources|quantiles|weights"):
        fitted(**parts)


async def test_a_score_is_mapped_to_peoples_scale() -> None:
    report = await judged(Report(score=2), Report(score=4), made=calibration(fitted(score_map=MAP)))
    assert report.score == 2.0  # the mean, 3, stands for 2


async def test_another_aspect_keeps_its_score() -> None:
    made = calibration(fitted(score_map=MAP), aspect="fluency")
    assert (await judged(Report(score=2), Report(score=4), made=made)).score == 3.0


@pytest.mark.parametrize(
    ("scores", "spans", "decision", "ground"),
    [
        ((4, 4), (), Decision.OK, Ground.SCORE),  # a quarter of the scale is lost
        ((3, 3), (), Decision.UNSURE, Ground.SCORE),  # half of it
        ((2, 2), (), Decision.UNSURE, Ground.SCORE),  # no error is marked
        ((2, 2), (MILD,), Decision.FAULTY, Ground.SCORE),
        ((4, 4), (GRAVE,), Decision.OK, Ground.SCORE),  # a promise that marks would break
        ((4, 4), (MILD,), Decision.OK, Ground.SCORE),
    ],
)
async def test_a_threshold_on_scores_decides(
    scores: tuple[int, int], spans: tuple[object, ...], decision: Decision, ground: Ground
) -> None:
    first, second = (Report(score=score, spans=spans) for score in scores)  # type: ignore[arg-type]  # spans of the table
    made = calibration(fitted(thresholds=BY_SCORE, score_map=ScoreMap(knots=(1.0,), values=(5.0,))))
    report = await judged(first, second, made=made)
    assert (report.decision, report.basis and report.basis.ground) == (decision, ground)
    assert report.score == 5.0  # the threshold is of what the judges said


async def test_a_seat_without_a_score_leaves_the_decision_to_the_usual_rules() -> None:
    made = calibration(fitted(thresholds=BY_SCORE))
    report = await judged(Report(score=3), made=made)
    assert report.basis is not None
    assert report.basis.false_alarms is None


async def test_the_alarms_of_a_decision_are_those_that_are_promised() -> None:
    report = await judged(
        Report(score=3), Report(score=3), made=calibration(fitted(thresholds=BY_SCORE))
    )
    assert report.basis is not None
    assert report.basis.false_alarms == 0.1
    assert report.basis.measured_on == (
        "texts like the 40 correct texts from made-up texts (at most, as promised)"
    )
    assert (
        report.basis.reason == "The score of the judges is 3.00, and a text is unsure up to 3.00."
    )


async def test_a_grave_error_that_the_promise_leaves_to_the_score_is_named() -> None:
    says = Report(score=4, spans=(GRAVE,))
    report = await judged(says, says, made=calibration(fitted(thresholds=BY_SCORE)))
    assert report.basis is not None
    assert report.basis.reason == (
        "The score of the judges is 4.00, above 3.00. The promised rate of false alarms leaves"
        " errors of severity 4 or 5 to the score."
    )


async def test_a_probability_is_compared_with_the_calibrated_threshold_before_all_others() -> None:
    usual = replace(
        BY_SCORE, judges=frozenset({"fixed"}), signal="probability", unsure=0.9, faulty=0.95
    )
    says = Report(score=4, error_probability=0.6)
    made = calibration(fitted(thresholds=replace(usual, unsure=0.5, faulty=math.inf)))
    bare = replace(panel(says), thresholds=(usual,))
    before = await bare.assess(segment(), ASPECT)
    after = await replace(bare, calibration=made).assess(segment(), ASPECT)
    assert (before.decision, after.decision) == (Decision.OK, Decision.UNSURE)


async def test_fitted_severities_make_the_score_of_spans() -> None:
    # one sentence, one error of severity 2: it costs 1 of 4, then 3 of 4, of the scale of 4 points
    says = Report(score=4, spans=(MILD,))
    light, heavy = (0.0, 1.0, 4.0, 4.0, 4.0), (0.0, 3.0, 4.0, 4.0, 4.0)
    scores = [
        (await judged(says, made=calibration(fitted(severity_weights=one)), from_spans=True)).score
        for one in (light, heavy)
    ]
    assert scores == pytest.approx([4.0, 2.0])


def test_a_panel_is_known_by_its_seats_and_not_by_release_or_decision() -> None:
    bare = panel(Report(score=3))
    made = replace(bare, calibration=calibration(fitted()), thresholds=(BY_SCORE,))
    assert made.signature != bare.signature
    assert panel_digest(made) == panel_digest(bare) == panel_digest(stamped(bare.signature))
    others = panel(Report(score=3), Report(score=4))
    assert panel_digest(others) != panel_digest(bare)
    assert panel_digest(replace(bare, aggregation_name="median")) != panel_digest(bare)


def test_the_signature_of_a_panel_holds_the_digest_of_its_calibration() -> None:
    one, other = calibration(fitted()), calibration(fitted(score_map=MAP))
    assert one.digest != other.digest
    assert f"calibration:{one.digest}" in panel(Report(score=3), made=one).signature
    assert (
        panel(Report(score=3), made=one).signature != panel(Report(score=3), made=other).signature
    )


def test_the_distance_is_that_of_kolmogorov_and_smirnov() -> None:
    about = fitted()
    assert about.distance(EVEN) == 0.0
    assert about.distance([2.0, 3.0]) == 1.0
    # by hand: 11 of 21 quantiles are 0.5 or less, of the texts half of them and no more
    assert about.distance([0.5, 2.0]) == pytest.approx(0.5)


def test_few_texts_are_not_far_however_different() -> None:
    about = fitted()
    shifted = [0.5 + one / 2 for one in EVEN]
    assert not about.is_far([0.5, 0.9])
    assert about.is_far(shifted * 4)
    assert not about.is_far(EVEN * 4)
    assert not about.is_far([])
