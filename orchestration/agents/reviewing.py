"""The review of an agent: a panel reads its messages, and what is wrong goes back to the agent.

It serves any loop, on asyncio and on trio.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    Result,
    ToolCall,
    Trajectory,
    Turn,
    check_arguments,
)
from spanjury.judges.core.transcript import Position, json_leaves
from spanjury.judges.text.replies import rescored
from spanjury.orchestration.agents.conditions import FAIL_ON, terms_of, unread
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.agent_reports import feedback_on
from spanjury.orchestration.services.judging.check import acheck
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.synchronous import synchronous
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import Condition, failure_of
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import as_trajectory

Messages = Sequence[object]
"""An agent's messages, as objects of its library or as JSON holds them."""

_BESIDE = "This call was not carried out, because a call of the same turn has an error."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejection:
    """An attempt that was sent back.

    The panel read `turns` turns, `answers` turns of feedback follow them, and `positions` are those
    of the errors.
    """

    turns: int
    answers: int
    positions: tuple[Position, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """The report of a panel on an agent's messages, and the feedback.

    Parameters
    ----------
    report
        The panel's report; `TextReport.position_of` leads to turn, call and argument.
    messages
        The feedback to append to the agent's messages, in the form of OpenAI's chat messages:
        one from the user, or a result for each call that is not carried out yet. None if nothing
        fails.
    unread
        Name of an aspect without a score that should have one -> the reason.
    rejections
        Every attempt so far that was sent back, for the next review.
    """

    report: TextReport
    messages: tuple[dict[str, object], ...] = ()
    unread: Mapping[str, str]
    rejections: tuple[Rejection, ...] = ()

    @property
    def passed(self) -> bool:
        """True if nothing fails, and no aspect lacks a score that it should have."""
        return not self.messages and not self.unread

    @property
    def feedback(self) -> str:
        """The errors and what to do about them, in words for a model; empty if nothing fails."""
        return max((str(message["content"]) for message in self.messages), key=len, default="")


async def areview(  # noqa: PLR0913  all but the messages have defaults
    messages: Messages | Trajectory,
    *,
    tools: Sequence[object] = (),
    since: int = 0,
    after: Sequence[Rejection] = (),
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    fail_on: str | Sequence[str] = FAIL_ON,
    aspects_files: Sequence[Path] = (),
) -> Review:
    """Judge what an agent did, and say what it should correct.

    If the assistant's last message has calls that no result answers yet, these calls alone are
    judged: a wrong one can be sent back before it does harm. They are judged on those of the named
    `aspects` that calls can have, else on `calls` of the task ``agent``, whatever `task` is.

    Parameters
    ----------
    messages
        All messages so far, as OpenAI, Anthropic, pydantic-ai, LangChain and others write them.
    tools
        The tools that the agent can call: specifications, or tools of OpenAI's SDK or LangChain.
    since
        How many of the first messages belong to earlier requests. They are sources as the others
        are, but an error in them is not sent back. An aspect whose errors are all in them passes,
        whatever its score is.
    after
        The `rejections` of the last review of the same conversation. What they rejected is not
        judged again, unless the agent repeats a wrong value, and feedback is no source.
    panel, judges, models, task, aspects, aspects_files
        As in `check`.
    fail_on
        Conditions as of ``--fail-on``; if one holds, the review has feedback.

    Raises
    ------
    ConfigError
        If a name is unknown, a condition cannot be read or is about an aspect that nothing is
        judged on, no message is the assistant's, or `since` is no number of messages.
    """
    check_arguments(areview, locals())
    terms = terms_of(task=task, aspects=aspects, fail_on=fail_on, aspects_files=aspects_files)
    trajectory = as_trajectory(messages, tools)
    earlier_turns = _turns_of(messages, since)
    judged = without_rejected(trajectory, after)
    waiting = _waiting_calls(trajectory.turns)
    report = await acheck(
        judged,
        aspects=terms.of_calls if waiting else terms.of_answers,
        panel=panel,
        judges=judges,
        models=models,
        aspects_files=aspects_files,
    )
    if waiting:
        kept = _limited(report, lambda position: position in waiting)
    else:
        kept = _limited(report, lambda position: position.turn > earlier_turns)
    return _reviewed(
        kept,
        _failing(report, kept, terms.conditions),
        terms.conditions,
        waiting=waiting,
        earlier=tuple(after),
        are_named=bool(aspects),
    )


review = synchronous(
    areview,
    name="review",
    doc="""Judge what an agent did, from code that is not asynchronous; see `areview`.""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """The calls of turn `turn` that no result answers yet: number within the turn -> the call."""

    turn: int = 0
    calls: Mapping[int, ToolCall] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.calls)

    def __contains__(self, position: Position) -> bool:
        """Say whether a position is in one of the calls, or in the words beside them."""
        return position.turn == self.turn and position.call in {0, *self.calls}


def _waiting_calls(turns: Sequence[Turn]) -> _Waiting:
    """Return the calls of the assistant's last turn that no result answers yet.

    A result without the id of a call answers the first of those that are left.
    """
    results = [*takewhile(lambda turn: turn.role == "tool", reversed(turns))]
    number = len(turns) - len(results)
    waiting = dict(enumerate(turns[number - 1].calls, 1)) if number else {}
    for result in reversed(results):
        ids = {call.call_id: order for order, call in reversed(waiting.items())}
        waiting.pop(ids.get(result.call_id, next(iter(waiting), 0)), None)
    return _Waiting(turn=number, calls=waiting)


def _turns_of(messages: Messages | Trajectory, since: int) -> int:
    """Return how many turns the first `since` messages are; 0 if none is a reply."""
    if not since:
        return 0
    count = len(messages.turns if isinstance(messages, Trajectory) else messages)
    if not 0 <= since <= count:
        raise ConfigError(f"since must be 0 to {count} (the number of messages), got {since!r}")
    if isinstance(messages, Trajectory):
        return since
    try:
        return len(as_trajectory(messages[:since]).turns)
    except ConfigError:
        return 0


def _limited(report: TextReport, is_asked: Callable[[Position], bool]) -> TextReport:
    """Return a report with the errors at the positions asked for, and those without a position.

    Where others go, the score is computed without them. An aspect with no other errors keeps no
    decision, since that rests on those that go.
    """
    results = []
    for result in report.results:
        made = result.report
        positions = map(report.position_of, made.spans)
        kept = tuple(
            span
            for span, position in zip(made.spans, positions, strict=True)
            if position is None or is_asked(position)
        )
        if len(kept) < len(made.spans):
            if not kept:  # first, as a faulty report must have an error
                made = replace(made, decision=None, basis=None)
            rest = rescored(made, kept, result.aspect.scale)
            made = replace(
                made,
                spans=kept,
                score=rest.score,
                error_probability=rest.error_probability,
            )
        results.append(replace(result, report=made))
    return replace(report, results=tuple(results))


def _failing(
    report: TextReport, kept: TextReport, conditions: Sequence[Condition]
) -> tuple[Result, ...]:
    """Return the results that fail in `kept`, unless all errors that count went from `report`."""
    asked = any(condition.asks_for_unlocated for condition in conditions)
    return tuple(
        result
        for before, result in zip(report.results, kept.results, strict=True)
        if failure_of(result, conditions)
        and (
            len(result.report.spans) == len(before.report.spans)
            or any(asked or not span.hallucinated for span in result.report.spans)
        )
    )


def without_rejected(trajectory: Trajectory, rejections: Sequence[Rejection]) -> Trajectory:
    """Return `trajectory` without what was sent back; its turns keep their numbers.

    Feedback is no source, since it quotes wrong values. Rejected calls, and calls that pass on a
    rejected value, go with the answers after them; their results stay. If the agent passes the
    same wrong value again, the calls stay, too: the results echo the value, which would otherwise
    look as if it came from there.
    """
    turns = [*trajectory.turns]
    for rejection in rejections:
        end = rejection.turns + rejection.answers
        if len(turns) < end:
            raise ConfigError(
                f"got {len(turns)} messages, expected the {end} of the last review and more after"
            )
        rejected = _rejected_calls(turns, rejection)
        later = [call for turn in turns[end:] for call in turn.calls]
        if any(_repeats(call, *earlier) for call in later for earlier in rejected.values()):
            rejected = {}
        for index in range(_first_rejected(turns, rejection) - 1, rejection.turns):
            if turns[index].role == "assistant":
                calls = enumerate(turns[index].calls)
                kept = tuple(call for count, call in calls if (index, count) not in rejected)
                turns[index] = replace(turns[index], text="", calls=kept)
        for index in range(rejection.turns, end):
            # A call that was sent back did not fail, so it is no reason to repeat it.
            turns[index] = replace(turns[index], text="", failed=False)
    return replace(trajectory, turns=tuple(turns))


def _first_rejected(turns: Sequence[Turn], rejection: Rejection) -> int:
    """Return the first turn with an error; without any, the first after the user's last."""
    before = enumerate(turns[: rejection.turns], 1)
    asked = max((number for number, turn in before if turn.role == "user"), default=0)
    return min((position.turn for position in rejection.positions), default=asked + 1)


def _rejected_calls(
    turns: Sequence[Turn], rejection: Rejection
) -> dict[tuple[int, int], tuple[ToolCall, frozenset[str]]]:
    """Return the calls to leave out, by the indices of turn and call, with paths of wrong values.

    They are the marked calls, those that have a wrong value in common with one, and those of the
    last step that were not carried out.
    """
    marked: dict[tuple[int, int], set[str]] = {}
    for position in rejection.positions:
        # The messages may have been edited since, and hold other calls.
        if 0 < position.call <= len(turns[position.turn - 1].calls):
            marked.setdefault((position.turn - 1, position.call - 1), set()).add(position.path)
    wrong = [
        _values(turns[index].calls[count])[path]
        for (index, count), paths in marked.items()
        for path in paths & _values(turns[index].calls[count]).keys()
    ]
    rejected = {}
    waiting = _waiting_calls(turns[: rejection.turns])
    for index in range(_first_rejected(turns, rejection) - 1, rejection.turns):
        for count, call in enumerate(turns[index].calls):
            values = _values(call)
            paths = frozenset(path for path, value in values.items() if value in wrong)
            is_waiting = index == waiting.turn - 1 and count + 1 in waiting.calls
            if paths or is_waiting or (index, count) in marked:
                rejected[index, count] = (call, frozenset() if is_waiting else paths)
    return rejected


def _repeats(call: ToolCall, rejected: ToolCall, paths: frozenset[str]) -> bool:
    """Say whether a call has a value that was rejected in an earlier call of the same tool."""
    values, before = _values(call), _values(rejected)
    return call.name == rejected.name and any(values.get(path) == before[path] for path in paths)


def _values(call: ToolCall) -> dict[str, object]:
    try:
        arguments = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return {}
    return dict(json_leaves(arguments)) if isinstance(arguments, Mapping) else {}


def _reviewed(
    report: TextReport,
    failing: tuple[Result, ...],
    conditions: Sequence[Condition],
    *,
    waiting: _Waiting,
    earlier: tuple[Rejection, ...],
    are_named: bool,
) -> Review:
    template = "feedback_on_calls.txt" if waiting else "feedback_on_turns.txt"
    lacking = unread(report, are_named=are_named)
    trajectory = report.segment.trajectory
    feedback = None
    if failing:
        feedback = feedback_on(replace(report, results=failing), conditions, template=template)
    if feedback is None or trajectory is None:
        return Review(report=report, unread=lacking, rejections=earlier)
    turns = len(trajectory.turns)
    positions = tuple(
        position
        for result in failing
        for span in result.report.spans
        if (position := report.position_of(span)) is not None
    )
    messages: tuple[dict[str, object], ...] = ({"role": "user", "content": feedback},)
    if waiting:
        numbers = (position.call for position in positions if position.call)
        wrong = next(numbers, min(waiting.calls))
        messages = tuple(
            {
                "role": "tool",
                "tool_call_id": call.call_id,
                "content": feedback if number == wrong else _BESIDE,
            }
            for number, call in waiting.calls.items()
        )
    rejection = Rejection(turns=turns, answers=len(messages), positions=positions)
    return Review(
        report=report, messages=messages, unread=lacking, rejections=(*earlier, rejection)
    )
