"""The conditions under which an agent is sent back, and the aspects that no judge read."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from spanjury.judges.core import ConfigError, JudgeError, Outcome
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import Condition, parse_condition

OnUnscored = Literal["raise", "retry", "accept"]
"""Handling of an output of which an aspect has no score."""

FAIL_ON = (
    "decision=faulty",
    "severity>=4",
    "category=value from nowhere",
    "category=altered value",
    "category=broken limit",
    "category=misread result",
    "category=value without a result",
)
"""The conditions under which a text is sent back, unless others are named.

An agent can look up a value again, so one is sent back that may be right.
"""


def parsed(fail_on: str | Sequence[str]) -> list[Condition]:
    """Return one condition or several, as of ``--fail-on``.

    Raise `ConfigError` if one cannot be read.
    """
    written = (fail_on,) if isinstance(fail_on, str) else fail_on
    return [parse_condition(condition) for condition in written]


def unread(report: TextReport, *, are_named: bool) -> Mapping[str, str]:
    """Return the aspects without a score that should have one, each with the reason.

    A panel need not know every usual aspect of a task: to abstain is a failure only on an aspect
    that was asked for, or where nothing else was judged either.
    """
    if are_named or not report.scores:
        return report.unscored
    return {
        aspect: reason
        for aspect, reason in report.unscored.items()
        if report[aspect].outcome is not Outcome.ABSTAINED
    }


def check_policy(policy: str) -> None:
    """Raise `ConfigError` if `policy` is none of `OnUnscored`."""
    if policy not in get_args(OnUnscored):
        raise ConfigError(f"on_unscored is raise, retry or accept, not {policy!r}")


def feedback_on_unread(unread: Mapping[str, str], policy: OnUnscored) -> str:
    """Return what to send back about aspects without a score; empty to let the output pass.

    `unread` is the name of an aspect without a score -> the reason. Raise `JudgeError` if there
    is one and `policy` says so.
    """
    if not unread or policy == "accept":
        return ""
    if policy == "raise":
        reasons = "; ".join(f"{aspect}: {reason}" for aspect, reason in unread.items())
        raise JudgeError(f"the output is not judged: {reasons}")
    return "Judges could not read your answer. Answer again, in the same form."
