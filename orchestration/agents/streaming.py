"""The text of an agent, judged while the agent writes it."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Generic, Never, TypeVar, cast

from anyio import move_on_after
from pydantic_ai import AgentRunEvents
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolReturnPart,
)
from pydantic_ai.result import StreamedRunResult

from spanjury.judges.core import Aspect, check_arguments
from spanjury.judges.core.transcript import inputs_of
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.agent_reports import TextCheck, TextComparison
from spanjury.orchestration.services.judging.check import Source
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.stream import (
    JudgedSentence,
    StopWhen,
    StreamEnd,
    StreamEvent,
    Tokens,
    astream,
)
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.sources import as_trajectory

StreamedReply = StreamedRunResult[Never, object]
"""The last reply of any agent, whatever its dependencies and its output are."""
R = TypeVar("R", bound=StreamedReply | AgentRunEvents[object])

Judged = Callable[[Tokens, Sequence[ModelMessage]], AsyncGenerator[StreamEvent, None]]
"""Judges the pieces of a reply, with the messages before it."""

_CLOSING = 5.0
"""Seconds that a run may take to end."""


class JudgedRun(AsyncIterator[StreamEvent], Generic[R]):
    """A run of an agent, and the events of its text as an asynchronous iterator.

    Parameters
    ----------
    run
        The running run of pydantic-ai, with its messages, its usage and, at its end, its result.
    """

    def __init__(self, run: R, events: AsyncGenerator[StreamEvent, None]) -> None:
        self.run = run
        self._events = events
        self._findings: list[JudgedSentence] = []

    @property
    def findings(self) -> tuple[JudgedSentence, ...]:
        """The sentences with errors so far."""
        return tuple(self._findings)

    async def __anext__(self) -> StreamEvent:
        """Return the next event; the agent writes on until it is there."""
        event = await anext(self._events)
        if isinstance(event, JudgedSentence) and event.spans:
            self._findings.append(event)
        return event


@asynccontextmanager
async def jury_stream(  # noqa: PLR0913  all but the run have defaults
    run: AbstractAsyncContextManager[R],
    panel: Panel | PanelConfig | Path | str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    *,
    judges: Judges = (),
    models: Models = (),
    source: Source | None = None,
    question: str | None = None,
    stop_when: StopWhen | None = None,
    task: str | None = None,
    aspects_files: Sequence[Path] = (),
) -> AsyncIterator[JudgedRun[R]]:
    """Run an agent, and yield the events of its text, as `astream` does.

    Parameters
    ----------
    run
        The run to begin: what ``agent.run_stream_events(…)`` returns, with all replies of the
        agent, each of which has its own `StreamEnd`; or what ``agent.run_stream(…)`` returns, with
        the last reply alone.
    panel
        An open panel, which is quicker, or a description of one; None for the offline judges.
    source
        What the text must agree with. None for the messages before a reply, if tools returned
        something: their results, the instructions and the user's turns.
    stop_when
        ``"faulty"`` to cancel the run after the first sentence with this decision, ``"unsure"`` to
        do so after a faulty or unsure one; None to let the agent finish.
    question, aspects, judges, models, task, aspects_files
        As in `check`.

    Raises
    ------
    ConfigError
        If a name is unknown or something does not fit together.
    pydantic_ai.exceptions.UserError
        If the output of an agent that ``run_stream`` runs is no text.

    Examples
    --------
    ::

        run = agent.run_stream_events("Which table is free?")
        async with jury_stream(run, stop_when="faulty") as events:
            async for event in events:
                if isinstance(event, JudgedSentence):
                    print(event.decision, event.text)
        print(events.findings)
    """
    check_arguments(jury_stream, locals())

    def judged(
        pieces: Tokens, messages: Sequence[ModelMessage]
    ) -> AsyncGenerator[StreamEvent, None]:
        return astream(
            pieces,
            source=source or _given(messages),
            question=question,
            stop_when=stop_when,
            task=task,
            aspects=aspects,
            panel=panel,
            judges=judges,
            models=models,
            aspects_files=aspects_files,
        )

    async with run as running:
        if isinstance(running, StreamedRunResult):
            events = judged(_pieces(running), running.all_messages())
        else:
            judged("", ())  # so a wrong name is an error before the agent begins
            events = _replies(running, judged)
        async with aclosing(events):
            yield JudgedRun(running, events)


async def _pieces(reply: StreamedReply) -> AsyncGenerator[str, None]:
    """Yield the text as the model sends it; cancel the response if it is not read to its end."""
    async with AsyncExitStack() as unread:
        unread.push_async_callback(reply.cancel)
        text = reply.stream_text(delta=True, debounce_by=None)
        # It is a generator, whatever its type says, and has to be closed.
        async with aclosing(cast("AsyncGenerator[str, None]", text)) as pieces:
            async for piece in pieces:
                yield piece
        unread.pop_all()


async def _replies(
    run: AgentRunEvents[object], judged: Judged
) -> AsyncGenerator[StreamEvent, None]:
    """Yield the events of each reply of a run, which is judged by the messages before it."""
    async with aclosing(_texts(run)) as texts:
        async for text in texts:
            if text:
                reply = _reply(run, text, texts)
                async with aclosing(judged(reply, run.all_messages())) as events:
                    async for event in events:
                        if isinstance(event, StreamEnd) and event.stopped_by:
                            await run.aclose()  # a stop by the last sentence of a reply
                        yield event


async def _reply(
    run: AgentRunEvents[object], first: str, texts: AsyncGenerator[str | None, None]
) -> AsyncGenerator[str, None]:
    """Yield the pieces of one reply; cancel the run if it is not read to its end."""
    is_read = False
    try:
        yield first
        async for text in texts:
            if text is None:
                break
            yield text
        is_read = True
    finally:
        if not is_read:
            with move_on_after(_CLOSING, shield=True):
                await run.aclose()


async def _texts(run: AgentRunEvents[object]) -> AsyncGenerator[str | None, None]:
    """Yield the texts of a run in pieces, and None where a reply ends.

    It ends before a call of a tool, so that the call of a run that is stopped is not carried out.
    """
    async for event in run:
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                yield text
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                yield text
            case PartEndEvent(next_part_kind=None | "tool-call"):
                yield None


def _given(messages: Sequence[ModelMessage]) -> Source | None:
    """Return what an agent was given, if tools are among those who gave it.

    Reports of a jury's tools are no source, since they quote wrong words.
    """
    kept = [
        replace(
            message,
            parts=[
                part
                for part in message.parts
                if not isinstance(getattr(part, "metadata", None), TextCheck | TextComparison)
            ],
        )
        if isinstance(message, ModelRequest)
        else message
        for message in messages
    ]
    if not any(isinstance(part, ToolReturnPart) for message in kept for part in message.parts):
        return None
    inputs = inputs_of(as_trajectory(kept))
    return [{"id": header, "text": text} for header, text in inputs.items()]
