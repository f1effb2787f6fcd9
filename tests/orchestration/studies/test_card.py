"""A card joins exams of one judge and is held against demands."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from spanjury.judges.core import ConfigError
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.card import (
    NOT_NEGATIVE,
    SHARE,
    SIGNED,
    Card,
    ExamRecord,
    Gate,
    Measure,
    Range,
    card_json,
    card_report,
    parse_gate,
)

AVERAGE = Measure(name="discernment.average", value=2.5, says="D", count=40, low=1.25, high=3.75)
RETEST = Measure(name="retest.moved", value=0.1, says="others the second time", count=80)
HITS = Measure(name="localisation.hits", value=None, says="places hit", count=0)


def record(*measures: Measure, seats: Mapping[str, str] | None = None) -> ExamRecord:
    return ExamRecord(
        exam="discernment",
        date="2026-11-22",
        data="good.jsonl",
        signature="panel|seats:1",
        seats=seats or {"form": "form|v1"},
        versions={"spanjury": "0.1.0"},
        measures=measures,
        cautions=("40 texts are few.",),
    )


@pytest.mark.parametrize(
    ("demand", "passed"),
    [
        ("discernment.average>=2.5", True),
        ("discernment.average > 2.5", False),
        ("retest.moved<.2", True),
        ("retest.moved <= 0.05", False),
        ("localisation.hits>=-1", False),
    ],
)
def test_a_demand_is_met_by_a_measure_that_is_defined_and_as_asked(
    demand: str, *, passed: bool
) -> None:
    card = Card(records=(record(AVERAGE, RETEST, HITS),))
    assert parse_gate(demand).result(card.measures).met is passed


@pytest.mark.parametrize(
    ("demand", "values", "problem"),
    [
        ("m<=1", SHARE, "m <= 1 is met by every value: the range of m is 0 to 1"),
        ("m>=0", SHARE, "every value"),
        ("m>-.1", SHARE, "every value"),
        ("m>1", SHARE, "m > 1 is met by no value"),
        ("m<0", SHARE, "no value"),
        ("m>=-1", SIGNED, "every value: the range of m is -1 to 1"),
        ("m>=0", NOT_NEGATIVE, "every value: the range of m is 0 or more"),
        ("m<=2", Range(high=2), "every value: the range of m is up to 2"),
    ],
)
def test_a_demand_that_decides_nothing_is_refused_with_the_range(
    demand: str, values: Range, problem: str
) -> None:
    card = Card(records=(record(replace(RETEST, name="m", range=values)),))
    with pytest.raises(ConfigError, match=problem):
        parse_gate(demand).result(card.measures)


@pytest.mark.parametrize(
    ("demand", "values"),
    [("m<=0", SHARE), ("m>=1", SHARE), ("m<1", SHARE), ("m<=99", NOT_NEGATIVE), ("m>=-9", Range())],
)
def test_a_demand_that_some_values_meet_is_accepted(demand: str, values: Range) -> None:
    parse_gate(demand).require_decisive(values)


def test_a_demand_holds_for_every_exam_that_gives_the_measure() -> None:
    steady, shaky = record(RETEST), record(replace(RETEST, value=0.4))
    gate = parse_gate("retest.moved<=.2")
    assert gate.result(Card(records=(steady, steady)).measures).met
    assert not gate.result(Card(records=(steady, shaky)).measures).met


def test_exams_that_two_releases_held_of_one_judge_are_on_one_card() -> None:
    earlier = record(AVERAGE, seats={"form": "form|rules:a|spanjury:0.2.0"})
    later = record(RETEST, seats={"form": "form|rules:a|spanjury:0.3.0"})
    assert len(Card(records=(earlier, later)).measures) == 2
    other = record(RETEST, seats={"form": "form|rules:b|spanjury:0.3.0"})
    with pytest.raises(
        ConfigError, match=r"examined form; .* examined form \(settings or versions differ"
    ):
        Card(records=(earlier, other))


@pytest.mark.parametrize(
    "text", ["", "average", "average=1", "average>=", ">=1", "a>=b", "a>=1>=2"]
)
def test_an_invalid_demand_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"a requirement is MEASURE>=NUMBER"):
        parse_gate(text)


def test_a_demand_on_a_measure_that_no_exam_gives_names_those_there_are() -> None:
    gate = Gate(name="discernment.mean", relation=">=", bound=1)
    with pytest.raises(
        ConfigError, match=r"'discernment.mean'; did you mean .* Choose from discernment.average"
    ):
        gate.result(Card(records=(record(AVERAGE),)).measures)


def test_exams_of_two_judges_make_no_card() -> None:
    with pytest.raises(ConfigError, match="share none: .*; .* examined other$"):
        Card(records=(record(AVERAGE), record(RETEST, seats={"other": "other|v1"})))
    with pytest.raises(ConfigError, match="at least one exam"):
        Card(records=())


def test_a_panel_and_one_of_its_seats_share_a_card() -> None:
    panel = record(AVERAGE, seats={"form": "form|v1", "grounding": "grounding|v1"})
    assert set(Card(records=(panel, record(RETEST))).measures) == {AVERAGE.name, RETEST.name}


def test_the_page_has_every_measure_with_its_interval_and_the_demands() -> None:
    rare = replace(RETEST, name="robustness.fell", value=0.00212, low=1.13e-05, high=0.285)
    rare = replace(rare, range=SHARE)
    average = replace(AVERAGE, range=NOT_NEGATIVE)
    card = Card(records=(record(average, HITS), record(RETEST, rare)))
    gates = [parse_gate("discernment.average>=3"), parse_gate("retest.moved<=.2")]
    page = report_markdown(card_report(card, gates=gates))
    assert "| discernment.average | 2.5 | 1.25 to 3.75 | 40 | D; 0 or more |" in page
    assert "| localisation.hits | - | - | 0 | places hit |" in page
    assert "| robustness.fell | 0.0021 | 0 to 0.285 | 80 | others the second time; 0 to 1 |" in page
    assert "| discernment.average >= 3 | 2.5 | **not met** |" in page
    assert "| retest.moved <= 0.2 | 0.1 | met |" in page
    assert "- form: `form|v1`" in page
    assert "- 40 texts are few." in page
    values = card_json(card, gates=gates)
    assert values["gates"] == [
        {"gate": "discernment.average >= 3", "passed": False},
        {"gate": "retest.moved <= 0.2", "passed": True},
    ]
