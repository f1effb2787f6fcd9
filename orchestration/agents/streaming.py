"""The text of an agent, judged while the agent writes it."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path
from typing import TypeVar, cast

from pydantic_ai.result import StreamedRunResult

from spanjury.judges.core import Aspect
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.check import Source
from spanjury.orchestration.services.judging.stream import StopWhen, StreamEvent, astream
from spanjury.orchestration.wiring.config import PanelConfig

D = TypeVar("D")
T = TypeVar("T")


@asynccontextmanager
async def jury_stream(
    run: AbstractAsyncContextManager[StreamedRunResult[D, T]],
    panel: Panel | PanelConfig | Path | str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    *,
    source: Source | None = None,
    stop_when: StopWhen | None = None,
    task: str | None = None,
    aspects_files: Sequence[Path] = (),
) -> AsyncIterator[AsyncGenerator[StreamEvent, None]]:
    """Run an agent, and yield the events of its text, as `astream` does.

    Parameters
    ----------
    run
        The run to begin: what ``agent.run_stream(…)`` returns.
    panel
        An open panel, which is quicker, or a description of one; None for the offline judges.
    source
        What the text must agree with.
    stop_when
        ``"faulty"`` to cancel the model's response after the first sentence with this decision,
        ``"unsure"`` to do so after a faulty or unsure one; None to let the model finish.
    aspects, task, aspects_files
        As in `check`.

    Raises
    ------
    ConfigError
        If a name is unknown or something does not fit together.
    pydantic_ai.exceptions.UserError
        If the output of the agent is no text.

    Examples
    --------
    ::

        async with jury_stream(agent.run_stream("Summarise it."), source=article) as events:
            async for event in events:
                if isinstance(event, JudgedSentence):
                    print(event.decision, event.text)
    """
    async with run as result:
        events = astream(
            _pieces(result),
            source=source,
            stop_when=stop_when,
            task=task,
            aspects=aspects,
            panel=panel,
            aspects_files=aspects_files,
        )
        async with aclosing(events):
            yield events


async def _pieces(result: StreamedRunResult[D, T]) -> AsyncGenerator[str, None]:
    """Yield the text as the model sends it; cancel the response if it is not read to its end."""
    is_read = False
    try:
        text = result.stream_text(delta=True, debounce_by=None)
        # It is a generator, whatever its type says, and has to be closed.
        async with aclosing(cast("AsyncGenerator[str, None]", text)) as pieces:
            async for piece in pieces:
                yield piece
        is_read = True
    finally:
        if not is_read:
            await result.cancel()
