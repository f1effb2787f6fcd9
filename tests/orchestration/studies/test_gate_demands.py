"""Demands on a distilled judge, in numbers and beside its base's."""

from dataclasses import replace

import pytest

from spanjury.judges.core import ConfigError
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.studies.card import Card, ExamRecord, Measure, parse_gate
from spanjury.orchestration.studies.gate import (
    GateFindings,
    OverBase,
    demand_results,
    gate_json,
    gate_report,
)


def card(seat: str, **values: float | None) -> Card:
    measures = tuple(
        Measure(name=name.replace("__", "."), value=value, says=f"what {name} is", count=count)
        for count, (name, value) in enumerate(values.items(), start=1)
    )
    record = ExamRecord(
        exam="held-out examples",
        date="2026-11-22",
        data="set",
        signature=f"panel|{seat}",
        seats={seat: f"{seat}|v1"},
        versions={"spanjury": "0.1.0"},
        measures=measures,
        cautions=(),
    )
    return Card(records=(record,))


@pytest.mark.parametrize(
    ("name", "distilled", "base", "met", "line"),
    [
        ("spans.f1", 0.5, 0.4, True, "spans.f1 > 0.4, the base's (it is 0.5)"),
        ("spans.f1", 0.4, 0.4, False, "spans.f1 > 0.4, the base's (it is 0.4)"),
        ("spans.f1", None, 0.4, False, "spans.f1 > 0.4, the base's (it is -)"),
        ("spans.f1", 0.1, None, True, "spans.f1 > 0, as the base has none (it is 0.1)"),
        ("spans.f1", 0.0, None, False, "spans.f1 > 0, as the base has none (it is 0)"),
        ("score.error", 9.0, 12.0, True, "score.error < 12, the base's (it is 9)"),
        ("score.error", 13.0, 12.0, False, "score.error < 12, the base's (it is 13)"),
        ("score.error", 13.0, None, True, "score.error, which the base does not have (it is 13)"),
        ("score.error.seen-tasks", 9.0, 8.0, False, "score.error.seen-tasks < 8, the base's"),
    ],
)
def test_a_measure_must_be_better_than_the_bases(
    name: str, *, distilled: float | None, base: float | None, met: bool, line: str
) -> None:
    measured = {
        role: card("form", **{name.replace(".", "__"): value}).measures
        for role, value in (("distilled", distilled), ("base", base))
    }
    (result,) = demand_results([], [OverBase(name=name)], **measured)
    assert result.met is met
    assert result.line.startswith(line)


def test_robustness_is_not_met_by_a_judge_that_is_not_shown_to_see_damage() -> None:
    gates = [parse_gate("robustness.attack_success<=.05")]
    better = [OverBase(name="robustness.attack_success")]
    base = card("base", robustness__attack_success=0.5).measures
    for seen, reason in (
        ({}, "no exam here says whether the judge sees damage"),
        ({"robustness__flaws_seen": 0.5}, "robustness.flaws_seen is 0.5"),
        ({"discernment__caught__average": 0.0}, "discernment.caught.average is 0"),
    ):
        constant = card("mine", robustness__attack_success=0.0, **seen).measures
        results = demand_results(gates, better, distilled=constant, base=base)
        assert not any(result.met for result in results)
        assert all(reason in result.line for result in results)


@pytest.mark.parametrize(
    ("low", "met"), [(0.6, True), (0.5, False), (None, False)], ids=["above", "at chance", "none"]
)
def test_robustness_is_met_where_the_interval_of_discernment_is_above_chance(
    low: float | None, *, met: bool
) -> None:
    (record,) = card("mine", robustness__attack_success=0.0).records
    seen = Measure(name="robustness.flaws_seen", value=0.8, says="", count=9, low=low, high=0.9)
    measures = Card(records=(replace(record, measures=(*record.measures, seen)),)).measures
    gate = parse_gate("robustness.attack_success<=.05")
    (result,) = demand_results([gate], [], distilled=measures, base={})
    assert result.met is met


def test_a_demand_in_numbers_is_shown_with_the_value() -> None:
    measures = card("form", spans__f1=0.25).measures
    gates = [parse_gate("spans.f1>=.2"), parse_gate("spans.f1>=.3")]
    met, missed = demand_results(gates, [], distilled=measures, base={})
    assert (met.met, met.line) == (True, "spans.f1 >= 0.2 (it is 0.25)")
    assert (missed.met, missed.line) == (False, "spans.f1 >= 0.3 (it is 0.25)")


def test_an_unknown_measure_is_refused_with_those_that_there_are() -> None:
    measures = card("form", spans__f1=0.25).measures
    with pytest.raises(ConfigError, match=r"'spans.f2'; did you mean 'spans.f1'"):
        demand_results([parse_gate("spans.f2>=0")], [], distilled=measures, base={})
    with pytest.raises(ConfigError, match=r"'spans.f2'; did you mean 'spans.f1'"):
        demand_results([], [OverBase(name="spans.f2")], distilled=measures, base=measures)


def test_the_page_has_judges_side_by_side() -> None:
    cards = {
        "base": card("base", reports__parsed=0.1, spans__f1=None),
        "distilled": card("mine", reports__parsed=1.0, spans__f1=0.5),
    }
    results = demand_results(
        [parse_gate("spans.f1>=.9")],
        [],
        distilled=cards["distilled"].measures,
        base=cards["base"].measures,
    )
    findings = GateFindings(
        model="model", data=("set",), cards=cards, demands=results, cautions=("few texts",)
    )
    page = report_markdown(gate_report(findings))
    assert "# Gate: not passed" in page
    assert "- **not met**: spans.f1 >= 0.9 (it is 0.5)" in page
    assert "| measure | base | distilled | of |  |" in page
    assert "| spans.f1 | - | 0.5 | 2 | what spans__f1 is |" in page
    assert "- few texts" in page
    measured = gate_json(findings)
    assert measured["passed"] is False
    demand = {"demand": "spans.f1 >= 0.9", "values": (0.5,), "met": False, "reason": ""}
    assert measured["demands"] == [demand]


def test_a_group_of_all_examples_is_not_shown_again() -> None:
    def measure(name: str, count: int) -> Measure:
        return Measure(name=name, value=0.5, says="it", count=count)

    (record,) = card("mine", reports__parsed=1.0).records
    names = [("reports.parsed", 4), ("spans.f1", 4)]
    names += [(f"{one}.seen-tasks", 4) for one, _ in names]
    names += [("reports.parsed.unseen-damages", 1), ("spans.f1.unseen-damages", 1)]
    measures = tuple(measure(*one) for one in names)
    measured = ExamRecord(
        exam=record.exam,
        date=record.date,
        data=record.data,
        signature=record.signature,
        seats=record.seats,
        versions=record.versions,
        measures=measures,
        cautions=(),
    )
    findings = GateFindings(
        model="model",
        data=("set",),
        cards={"distilled": Card(records=(measured,))},
        demands=(),
        cautions=(),
    )
    shown = [*findings.rows()]
    assert shown == [
        "reports.parsed",
        "spans.f1",
        "reports.parsed.unseen-damages",
        "spans.f1.unseen-damages",
    ]
