"""An agent as the writer of a repair: it receives its errors and answers again.

An agent is a function of messages, as for `asupervise`. A plain text is presented to it as a
conversation: the inputs of the text, the text, and the errors.
"""

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from inspect import isawaitable
from pathlib import Path
from pkgutil import resolve_name

from spanjury.judges.core import ConfigError, JudgeError, Segment, Trajectory, Turn, signature
from spanjury.judges.core.transcript import position_in, segment_of
from spanjury.orchestration.engine.text_repair.loop import Rewriting
from spanjury.orchestration.engine.text_repair.versions import Version
from spanjury.orchestration.services.judging.agent_reports import feedback_on
from spanjury.orchestration.services.judging.conversation import conversation_of
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import parse_condition
from spanjury.orchestration.wiring.sources import as_trajectory, trajectory_row

Agent = Callable[[list[object]], Awaitable[object]]
"""Runs an agent on messages in OpenAI's format; returns all messages or an object with them."""

_ANY_ERROR = parse_condition("spans>=1")


def agent_named(agent: Agent | str) -> Agent:
    """Return the function named by ``module:function``; the module may be in the working folder.

    Raise `ConfigError` if there is no such function.
    """
    if not isinstance(agent, str):
        return agent
    if "" not in sys.path and (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        function: object = resolve_name(agent)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"the agent {agent!r} is not to be had: {error}") from error
    if ":" not in agent or not callable(function):
        raise ConfigError(f"an agent is named as module:function, got {agent!r}")
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRewriter:
    """Has an agent correct all errors of a version.

    The agent receives the messages up to the end of its work on the user request with the first
    error, followed by the errors as a user message. Its answer replaces its turns on that request.
    It may instead return the messages corrected, without the error message.
    """

    agent: Agent

    @property
    def signature(self) -> str:
        """The name of the function; nothing else of it is known."""
        function = self.agent
        name = getattr(function, "__qualname__", type(function).__qualname__)
        return signature("agent", function=f"{function.__module__}:{name}")

    async def rewritten(self, version: Version) -> Rewriting:
        """Return `version` as corrected by the agent.

        Raise `JudgeError` if the agent fails, and `ConfigError` if it returns no messages.
        """
        segment = version.segment
        trajectory = segment.trajectory
        if trajectory is None:
            turns = await self._answer(_as_conversation(segment), _errors(version))
            text = next((turn.text for turn in reversed(turns) if turn.role == "assistant"), "")
            return Rewriting(segment=replace(segment, output=text))
        begin, end = _request(version, trajectory)
        errors = _errors(version)
        made = await self._answer(replace(trajectory, turns=trajectory.turns[:end]), errors)
        is_continued = len(made) > end and made[end].text == errors
        new = made[end + 1 if is_continued else begin :]
        turns = (*trajectory.turns[:begin], *new, *trajectory.turns[end:])
        return Rewriting(segment=segment_of(replace(trajectory, turns=turns), segment))

    async def _answer(self, asked: Trajectory, errors: str) -> tuple[Turn, ...]:
        """Return the turns of the conversation after the agent received the errors."""
        messages = trajectory_row(asked)["messages"]
        assert isinstance(messages, list)
        running = self.agent([*messages, {"role": "user", "content": errors}])
        if not isawaitable(running):
            raise ConfigError("the agent must be an asynchronous function of its messages")
        try:
            result = await running
        except Exception as error:  # user code, which may raise anything
            raise JudgeError(f"the agent failed: {error!r}") from error
        return as_trajectory(conversation_of(result).messages).turns


def _errors(version: Version) -> str:
    """Return the feedback on a version with errors."""
    report = TextReport(segment=version.segment, results=version.results)
    template = "feedback_on_turns.txt" if version.segment.trajectory else "feedback.txt"
    return feedback_on(report, [_ANY_ERROR], template=template) or ""


def _as_conversation(segment: Segment) -> Trajectory:
    """Return a text as the answer to a request that contains its inputs."""
    given = "\n\n".join(f"{header}:\n{text}" for header, text in segment.inputs.items())
    return Trajectory(
        turns=(Turn(role="user", text=given), Turn(role="assistant", text=segment.output))
    )


def _request(version: Version, trajectory: Trajectory) -> tuple[int, int]:
    """Return the half-open range of the agent's turns on the request with the first error."""
    positions = [position_in(version.segment, error.span) for error in version.errors]
    first = min(position.turn for position in positions if position) - 1
    users = [index for index, turn in enumerate(trajectory.turns) if turn.role == "user"]
    begin = max((index + 1 for index in users if index < first), default=0)
    return begin, min((index for index in users if index > first), default=len(trajectory.turns))
