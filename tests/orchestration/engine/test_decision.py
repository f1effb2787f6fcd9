"""From the seats' reports to a decision: thresholds, errors, and what never happens."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fakes.judges import ASPECT, FixedJudge, mark, panel_of, segment
from fakes.logs import capture_logs
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    VOUCHED,
    Decision,
    ErrorSpan,
    Evidence,
    Ground,
    Outcome,
    PanelReport,
    Report,
    Scale,
    SeatReport,
    Unverified,
    is_grave,
)
from spanjury.orchestration.engine.decision import (
    Decided,
    combined_probability,
    decide,
    decision_signature,
)
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.thresholds import MOST_CERTAIN, SHIPPED, Thresholds

TEXT = segment().output
GRAVE, MILD = (replace(mark(TEXT, "1935", severity=n), found_by=("reader",)) for n in (4, 3))
OMISSION = ErrorSpan(text="", explanation="No end.", severity=5, found_by=("reader",))
MEASURED = Thresholds(
    judges=frozenset({"reader"}),
    beside=frozenset({"form"}),
    unsure=0.4,
    faulty=0.8,
    unsure_alarms=0.15,
    faulty_alarms=0.05,
    texts=160,
    data="made-up summaries",
)


def seat(judge: str, probability: float | None = None, *, name: str = "") -> SeatReport:
    report = Report(score=3, error_probability=probability)
    return SeatReport(seat=name or judge, signature=f"{judge}|v:1", report=report, seconds=0.1)


def decided(
    *seats: SeatReport,
    spans: Sequence[ErrorSpan] = (),
    score: float = 4,
    thresholds: Sequence[Thresholds] = (MEASURED,),
) -> Decided:
    return decide(seats, spans, score=score, scale=Scale(), thresholds=thresholds)


@pytest.mark.parametrize(
    ("stated", "combined"),
    [
        ([], None),
        ([0.0], 0.0),
        ([0.8], 0.8),
        ([0.5, 0.9], 0.75),  # logits 0 and log 9; their mean is log 3, odds of 3 to 1
        ([0.1, 0.9], 0.5),
        ([0.2, 0.5, 0.8], 0.5),
        ([1.0, 1.0], MOST_CERTAIN),
        ([1.0, 0.001], 0.5),  # who is certain does not overrule who doubts it as much
    ],
)
def test_probabilities_combine_by_mean_logits(stated: list[float], combined: float | None) -> None:
    assert combined_probability(stated) == pytest.approx(combined)


@pytest.mark.parametrize(
    ("probability", "decision", "alarms"),
    [
        (0.39, Decision.OK, None),
        (0.4, Decision.UNSURE, 0.15),
        (0.79, Decision.UNSURE, 0.15),
        (0.8, Decision.FAULTY, 0.05),
    ],
)
def test_a_probability_decides_by_its_thresholds_and_states_their_false_alarms(
    probability: float, decision: Decision, alarms: float | None
) -> None:
    found = decided(seat("reader", probability), seat("form"), spans=[MILD])
    assert (found.decision, found.basis.false_alarms) == (decision, alarms)
    assert found.basis.ground is Ground.PROBABILITY
    assert found.probability == probability
    on = "160 correct texts from made-up summaries" if alarms else ""
    assert found.basis.measured_on == on


def test_a_text_between_the_thresholds_is_undecided_in_plain_words() -> None:
    found = decided(seat("reader", 0.52))
    assert found.basis.reason == (
        "The probability of an error is 0.52. From 0.40 to 0.80 the judges cannot tell."
    )


def test_ok_states_how_many_wrong_texts_are_called_so_and_both_rates_their_spread() -> None:
    known = replace(
        MEASURED,
        misses=0.08,
        wrong_texts=90,
        misses_by=(("news", 0.03), ("dialogue", 0.15)),
        alarms_by=(("news", 0.12), ("dialogue", 0.01)),
    )
    fine, wrong = (decided(seat("reader", share), thresholds=[known]) for share in (0.1, 0.9))
    assert (fine.basis.misses, fine.basis.spread) == (0.08, (0.03, 0.15))
    assert fine.basis.measured_on == "90 wrong texts from made-up summaries"
    assert (wrong.basis.false_alarms, wrong.basis.spread) == (0.05, (0.01, 0.12))
    assert fine.basis.false_alarms is wrong.basis.misses is None


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_error_rates_of_english_texts_are_not_stated_for_a_text_in_another_language(
    share: float,
) -> None:
    english = replace(MEASURED, misses=0.08, wrong_texts=90, are_english=True)
    texts = ("The bridge was opened in 1935.", "Die Brücke wurde 1935 eröffnet und ist neu.")
    known, unknown = (
        decide(
            (seat("reader", share),),
            (),
            score=4,
            scale=Scale(),
            thresholds=[english],
            output=output,
        )
        for output in texts
    )
    assert known.decision is unknown.decision
    assert known.basis.measured_on.endswith(" English texts from made-up summaries")
    assert (unknown.basis.share, unknown.basis.measured_on) == (None, "")


def test_the_probability_is_recalibrated_where_that_was_measured_for_these_judges() -> None:
    # Odds of 3 to 1, squared, times 2: 18 to 1.
    known = replace(MEASURED, slope=2.0, intercept=math.log(2.0))
    assert decided(seat("reader", 0.75), thresholds=[known]).probability == pytest.approx(18 / 19)
    assert decided(seat("other", 0.75), thresholds=[known]).probability == 0.75


def test_the_log_odds_of_judges_are_weighed_as_measured() -> None:
    judges = frozenset({"reader", "grounding"})
    known = replace(MEASURED, judges=judges, weights=(("reader", 3.0),))
    # Odds of 9 to 1 three times, and of 1 to 9 once: the root of 9, 3 to 1.
    found = decided(seat("reader", 0.9), seat("grounding", 0.1), thresholds=[known])
    assert found.probability == pytest.approx(0.75)


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999), st.floats(0.1, 5), st.floats(-3, 3))
def test_recalibration_keeps_the_order(
    one: float, other: float, slope: float, intercept: float
) -> None:
    known = replace(MEASURED, slope=slope, intercept=intercept)
    low, high = sorted((one, other))
    assert known.recalibrated(low) <= known.recalibrated(high)
    if high - low > 1e-6:
        assert known.recalibrated(low) < known.recalibrated(high)


@given(st.floats(VOUCHED, 1.0), st.sampled_from([(), SHIPPED, (MEASURED,)]), st.booleans())
def test_from_two_fifths_on_no_text_is_ok_without_a_promise(
    probability: float, thresholds: tuple[Thresholds, ...], both: bool
) -> None:
    seats = [seat("grounding", probability), *[seat("reader", probability)] * both]
    assert decided(*seats, thresholds=thresholds).decision is not Decision.OK


@pytest.mark.parametrize("likely", [0.1, VOUCHED])
@pytest.mark.parametrize("beside", [(), (seat("reader", 0.1),)])
def test_a_sentence_that_an_unmeasured_judge_leaves_unverified_keeps_a_text_from_being_ok(
    beside: Sequence[SeatReport], likely: float
) -> None:
    doubt = Unverified(start=0, end=4, text=TEXT[:4], probability=likely, reason="It cannot tell.")
    claims = replace(seat("claims"), report=Report(score=5, unverified=(doubt,)))
    found = decided(*beside, claims, score=5)
    assert found.decision is Decision.UNSURE
    assert f"the probability of an error in it is {likely:.2f}" in found.basis.reason


def test_a_faulty_text_without_a_marked_place_says_so() -> None:
    without, beside = (decided(seat("reader", 0.9), spans=spans) for spans in ([], [MILD]))
    assert without.decision is beside.decision is Decision.FAULTY
    said = "The probability of an error is 0.90, and a text is faulty from 0.80 on"
    assert without.basis.reason == f"{said}; no place could be marked."
    assert beside.basis.reason == f"{said}."


@pytest.mark.parametrize(
    ("spans", "score", "decision", "ground"),
    [
        ((GRAVE,), 5, Decision.FAULTY, Ground.SPANS),
        ((MILD,), 5, Decision.UNSURE, Ground.SPANS),
        ((OMISSION,), 5, Decision.UNSURE, Ground.SPANS),
        ((replace(MILD, severity=None),), 5, Decision.UNSURE, Ground.SPANS),
        ((), 3.01, Decision.OK, Ground.SPANS),
        ((), 3.0, Decision.UNSURE, Ground.SCORE),
    ],
)
def test_without_a_probability_errors_decide_and_no_rate_is_claimed(
    spans: tuple[ErrorSpan, ...], score: float, decision: Decision, ground: Ground
) -> None:
    found = decided(seat("annotator"), seat("grounding"), spans=spans, score=score)
    assert (found.decision, found.basis.ground) == (decision, ground)
    assert (found.basis.false_alarms, found.probability) == (None, None)


@pytest.mark.parametrize(
    ("own", "other", "decision", "alarms", "probability"),
    [
        (0.9, None, "faulty", 0.05, 0.9),
        (0.9, 0.9, "faulty", 0.05, 0.9),
        (0.9, 0.1, "unsure", 0.15, 0.5),  # the others doubt it
        (0.1, 0.1, "ok", None, 0.1),
        (0.1, 0.9, "unsure", None, 0.5),  # by no threshold that was measured
        (0.5, 0.1, "unsure", 0.15, 0.25),
    ],
)
def test_judges_without_thresholds_decide_beside_those_with_thresholds(
    own: float, other: float | None, decision: str, alarms: float | None, probability: float
) -> None:
    found = decided(seat("reader", own, name="mine"), seat("annotator", other))
    assert (found.decision.value, found.basis.false_alarms) == (decision, alarms)
    assert found.probability == pytest.approx(probability)
    strangers = replace(MEASURED, judges=frozenset({"reader", "other"}))
    alone = decided(seat("reader", own, name="mine"), thresholds=[strangers])
    assert alone.basis.false_alarms is None


def test_of_thresholds_those_for_the_most_judges_hold() -> None:
    both = replace(MEASURED, judges=frozenset({"reader", "grounding"}), unsure_alarms=0.3)
    seats = seat("reader", 0.5), seat("grounding", 0.5), seat("annotator", 0.5)
    assert decided(*seats, thresholds=(MEASURED, both)).basis.false_alarms == 0.3
    assert decided(*seats[:1], thresholds=(MEASURED, both)).basis.false_alarms == 0.15


@pytest.mark.parametrize(("probability", "decision"), [(0.39, "ok"), (0.4, "unsure")])
def test_a_bare_probability_makes_a_text_unsure_at_most(probability: float, decision: str) -> None:
    found = decided(seat("reader", probability), thresholds=())
    assert (found.decision.value, found.basis.false_alarms) == (decision, None)


def test_a_grave_error_of_the_measured_judges_raises_ok_to_unsure() -> None:
    found = decided(seat("reader", 0.1), spans=[GRAVE])
    assert (found.decision, found.basis.ground) == (Decision.UNSURE, Ground.SPANS)
    assert found.basis.false_alarms == 0.15


ON_SCORE = replace(
    MEASURED, judges=frozenset({"reader", "late"}), signal="score", unsure=0.35, faulty=0.6
)


@pytest.mark.parametrize(
    ("score", "spans", "decision", "alarms"),
    [  # on a scale from 1 to 5, 3.6 has lost 0.35 of it and 2.6 has lost 0.6
        (3.61, [], Decision.OK, None),
        (3.61, [GRAVE], Decision.OK, None),
        (3.6, [], Decision.UNSURE, 0.15),
        (3.6, [GRAVE], Decision.UNSURE, 0.15),
        (2.6, [MILD], Decision.FAULTY, 0.05),
        (2.6, [], Decision.UNSURE, 0.15),
    ],
)
@pytest.mark.parametrize("is_mapped", [False, True])
def test_thresholds_on_the_score_of_these_seats_decide_alone(
    score: float,
    spans: Sequence[ErrorSpan],
    decision: Decision,
    alarms: float | None,
    *,
    is_mapped: bool,
) -> None:
    made = decide(
        [seat("reader", 0.99)],
        spans,
        score=1 if is_mapped else score,
        bare_score=score if is_mapped else None,
        scale=Scale(),
        thresholds=[MEASURED, ON_SCORE],
        expected=["late"],
    )
    assert (made.decision, made.basis.false_alarms) == (decision, alarms)
    assert made.basis.ground is Ground.SCORE
    border = {
        None: "above 3.60",
        0.15: "and a text is unsure up to 3.60",
        0.05: "and a text is faulty up to 2.60",
    }[alarms]
    assert f"The score of the judges is {score:.2f}, {border}." in made.basis.reason
    leaves = decision is Decision.OK and GRAVE in spans
    assert ("leaves errors of severity 4 or 5 to the score" in made.basis.reason) is leaves


def test_thresholds_on_the_score_of_other_seats_do_not_count() -> None:
    made = decided(seat("reader", 0.99), score=1.1, spans=[MILD], thresholds=[ON_SCORE])
    assert made.decision is Decision.UNSURE
    assert made.basis.false_alarms is None


@pytest.mark.parametrize(("severity", "decision"), [(4, "faulty"), (2, "unsure")])
def test_errors_of_an_unmeasured_judge_decide_by_themselves(severity: int, decision: str) -> None:
    span = replace(mark(TEXT, "bridge", severity=severity), found_by=("annotator",))
    found = decided(seat("reader", 0.1), seat("annotator"), spans=[span, MILD])
    assert (found.decision.value, found.basis.false_alarms) == (decision, None)


def test_a_low_score_of_the_measured_judges_alone_counts_for_nothing_beside_thresholds() -> None:
    assert decided(seat("reader", 0.1), seat("form"), score=1).decision is Decision.OK
    others = decided(seat("reader", 0.1), seat("geval"), score=1)
    assert (others.decision, others.basis.ground) == (Decision.UNSURE, Ground.SCORE)


JUDGES = ("reader", "form", "annotator")
SPANS = st.builds(
    lambda severity, place, judges: replace(
        mark(TEXT, "1935", severity=severity) if place else OMISSION,
        severity=severity,
        found_by=tuple(judges),
    ),
    st.none() | st.integers(1, 5),
    st.booleans(),
    st.lists(st.sampled_from(JUDGES), min_size=1, unique=True),
)
SHARES = st.none() | st.floats(0, 1)


@given(
    st.tuples(SHARES, SHARES, SHARES), st.lists(SPANS, max_size=4), st.floats(1, 5), st.booleans()
)
def test_what_never_happens(
    stated: tuple[float | None, ...], spans: list[ErrorSpan], score: float, measured: bool
) -> None:
    seats = [seat(judge, share) for judge, share in zip(JUDGES, stated, strict=True)]
    found = decided(*seats, spans=spans, score=score, thresholds=(MEASURED,) * measured)
    if found.decision is Decision.OK:
        assert not any(map(is_grave, spans))
    if found.decision is Decision.FAULTY:
        over = found.probability is not None and measured and found.probability >= 0.8
        assert over or any(is_grave(span) and span.interval for span in spans)
    if found.basis.false_alarms is not None:
        assert measured
        assert stated[0] is not None
    PanelReport(  # which refuses what contradicts itself
        score=score,
        spans=tuple(spans),
        error_probability=found.probability,
        decision=found.decision,
        basis=found.basis,
    )


@given(st.lists(SPANS, max_size=3), st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_a_higher_probability_never_makes_a_milder_decision(
    spans: list[ErrorSpan], one: float, other: float, measured: bool
) -> None:
    order = list(Decision)
    low, high = (
        order.index(
            decided(
                *(seat("reader", share), seat("form"), seat("annotator")),
                spans=spans,
                thresholds=(MEASURED,) * measured,
            ).decision
        )
        for share in sorted((one, other))
    )
    assert low <= high


@pytest.mark.parametrize(
    "wrong",
    [
        {"judges": frozenset()},
        {"unsure": 0.9},
        {"unsure": 0.0},
        {"faulty": 1.1},
        {"faulty_alarms": 0.2},
        {"texts": 0},
        {"data": ""},
        {"unsure": 0.41},
        {"slope": 0.0},
        {"weights": (("reader", 0.0),)},
        {"intercept": math.inf},
        {"misses": 0.1},
        {"wrong_texts": 9},
        {"misses": 1.1, "wrong_texts": 9},
        {"alarms_by": (("news", 1.1),)},
    ],
)
def test_thresholds_that_contradict_themselves_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"got|need|counted|called ok|must be"):
        replace(MEASURED, **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_shipped_thresholds_name_each_set_of_judges_once() -> None:
    assert len({one.judges for one in SHIPPED}) == len(SHIPPED)


def test_thresholds_are_in_the_signature_of_a_panel() -> None:
    other = decision_signature([replace(MEASURED, faulty=0.9)])
    assert len({decision_signature([]), decision_signature([MEASURED]), other}) == 3


def panel(*reports: Report, measured: Thresholds = MEASURED) -> Panel:
    judges = [FixedJudge(says=report, name="reader|v:1") for report in reports]
    return panel_of(*judges, thresholds=(measured,))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=3), st.floats(0.2, 3), st.booleans())
async def test_the_score_falls_with_the_probability_with_spans_and_without(
    stated: list[float], slope: float, marked: bool
) -> None:
    spans = (mark(TEXT, "1935", severity=2),) * marked
    reports = [Report(score=3, spans=spans, error_probability=share) for share in stated]
    report = await panel(*reports, measured=replace(MEASURED, slope=slope)).assess(
        segment(), ASPECT
    )
    assert report.error_probability is not None
    assert (report.score, report.aggregation) == (5 - 4 * report.error_probability, "probability")


@pytest.mark.parametrize(
    ("second", "judge", "aggregation"),
    [(None, "reader", "mean"), (0.9, "other", "mean"), (0.9, "reader", "median")],
)
async def test_without_everyones_probability_and_its_measurement_scores_are_aggregated(
    second: float | None, judge: str, aggregation: str
) -> None:
    reports = Report(score=2, error_probability=0.9), Report(score=3, error_probability=second)
    made = panel(*reports, measured=replace(MEASURED, judges=frozenset({judge})))
    report = await replace(made, aggregation_name=aggregation).assess(segment(), ASPECT)
    assert (report.score, report.aggregation) == (2.5, aggregation)


def test_a_recalibration_changes_the_signature_of_a_panel_that_it_is_for() -> None:
    other = replace(MEASURED, slope=2.0)
    assert panel(Report(score=3)).signature != panel(Report(score=3), measured=other).signature
    strangers = [replace(one, judges=frozenset({"other"})) for one in (MEASURED, other)]
    one, two = (panel(Report(score=3), measured=each).signature for each in strangers)
    assert one == two


@pytest.mark.parametrize(
    ("sure", "is_binding", "decision"),
    [
        (True, True, Decision.UNSURE),
        (True, False, Decision.OK),
        (False, True, Decision.OK),
    ],
)
def test_a_binding_doubt_of_a_sure_judge_keeps_a_text_from_being_ok(
    sure: bool, is_binding: bool, decision: Decision
) -> None:
    sentence = Unverified(
        start=0,
        end=len(TEXT),
        text=TEXT,
        probability=0.5,
        reason="The source only reports this.",
        is_binding=is_binding,
    )
    report = Report(score=5, error_probability=0.1, unverified=(sentence,))
    doubting = replace(seat("reader"), report=report)
    measured = replace(MEASURED, sure=frozenset({"reader"} if sure else ()))
    found = decided(doubting, thresholds=[measured])
    assert found.decision is decision
    assert found.probability == (0.5 if decision is Decision.UNSURE else 0.1)


async def test_unverified_sentences_of_all_seats_are_joined_and_marked_ones_left_out() -> None:
    def unverified(text: str, probability: float) -> Unverified:
        start = TEXT.index(text)
        return Unverified(
            start=start, end=start + len(text), text=text, probability=probability, reason="New."
        )

    bridge, other, year = (
        unverified("bridge", 0.5),
        unverified("e bridge", 0.6),
        unverified("in 1935", 0.4),
    )
    first = Report(score=3, spans=(mark(TEXT, "1935"),), unverified=(bridge, year))
    report = await panel(first, Report(score=3, unverified=(other,))).assess(segment(), ASPECT)
    assert report.unverified == (other,)
    binding = replace(bridge, is_binding=True)
    report = await panel(Report(score=3, unverified=(binding, other))).assess(segment(), ASPECT)
    assert report.unverified == (binding,)


async def test_a_sentence_that_is_not_in_the_text_costs_the_seat_its_report() -> None:
    made_up = Unverified(start=0, end=3, text="xyz", probability=0.5, reason="New.")
    report = await panel(Report(score=3, unverified=(made_up,))).assess(segment(), ASPECT)
    assert "is not 'xyz'" in report.reason
    listed = Report(score=3, unverified=("xyz",))  # type: ignore[arg-type]  # wrong on purpose
    assert "not Unverified" in (await panel(listed).assess(segment(), ASPECT)).reason


async def test_a_panel_reports_its_decision_with_the_probability_and_the_basis() -> None:
    report = await panel(Report(score=2, error_probability=0.9)).assess(segment(), ASPECT)
    assert (report.decision, report.error_probability) == (Decision.FAULTY, 0.9)
    assert report.basis is not None
    assert report.basis.false_alarms == 0.05


async def test_a_seat_without_a_score_has_no_say_and_without_any_score_nothing_is_decided() -> None:
    idle = Report(outcome=Outcome.ABSTAINED, reason="not my aspect", error_probability=0.9)
    one = await panel(idle, Report(score=5, error_probability=0.1)).assess(segment(), ASPECT)
    assert (one.decision, one.error_probability) == (Decision.OK, 0.1)
    none = await panel(idle).assess(segment(), ASPECT)
    assert (none.decision, none.basis, none.error_probability) == (None, None, None)


TRUE = Evidence(input="Article", start=13, end=17, text="1932")


@pytest.mark.parametrize(
    "false",
    [
        replace(TRUE, start=12, end=16),
        replace(TRUE, text="1933"),
        replace(TRUE, input="Table"),
        replace(TRUE, start=93, end=97),
    ],
)
async def test_evidence_that_no_input_holds_costs_the_span(false: Evidence) -> None:
    assert segment().inputs["Article"][13:17] == "1932"
    year = replace(mark(TEXT, "1935"), evidence=(TRUE,))
    bridge = replace(mark(TEXT, "bridge"), evidence=(TRUE, false))
    with capture_logs() as logs:
        report = await panel(Report(score=2, spans=(bridge, year))).assess(segment(), ASPECT)
    assert [(span.text, span.evidence) for span in report.spans] == [("1935", (TRUE,))]
    assert report.score == 2
    assert [(log["event"], log["seat"], log["spans"]) for log in logs] == [
        ("panel.evidence_false", "seat0", 1)
    ]
