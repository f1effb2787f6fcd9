"""Repair one text: take the text, its source, the judges and the writer, a model or an agent.

An agent is a function of messages, as for `asupervise`. A plain text is presented to it as a
conversation: the inputs of the text, the text, and the errors.
"""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from inspect import isawaitable
from pathlib import Path
from pkgutil import resolve_name

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ConfigError,
    JudgeError,
    Trajectory,
    Turn,
    Usage,
    check_arguments,
    counted,
    signature,
)
from spanjury.judges.core.lazy import lazily
from spanjury.judges.core.transcript import position_in, segment_of
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.text_repair import loop
from spanjury.orchestration.engine.text_repair.loop import Repaired, Rewriting, Stopped, Writer
from spanjury.orchestration.engine.text_repair.places import Marked, SpanEdit
from spanjury.orchestration.engine.text_repair.versions import Version
from spanjury.orchestration.services.judging.agent_reports import feedback_on
from spanjury.orchestration.services.judging.check import Source, request_of
from spanjury.orchestration.services.judging.conversation import conversation_of
from spanjury.orchestration.services.judging.panels import Judges, Models, entered
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.studies.failing.conditions import parse_condition
from spanjury.orchestration.wiring.config import EMBEDDED, ModelConfig, PanelConfig
from spanjury.orchestration.wiring.models import open_generator
from spanjury.orchestration.wiring.sources import as_trajectory, trajectory_row

with lazily():
    from spanjury.orchestration.engine.text_repair import agent_writer

WriterModel = str | ModelConfig | ChatModel | Writer
"""The name of a model, as ``ollama/gemma2:27b``; an open model; or your own writer."""
Agent = Callable[[list[object]], Awaitable[object]]
"""Runs an agent on messages in OpenAI's format; returns all messages or an object with them."""

_ANY_ERROR = parse_condition("spans>=1")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRound:
    """One version of the text, with the panel's report on it.

    Parameters
    ----------
    edits
        The changes from the best version before; none for the original text.
    kept
        Whether the version was better than the best version before it.
    """

    report: TextReport
    edits: tuple[SpanEdit, ...] = ()
    kept: bool = True

    @property
    def text(self) -> str:
        """The text of this version."""
        return self.report.text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Repair:
    """A repaired text and its history.

    Parameters
    ----------
    rounds
        The original text, then each version that was tried.
    stopped, reason
        Why the repair ended; `reason` is a sentence if something failed.
    left
        The errors that are still marked in the best version, including those without offsets.
    usage
        The writer's spending.
    """

    rounds: tuple[RepairRound, ...]
    stopped: Stopped
    reason: str = ""
    left: tuple[Marked, ...] = ()
    usage: Usage = Usage()

    @property
    def best(self) -> RepairRound:
        """The best version by the panel: the last one that was kept."""
        return next(repaired for repaired in reversed(self.rounds) if repaired.kept)

    @property
    def text(self) -> str:
        """The text of the best version."""
        return self.best.text

    @property
    def report(self) -> TextReport:
        """The panel's report on the best version."""
        return self.best.report

    @property
    def edits(self) -> tuple[SpanEdit, ...]:
        """The edits of all kept versions, one version after the other."""
        return tuple(edit for repaired in self.rounds if repaired.kept for edit in repaired.edits)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON: text, stopped, reason, rounds with edits and reports."""
        return {
            "text": self.text,
            "stopped": self.stopped.value,
            "reason": self.reason,
            "rounds": [
                {
                    "kept": repaired.kept,
                    "edits": [
                        {"start": e.start, "end": e.end, "before": e.before, "after": e.after}
                        for e in repaired.edits
                    ],
                    "report": repaired.report.to_dict(),
                }
                for repaired in self.rounds
            ],
        }

    def __repr__(self) -> str:
        """Return the change of the decision, the number of edits and why the repair ended."""
        before, after = (repaired.report.decision for repaired in (self.rounds[0], self.best))
        edits = counted(len(self.edits), "edit")
        return f"<Repair: {before} to {after}, {edits}, {self.stopped.value}>"


async def arepair(  # noqa: PLR0913  all but text and model have defaults
    text: str,
    *,
    model: WriterModel,
    source: Source | None = None,
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    rounds: int = 3,
    limits: Limits = Limits(),
    aspects_files: Sequence[Path] = (),
) -> Repair:
    """Have a model correct a text inside its error spans, and keep the best version.

    Everything outside the spans stays unchanged, except for blanks and full stops around a
    deletion. A version is kept if the panel finds it better: by the decision, then by errors and
    their severity, then by score. A failure ends the repair with the best version so far.

    Parameters
    ----------
    text
        The text to repair.
    model
        Writes the replacements for the spans; called once a round.
    source, task, aspects, aspects_files
        As in `check`; aspects on which the panel abstains are not repaired.
    panel, judges, models
        As in `check`: the panel that marks the errors.
    rounds
        The largest number of rounds.
    limits
        Tokens of judges and writer together, and seconds; no round begins beyond them.

    Raises
    ------
    ConfigError
        If a name is unknown or parameters contradict each other.
    UnusableModelError
        If the model cannot be called at all, for example because of a wrong key.
    """
    check_arguments(arepair, locals())
    if rounds < 1:
        raise ConfigError(f"rounds must be 1 or more, got {rounds!r}")
    if limits.max_cost is not None:
        raise ConfigError("the cost of a repair cannot be limited: limit tokens or seconds")
    request = request_of(
        text, source=source, task=task, aspects=aspects, aspects_files=aspects_files
    )
    opening = entered(panel, judges=judges, models=models)
    async with opening as opened, open_writer(model) as writer:
        done = await loop.repair(
            request.segment,
            request.aspects,
            panel=opened,
            writer=writer,
            rounds=rounds,
            limits=limits,
        )
    return repair_of(done)


@asynccontextmanager
async def open_writer(model: WriterModel) -> AsyncIterator[Writer]:
    """Open a writer; a model or a writer that is already open stays open.

    Raise `ConfigError` if nothing can open a model of that name.
    """
    if isinstance(model, str | ModelConfig):
        model = ModelConfig.of(model)
        async with open_generator(model, memory=None, meter=Meter()) as opened:
            yield writer_of(opened, name=model.name)
    elif isinstance(model, Writer):
        yield model
    elif isinstance(model, ChatModel):
        yield writer_of(model)
    else:
        raise ConfigError(
            f"{type(model).__name__} is no model or writer: expected a model's name, an open model,"
            " or your own writer with the property `signature` and the method `replacements`"
        )


def writer_of(model: ChatModel, *, name: str = "") -> Writer:
    """Return a writer that uses `model`; a grammar constrains the replies of the embedded model."""
    return agent_writer.AgentWriter(model=model, grammar=name == EMBEDDED)


def repair_of(done: Repaired) -> Repair:
    """Convert the result of the loop to a repair with reports for users."""
    return Repair(
        rounds=tuple(
            RepairRound(
                report=TextReport(segment=version.segment, results=version.results),
                edits=version.edits,
                kept=version.kept,
            )
            for version in done.versions
        ),
        stopped=done.stopped,
        reason=done.reason,
        left=done.left,
        usage=done.usage,
    )


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
            inputs = "\n\n".join(f"{header}:\n{text}" for header, text in segment.inputs.items())
            asked = (Turn(role="user", text=inputs), Turn(role="assistant", text=segment.output))
            turns = await self._answer(Trajectory(turns=asked), _errors(version))
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


def _request(version: Version, trajectory: Trajectory) -> tuple[int, int]:
    """Return the half-open range of the agent's turns on the request with the first error."""
    positions = [position_in(version.segment, error.span) for error in version.errors]
    turns = (position.turn for position in positions if position)
    first = min(turns, default=len(trajectory.turns)) - 1
    users = [index for index, turn in enumerate(trajectory.turns) if turn.role == "user"]
    begin = max((index + 1 for index in users if index < first), default=0)
    return begin, min((index for index in users if index > first), default=len(trajectory.turns))
