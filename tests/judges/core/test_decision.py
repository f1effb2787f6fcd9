"""Decisions and their basis: what contradicts itself cannot be built."""

from typing import Any

import msgspec
import pytest
from fakes.judges import mark, segment
from pydantic import TypeAdapter

from spanjury.judges.core import Decision, DecisionBasis, Ground, Outcome, PanelReport

MILD, GRAVE = (mark(segment().output, "1935", severity=n) for n in (3, 4))
BY_SPANS = DecisionBasis(ground=Ground.SPANS, reason="No error is marked.")
BY_PROBABILITY = DecisionBasis(
    ground=Ground.PROBABILITY,
    reason="It is 0.90.",
    threshold=0.8,
    false_alarms=0.05,
    measured_on="160 texts",
)


@pytest.mark.parametrize(
    "fields",
    [
        {"threshold": 0.5},
        {"false_alarms": 0.1},
        {"measured_on": "160 texts"},
        {"false_alarms": 1.1, "measured_on": "160 texts"},
        {"misses": 0.1},
        {"misses": 0.1, "false_alarms": 0.1, "measured_on": "160 texts"},
        {"misses": 1.1, "measured_on": "160 texts"},
        {"spread": (0.1, 0.2)},
        {"spread": (0.2, 0.1), "misses": 0.1, "measured_on": "160 texts"},
        {"ground": Ground.PROBABILITY},
        {"ground": Ground.PROBABILITY, "threshold": -0.1},
    ],
)
def test_a_basis_that_contradicts_itself_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"0 to 1|decided by|false alarms|a share of"):
        DecisionBasis(**{"ground": Ground.SPANS, "reason": "Why.", **fields})


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"score": 5, "decision": Decision.OK}, "with the basis None"),
        ({"score": 5, "basis": BY_SPANS}, "decision None with the basis"),
        (
            {
                "outcome": Outcome.TIMED_OUT,
                "reason": "slow",
                "decision": Decision.OK,
                "basis": BY_SPANS,
            },
            "ok without a score",
        ),
        (
            {"score": 5, "decision": Decision.OK, "basis": BY_SPANS, "spans": (GRAVE,)},
            "ok with an error of severity 4 or 5",
        ),
        ({"score": 1, "decision": Decision.FAULTY, "basis": BY_SPANS}, "faulty without an error"),
        (
            {
                "score": 1,
                "decision": Decision.FAULTY,
                "basis": BY_PROBABILITY,
                "error_probability": 0.79,
            },
            "faulty without an error",
        ),
        ({"score": None}, "outcome 'scored' with score None"),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        PanelReport(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"decision": Decision.OK, "basis": BY_SPANS, "spans": (MILD,)},
        {"decision": Decision.FAULTY, "basis": BY_SPANS, "spans": (GRAVE,)},
        {"decision": Decision.FAULTY, "basis": BY_PROBABILITY, "error_probability": 0.8},
        {"decision": Decision.UNSURE, "basis": BY_SPANS},
        {"spans": (GRAVE,)},
    ],
)
def test_a_report_that_agrees_with_itself_is_taken(fields: dict[str, Any]) -> None:
    assert PanelReport(score=2, **fields).score == 2


def test_a_score_over_a_threshold_is_ok_whatever_is_marked() -> None:
    basis = DecisionBasis(ground=Ground.SCORE, reason="The score is above 3.")
    report = PanelReport(score=4, decision=Decision.OK, basis=basis, spans=(GRAVE,))
    assert report.decision is Decision.OK


def test_the_former_word_is_read_as_unsure_and_never_written() -> None:
    assert Decision("doubtful") is Decision.UNSURE
    assert msgspec.json.decode(b'"doubtful"', type=Decision) is Decision.UNSURE
    assert TypeAdapter(Decision | None).validate_json('"doubtful"') is Decision.UNSURE
    assert [*Decision] == ["ok", "unsure", "faulty"]
    with pytest.raises(ValueError, match="'dubious' is not a valid Decision"):
        Decision("dubious")
