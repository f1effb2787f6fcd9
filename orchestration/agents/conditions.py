"""The terms of a review: the aspects that steps of an agent are judged on, and what fails one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    JudgeError,
    Outcome,
    Trajectory,
    Turn,
    choices_for,
)
from spanjury.judges.rules.calls import doubtful_categories
from spanjury.judges.tasks import ALL_ASPECTS, Catalogue
from spanjury.orchestration.services.judging.check import request_of
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import (
    Condition,
    parse_condition,
    unfit_score,
)
from spanjury.orchestration.wiring.sources import AGENT

OnUnscored = Literal["raise", "retry", "accept"]
"""Handling of an output of which an aspect has no score."""

FAIL_ON = (
    "decision=faulty",
    "severity>=4",
    *(f"category={category}" for category in doubtful_categories()),
)
"""The conditions under which a text is sent back, unless others are named.

Doubtful errors are among them: an agent can look up a value again.
"""

_OF_CALLS = "calls"
_OF_WORDS = frozenset({"grounding", "form"})
"""The kinds of aspects that are about what an agent says, of which calls alone hold nothing."""
_ANY_STEP = Trajectory(turns=(Turn(role="assistant", text=""),))


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of the reviews of an agent.

    A step that meets one of `conditions` is sent back. `of_answers` are the aspects of all messages
    together, and `of_calls` those of calls that are not carried out yet.
    """

    conditions: tuple[Condition, ...]
    of_answers: tuple[Aspect, ...]
    of_calls: tuple[Aspect, ...]


def terms_of(
    *,
    task: str | None,
    aspects: str | Aspect | Sequence[str | Aspect],
    fail_on: str | Sequence[str],
    aspects_files: Sequence[Path] = (),
) -> Terms:
    """Return the terms that the parameters of a review come to.

    Calls are judged on those of the named aspects that they can have, else on `calls` of the task
    `agent`, whatever `task` the answers have.

    Raise `ConfigError` if a name is unknown, or a condition cannot be read, can never hold or
    always does.
    """
    conditions = tuple(parsed(fail_on))
    of_answers = request_of(
        _ANY_STEP, task=task, aspects=aspects, aspects_files=aspects_files
    ).aspects
    named = of_answers if aspects else ()
    of_calls = tuple(
        aspect for aspect in named if not aspect.of_answers and aspect.kind not in _OF_WORDS
    ) or (request_of(_ANY_STEP, task=AGENT, aspects=_OF_CALLS, aspects_files=aspects_files).aspects)
    check_conditions(conditions, (*of_answers, *of_calls))
    return Terms(conditions=conditions, of_answers=of_answers, of_calls=of_calls)


def sure_aspects(
    *,
    task: str | None,
    aspects: str | Aspect | Sequence[str | Aspect],
    aspects_files: Sequence[Path] = (),
) -> tuple[Aspect, ...]:
    """Return the aspects that any text is judged on; empty if their names depend on its source.

    If only their task depends on it, those of all possible tasks are returned: their scales differ.

    Raise `ConfigError` if a name is unknown.
    """
    named = [aspects] if isinstance(aspects, str | Aspect) else [*aspects]
    names = [name for name in named if isinstance(name, str)]
    tasks = [task]
    if task is None and len(names) == len(named):
        if not names or ALL_ASPECTS in names:
            return ()
        catalogue = Catalogue.load(*aspects_files)
        having = [each.name for each in catalogue.tasks() if catalogue.has(each.name, *names)]
        tasks = [*having] or [None]  # without a task, an error says which name is unknown
    asked = partial(request_of, "", aspects=aspects, aspects_files=aspects_files)
    return tuple(aspect for each in tasks for aspect in asked(task=each).aspects)


def check_conditions(conditions: Sequence[Condition], aspects: Sequence[Aspect]) -> None:
    """Raise `ConfigError` if a condition never or always holds for texts judged on `aspects`."""
    judged = dict.fromkeys(aspect.name for aspect in aspects)
    for condition in conditions:
        for name in condition.aspects:
            if name not in judged:
                choices = choices_for(name, judged)
                raise ConfigError(f"{condition.text!r}: nothing is judged on {name!r}; {choices}")
    if problem := unfit_score(conditions, aspects):
        raise ConfigError(problem)


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


def feedback_on_unread(unread: Mapping[str, str], policy: OnUnscored) -> str:
    """Return what to send back about aspects without a score; empty to let the output pass.

    `unread` is the name of an aspect without a score -> the reason. Raise `JudgeError` if there
    is one and `policy` says so.
    """
    if not unread or policy == "accept":
        return ""
    if policy == "raise":
        reasons = "; ".join(f"{aspect}: {reason}" for aspect, reason in unread.items())
        raise JudgeError(f"the output is not judged (on_unscored='accept' lets it pass): {reasons}")
    return "Judges could not read your answer. Answer again, in the same form."
