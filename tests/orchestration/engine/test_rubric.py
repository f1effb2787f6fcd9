"""The result of a rubric, of reports on its criteria."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from spanjury.judges.core import (
    Aspect,
    Decision,
    DecisionBasis,
    ErrorSpan,
    Ground,
    Outcome,
    PanelReport,
    Unverified,
)
from spanjury.judges.tasks import Catalogue, Rubric
from spanjury.orchestration.engine.made_for import panel_digest
from spanjury.orchestration.engine.rubric import concluded

MET = PanelReport(score=2, signature="panel|seats:1")
NOT_MET = PanelReport(score=1, signature="panel|seats:1")
FAILED = PanelReport(
    outcome=Outcome.TIMED_OUT, reason="annotator: no answer", signature="panel|seats:1"
)
DOUBTED = PanelReport(
    score=2,
    error_probability=0.45,
    decision=Decision.UNSURE,
    basis=DecisionBasis(ground=Ground.PROBABILITY, reason="0.45 or more", threshold=0.4),
)
UNVERIFIED = PanelReport(
    score=2,
    unverified=(Unverified(start=0, end=2, text="A.", probability=0.5, reason="Not listed."),),
    decision=Decision.UNSURE,
    basis=DecisionBasis(ground=Ground.SPANS, reason="0.5 or more"),
)
GRAVE = PanelReport(
    score=2,
    spans=(ErrorSpan(text="", explanation="One price is in dollars.", severity=4),),
    decision=Decision.FAULTY,
    basis=DecisionBasis(ground=Ground.SPANS, reason="a grave error"),
)


MARKED = replace(
    GRAVE,
    spans=(ErrorSpan(text="", explanation="One price is in dollars.", severity=3),),
    decision=Decision.UNSURE,
    basis=DecisionBasis(ground=Ground.SPANS, reason="a slight error"),
)


def aspect_of(*criteria: dict[str, object]) -> Aspect:
    rubric = Rubric.of({"criteria": [{"text": "It is A."}, *criteria]})
    return Catalogue.load().with_rubric(rubric).aspect("summarization", rubric.aspect)


def conclude(aspect: Aspect, reports: Sequence[PanelReport]) -> PanelReport:
    names = [criterion.aspect.name for criterion in aspect.criteria]
    return concluded(aspect, dict(zip(names, reports, strict=True)))


def test_the_score_is_the_weighted_share_of_the_criteria_that_are_met() -> None:
    aspect = aspect_of({"text": "It is B.", "weight": 3})
    report = conclude(aspect, [NOT_MET, MET])
    assert report.score == pytest.approx(1 + 4 * 0.75)
    assert report.decision is Decision.OK
    assert report.basis is not None
    assert report.basis.reason == "75% of the weight is met: 1 of 2 criteria are met"
    assert [(span.severity, span.category) for span in report.spans] == [(3, "criterion")]
    assert conclude(aspect, [MET, NOT_MET]).decision is Decision.UNSURE


def test_a_graded_criterion_counts_by_its_place_on_the_scale() -> None:
    aspect = aspect_of({"text": "It is B.", "scale": ["Low", "Middle", "High"]})
    assert conclude(aspect, [MET, PanelReport(score=2)]).score == pytest.approx(1 + 4 * 0.75)
    low = conclude(aspect, [MET, PanelReport(score=1.4)])
    assert low.score == pytest.approx(1 + 4 * 0.6)
    assert [span.explanation for span in low.spans] == ['"It is B": Low.']
    half = conclude(aspect, [MET, PanelReport(score=2)]).rationale
    assert half == "75% of the weight is met: 1 of 2 criteria are met, 1 in part"


def test_a_text_without_a_must_have_is_faulty_whatever_its_score() -> None:
    aspect = aspect_of({"text": "It is B.", "must": True, "weight": 0.01})
    report = conclude(aspect, [MET, NOT_MET])
    assert report.score is not None
    assert report.score > 4.9
    assert report.decision is Decision.FAULTY
    assert report.basis is not None
    assert report.basis.reason.endswith('must-have not met: "It is B"')
    assert [span.severity for span in report.spans] == [5]
    graded = aspect_of({"text": "It is B.", "must": True, "kind": "graded"})
    assert conclude(graded, [MET, PanelReport(score=2)]).decision is Decision.FAULTY
    assert conclude(graded, [MET, PanelReport(score=3)]).decision is Decision.OK


def test_a_must_have_that_the_judges_are_unsure_about_makes_the_text_unsure() -> None:
    unsure = replace(DOUBTED, score=1)
    criterion = {"text": "It is B.", "must": True, "weight": 0.01}
    report = conclude(aspect_of(criterion), [MET, unsure])
    assert report.score is not None
    assert report.score > 4.9
    assert report.decision is Decision.UNSURE
    assert report.basis is not None
    assert report.basis.reason.endswith('must-have unsure: "It is B"')
    both = aspect_of(criterion, {"text": "It is C.", "must": True})
    assert conclude(both, [MET, unsure, NOT_MET]).decision is Decision.FAULTY
    without_place = replace(unsure, basis=UNVERIFIED.basis)
    assert conclude(aspect_of(criterion), [MET, without_place]).decision is Decision.FAULTY


def test_a_grave_error_speaks_against_the_label() -> None:
    report = conclude(aspect_of({"text": "It is B.", "must": True}), [MET, GRAVE])
    assert report.decision is Decision.FAULTY
    assert report.spans[0].explanation == ('"It is B": not met. One price is in dollars.')


def test_a_marked_violation_speaks_against_the_label_without_a_probability() -> None:
    must = aspect_of({"text": "It is B.", "must": True})
    report = conclude(must, [MET, MARKED])
    assert (report.score, report.decision) == (3, Decision.FAULTY)
    measured_ok = replace(MARKED, decision=Decision.OK)
    assert conclude(must, [MET, measured_ok]).decision is Decision.OK


def test_a_decision_without_a_missed_criterion_rests_on_no_spans() -> None:
    bases = [
        conclude(aspect_of({"text": "It is B."}), reports).basis
        for reports in ([NOT_MET, NOT_MET], [MET, FAILED])
    ]
    assert [basis.ground for basis in bases if basis] == [Ground.SPANS, Ground.SCORE]


@pytest.mark.parametrize(
    "open_report",
    [FAILED, DOUBTED, UNVERIFIED, PanelReport(score=1.5), replace(MARKED, score=1.75)],
)
def test_an_open_criterion_is_not_counted_as_met_and_its_weight_is_stated(
    open_report: PanelReport,
) -> None:
    aspect = aspect_of({"text": "It is B.", "weight": 3, "must": True})
    report = conclude(aspect, [MET, open_report])
    assert report.score == 5
    assert report.decision is Decision.UNSURE
    assert report.basis is not None
    assert "1 of 1 criteria are met, 1 of 2 decided (25% of the weight)" in report.basis.reason
    assert report.basis.reason.endswith('open: "It is B"')
    assert conclude(aspect, [NOT_MET, open_report]).score == 1


def test_a_text_whose_criteria_are_all_open_has_no_score() -> None:
    report = conclude(aspect_of({"text": "It is B."}), [DOUBTED, FAILED])
    assert (report.outcome, report.score, report.decision) == (Outcome.TIMED_OUT, None, None)
    assert report.reason.startswith("no criterion could be decided")


def test_the_signature_has_the_weights_and_stays_that_of_the_panel_for_a_calibration() -> None:
    first = conclude(aspect_of({"text": "It is B."}), [MET, MET])
    other = conclude(aspect_of({"text": "It is B.", "weight": 2}), [MET, MET])
    assert first.signature != other.signature
    assert panel_digest(first.signature) == panel_digest(MET.signature)
