"""Fakes for tests of programs that call judges, and a check of the promises that judges keep."""

from spanjury.orchestration.frameworks.testing import MarkingJudge, ScriptedModel, check_judge

__all__ = ["MarkingJudge", "ScriptedModel", "check_judge"]
