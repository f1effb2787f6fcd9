"""Fakes for tests of programs that call judges, and checks that plugins keep their contracts."""

from spanjury.orchestration.frameworks.testing import (
    MarkingJudge,
    ScriptedModel,
    check_checker,
    check_judge,
    check_metric,
    check_model,
    check_perturbation,
)

__all__ = [
    "MarkingJudge",
    "ScriptedModel",
    "check_checker",
    "check_judge",
    "check_metric",
    "check_model",
    "check_perturbation",
]
