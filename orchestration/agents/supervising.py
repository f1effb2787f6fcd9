"""The supervision of an agent: it runs again until its panel finds nothing that fails.

It runs on asyncio and on trio, if the agent does.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from inspect import isawaitable
from pathlib import Path
from typing import Any, Generic, TypeVar

from spanjury.judges.core import Aspect, ConfigError, EventLog, check_arguments, kind_of
from spanjury.orchestration.agents.conditions import FAIL_ON, terms_of
from spanjury.orchestration.agents.reviewing import Messages, Review, areview
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.text_repair.versions import Version, is_better
from spanjury.orchestration.services.judging.conversation import Conversation, conversation_of
from spanjury.orchestration.services.judging.panels import Judges, Models, entered
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import check_tools

log = EventLog()

R = TypeVar("R")
"""The result of a run of the agent."""

Run = Callable[[list[Any]], Awaitable[R]]
"""Runs an agent on its messages. They are `Any`, because each library has its own type for them."""


class Ended(StrEnum):
    """The reason why no further attempt was made."""

    PASSED = "passed"
    """Nothing fails in the last attempt."""
    ROUNDS = "rounds"
    """All rounds are used."""
    UNSCORED = "unscored"
    """The panel could not judge the last attempt."""
    FAILED = "failed"
    """A run after the first raised an exception, or its messages could not be reviewed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Generic[R]):
    """One run of the agent, and the review of it.

    Parameters
    ----------
    result
        The return value of the run.
    messages
        All messages up to the end of the run, earlier attempts and feedback included.
    kept
        True if it passed, or the panel finds it better than the best before it.
    """

    result: R
    messages: tuple[object, ...]
    review: Review
    kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervised(Generic[R]):
    """The attempts of an agent, the first one first, and why there are no more.

    `error` is the exception if `ended` is ``failed``.
    """

    attempts: tuple[Attempt[R], ...]
    ended: Ended
    error: Exception | None = None

    @property
    def best(self) -> Attempt[R]:
        """The best attempt by the panel: the last that was kept."""
        return next(attempt for attempt in reversed(self.attempts) if attempt.kept)

    @property
    def result(self) -> R:
        """The return value of the best run."""
        return self.best.result

    @property
    def report(self) -> TextReport:
        """The panel's report on the best attempt."""
        return self.best.review.report


async def asupervise(  # noqa: PLR0913  all but the agent and the messages have defaults
    run: Run[R],
    messages: str | Messages,
    *,
    tools: Sequence[object] = (),
    rounds: int = 2,
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    fail_on: str | Sequence[str] = FAIL_ON,
    aspects_files: Sequence[Path] = (),
) -> Supervised[R]:
    """Run an agent, and send it back with its errors until nothing fails.

    Tools act in every attempt: what a rejected attempt did stays done, unless the agent undoes it.
    So an exception of a later run loses no attempt: the finished ones are returned with it.

    Parameters
    ----------
    run
        Runs the agent on a list of messages. It returns all messages with those given, or an object
        that holds them: a result of OpenAI's SDK or pydantic-ai, or a state with ``messages``.
    messages
        What the user asks, or the messages so far.
    rounds
        How often the agent is sent back at most.
    tools, panel, judges, models, task, aspects, fail_on, aspects_files
        As in `areview`. A result of OpenAI's SDK knows its tools.

    Raises
    ------
    ConfigError
        If a name is unknown, a condition or a tool does not fit, or `run` is not asynchronous or
        returns no messages.
    Exception
        Whatever the first run raises.
    """
    check_arguments(asupervise, locals())
    if rounds < 0:
        raise ConfigError(f"rounds must be 0 or more, got {rounds!r}")
    # Fail before the agent runs: its tools act.
    terms_of(task=task, aspects=aspects, fail_on=fail_on, aspects_files=aspects_files)
    check_tools(tools)
    asked = {"role": "user", "content": messages}
    given: list[object] = [asked] if isinstance(messages, str) else [*messages]
    attempts: list[Attempt[R]] = []
    async with entered(panel, judges=judges, models=models) as opened:
        while True:
            try:
                result, history = await _ran(run, given)
                reviewed = await areview(
                    [*history.instructions, *history.messages],
                    tools=tools or history.tools,
                    after=attempts[-1].review.rejections if attempts else (),
                    panel=opened,
                    task=task,
                    aspects=aspects,
                    fail_on=fail_on,
                    aspects_files=aspects_files,
                )
            except Exception as error:  # user code, which may raise anything
                if not attempts:
                    raise
                log.warning("agent.run_failed", attempt=len(attempts) + 1, error=kind_of(error))
                return Supervised(attempts=tuple(attempts), ended=Ended.FAILED, error=error)
            kept = _is_best(reviewed, attempts)
            attempts.append(
                Attempt(result=result, messages=(*history.messages,), review=reviewed, kept=kept)
            )
            if ended := _end(reviewed, is_last=len(attempts) > rounds):
                return Supervised(attempts=tuple(attempts), ended=ended)
            given = [*history.messages, *reviewed.messages]


def _is_best(review: Review, attempts: Sequence[Attempt[R]]) -> bool:
    """Return whether a review passes, or is better than that of the last attempt that was kept."""
    best = next((attempt for attempt in reversed(attempts) if attempt.kept), None)
    return best is None or review.passed or is_better(_version(review), _version(best.review))


async def _ran(run: Run[R], given: list[object]) -> tuple[R, Conversation]:
    running = run(given)
    if not isawaitable(running):
        raise ConfigError("the agent must be an asynchronous function of its messages")
    result = await running
    return result, conversation_of(result)


def _version(reviewed: Review) -> Version:
    return Version(segment=reviewed.report.segment, results=reviewed.report.results)


def _end(reviewed: Review, *, is_last: bool) -> Ended | None:
    if reviewed.passed:
        return Ended.PASSED
    if not reviewed.messages:
        return Ended.UNSCORED
    return Ended.ROUNDS if is_last else None
