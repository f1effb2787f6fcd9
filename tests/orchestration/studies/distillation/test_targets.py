"""A panel's report becomes an example, or is skipped for a reason."""

from collections import Counter

import pytest
from fakes.judges import ASPECT, mark
from fakes.training_rows import data_file, text

from spanjury.judges.core import (
    ErrorSpan,
    Outcome,
    PanelReport,
    Report,
    Result,
    SeatReport,
)
from spanjury.judges.llm.verdict_first import written_number
from spanjury.orchestration.studies.distillation.rows import rows_of
from spanjury.orchestration.studies.distillation.summary import Inventory, SeatScores
from spanjury.orchestration.studies.distillation.targets import Skipped, Targets
from spanjury.orchestration.studies.distillation.training_set import Example

OUTPUT = "The bridge opened in 1935."
(ROW,) = rows_of([data_file([text("a", "It opened in 1932.", output=OUTPUT, system="s")])])
SPAN = mark(OUTPUT, "1935", "It was 1932.", 4)
INVENTED = ErrorSpan(text="in 1999", explanation="Not there.", severity=5)
OMITTED = ErrorSpan(text="", explanation="The cost is missing.", severity=2)


def seat(name: str, score: float | None) -> SeatReport:
    failed = Report(outcome=Outcome.REFUSED, reason="declined")
    report = failed if score is None else Report(score=score)
    return SeatReport(seat=name, signature=name, report=report, seconds=0)


def said(score: float | None, *spans: ErrorSpan, seats: tuple[SeatReport, ...] = ()) -> Result:
    if score is None:
        report = PanelReport(outcome=Outcome.TIMED_OUT, reason="slow", signature="jury")
    else:
        report = PanelReport(score=score, spans=spans, signature="jury", seats=seats)
    return Result(segment=ROW.segment, aspect=ASPECT, report=report)


def made(score: float | None, *spans: ErrorSpan, targets: Targets | None = None) -> Example:
    example = (targets or Targets()).of_panel(ROW, said(score, *spans))
    assert isinstance(example, Example)
    return example


def reason(score: float | None, *spans: ErrorSpan) -> str:
    skipped = Targets().of_panel(ROW, said(score, *spans))
    assert isinstance(skipped, Skipped)
    return skipped.reason


def test_a_report_becomes_an_example_with_all_that_it_came_from() -> None:
    example = made(3.4, SPAN, OMITTED, targets=Targets(seed=7, teachers={"m": "MIT"}))
    assert "\n\nOverall score: 60\n\nExplanation 1: It was 1932." in example.target
    assert example.report.score == 3.4
    assert example.report.spans == (SPAN, OMITTED)
    assert (example.provenance.panel, example.provenance.seed) == ("jury", 7)
    assert (example.provenance.source, example.provenance.row) == ("data.jsonl", "a")
    assert example.licences.teachers == {"m": "MIT"}
    assert (example.task, example.aspect, example.system) == ("summarization", "consistency", "s")


@pytest.mark.parametrize(("mean", "stretched", "share"), [(1, 0, 20), (3.4, 60, 70), (5, 100, 100)])
def test_both_readings_of_the_paper_are_there(mean: float, stretched: int, share: int) -> None:
    for reading, number in (("stretched", stretched), ("share", share)):
        targets = Targets(reading=reading)  # type: ignore[arg-type]  # one of the two
        example = made(mean, SPAN, targets=targets)
        assert written_number(example.target) == str(number)


def test_a_quotation_that_is_not_in_the_text_is_not_learnt() -> None:
    assert made(2, SPAN, INVENTED).report.spans == (SPAN,)


@pytest.mark.parametrize("spans", [(), (INVENTED,)])
def test_a_bad_score_that_no_error_explains_is_skipped(spans: tuple[ErrorSpan, ...]) -> None:
    assert "no error" in reason(2, *spans)


def test_no_score_is_nothing_to_learn() -> None:
    assert reason(None) == "the panel gives no score: timed_out"


def test_the_outliers_of_each_seat_are_counted_over_the_scores_it_gave() -> None:
    inventory = Inventory()
    for last in (2, 4, None):
        seats = (*(seat(name, 4) for name in "abcd"), seat("e", last))
        inventory.add_scores("story", said(4, SPAN, seats=seats).report)
    assert inventory.seats["a", "story"] == SeatScores(scores=3, far=0)
    assert inventory.seats["e", "story"] == SeatScores(scores=2, far=1)
    assert sum(scores.far for scores in inventory.seats.values()) == 1


def test_the_tables_hold_what_was_added() -> None:
    inventory = Inventory()
    for score, spans in ((5.0, ()), (3.0, (SPAN, OMITTED)), (2.0, (SPAN,))):
        inventory.add(made(score, *spans))
    counts = inventory.tasks["summarization"]
    assert (len(counts.datasets), len(counts.systems), len(counts.outputs)) == (1, 1, 1)
    assert (counts.examples, counts.error_free, counts.spans) == (3, 1, 3)
    assert inventory.numbers == Counter({"100": 1, "50": 1, "25": 1})
    assert list(inventory.cautions()) == [
        "there is no example for validation",
        "there is no example for test",
    ]


@pytest.mark.parametrize(
    ("reports", "caution"),
    [
        ([(5.0, ())], "one class only: every example is without errors"),
        ([(3.0, (SPAN,)), (2.0, (SPAN,))], "one class only: no example is without errors"),
        ([(5.0, ()), (5.0, (SPAN,))], "every example has the score 100"),
    ],
)
def test_training_on_one_class_warns(
    reports: list[tuple[float, tuple[ErrorSpan, ...]]], caution: str
) -> None:
    inventory = Inventory()
    for score, spans in reports:
        inventory.add(made(score, *spans))
    assert next(inventory.cautions()) == caution
