"""Judge a text while it is written: each sentence once it ends, the whole text at the end.

A sentence is judged together with the text before it (`Segment.before`), up to a fixed length: so
the work grows linearly with the text, not quadratically. Nothing runs between two events: if the
caller takes no more events, no more text is read and no more sentences are judged.
"""

from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from inspect import isawaitable
from pathlib import Path
from typing import Literal

from anyio import move_on_after
from anyio.lowlevel import checkpoint

from spanjury.judges.core import Aspect, ConfigError, Decision, ErrorSpan, check_arguments
from spanjury.judges.text.sentences import GrowingText, Sentence
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.check import (
    Request,
    RubricLike,
    Source,
    judge,
    request_of,
)
from spanjury.orchestration.services.judging.panels import Judges, Models, entered
from spanjury.orchestration.services.judging.synchronous import synchronous_iterator
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.results import result_row

Tokens = str | Iterable[str] | AsyncIterable[str]
"""Pieces of a text in order, of any length; an empty piece signals that the text pauses."""
Judging = Callable[[Request], Awaitable[TextReport]]
"""A function that judges a text on the aspects of its request, as `judge` does with a panel."""
StopWhen = Literal["faulty", "unsure"]
"""Decision on a sentence that stops a stream; ``unsure`` includes ``faulty``."""

_STOPS = {
    "faulty": frozenset({Decision.FAULTY}),
    "unsure": frozenset({Decision.FAULTY, Decision.UNSURE}),
}
_KINDS = frozenset(("grounding", "form"))
"""Kinds of aspects on which a sentence can fail alone; other kinds judge only the whole text."""
_KEYS = ("aspect", "score", "outcome", "reason", "decision", "error_probability", "spans")
"""Keys of a result row that the row of a sentence has."""
_REACH = 1_000
"""Most code points before a sentence that judges read."""
_CLOSING = 5.0
"""Seconds that the source of a text may take to close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """A piece of the text, passed on unchanged before any of it is judged.

    Parameters
    ----------
    start
        Offset of its first code point in the text.
    """

    text: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSentence:
    """A finished sentence, with the panel's report on it.

    Parameters
    ----------
    start, end
        Half-open offsets in code points of the text.
    report
        The report on the sentence, with offsets in the sentence. None if it was not judged: it is a
        block of code, or no aspect judges sentences.
    """

    start: int
    end: int
    text: str
    report: TextReport | None

    @property
    def spans(self) -> tuple[ErrorSpan, ...]:
        """Its errors, with offsets in the text."""
        spans = () if self.report is None else self.report.spans
        return tuple(span.moved(self.start) for span in spans)

    @property
    def decision(self) -> Decision | None:
        """The most severe decision on any aspect; None if the sentence was not judged."""
        return None if self.report is None else self.report.decision

    @property
    def error_probability(self) -> float | None:
        """The highest probability of an error on any aspect, 0 to 1; None if none is stated."""
        reports = () if self.report is None else self.report.reports.values()
        stated = (report.error_probability for report in reports)
        return max((share for share in stated if share is not None), default=None)

    def to_dict(self) -> dict[str, object]:
        """Return plain values for JSON: the offsets, the decision, and a short row for each aspect.

        The spans of a row have their offsets in the text.
        """
        rows = []
        for result in () if self.report is None else self.report.results:
            spans = tuple(span.moved(self.start) for span in result.report.spans)
            row = result_row(replace(result, report=replace(result.report, spans=spans)))
            rows.append({key: row[key] for key in _KEYS})
        return {
            "start": self.start,
            "end": self.end,
            "text": self.text,
            "decision": self.decision.value if self.decision else None,
            "error_probability": self.error_probability,
            "results": rows,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamEnd:
    """The end of the text, with the report on all of it.

    Parameters
    ----------
    report
        The report that `check` makes on the whole text, which replaces those on the sentences. If
        the stream was stopped, the text ends with the sentence that stopped it.
    stopped_by
        That sentence; None if the text was complete.
    """

    report: TextReport
    stopped_by: JudgedSentence | None = None


StreamEvent = TextPiece | JudgedSentence | StreamEnd
"""An event of a text that is judged while it is written."""


def astream(  # noqa: PLR0913  all but the text have defaults
    tokens: Tokens,
    *,
    source: Source | None = None,
    question: str | None = None,
    stop_when: StopWhen | None = None,
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    rubric: RubricLike | None = None,
    references: str | Sequence[str] = (),
    segment_id: str = "",
    system: str = "",
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    aspects_files: Sequence[Path] = (),
) -> AsyncGenerator[StreamEvent, None]:
    """Judge a text while it is written.

    Sentences are judged on the aspects of the kinds ``"grounding"`` and ``"form"``. Their reports
    are provisional; the last event has the report on the whole text, as `acheck` makes it.

    Parameters
    ----------
    tokens
        The pieces of the text, as a model sends them. The next piece is requested together with its
        event. A plain iterable is read in the event loop, and should not block it. An empty piece
        signals that the text pauses: a sentence that already has its full stop is then judged at
        once.
    stop_when
        ``"faulty"`` to stop after the first sentence with this decision: no more is read, and
        `tokens` is closed. ``"unsure"`` to stop after a faulty or unsure one. None to go on.
    source, question, task, aspects, rubric, references, segment_id, system, aspects_files
        As in `request_of`.
    panel
        An open panel, which stays open and is faster; or as in `acheck`.
    judges, models
        As in `open_panel`, instead of a panel. Judges that use a model call it for each sentence,
        and the text waits for them.

    Yields
    ------
    TextPiece or JudgedSentence or StreamEnd
        Each piece, before the sentences that end in it; one `StreamEnd` at the end.

    Raises
    ------
    ConfigError
        At once if a name is unknown or parameters contradict each other; in the loop if a piece is
        not a string.
    Exception
        Any exception of `tokens`, unchanged. However the loop ends, `tokens` is closed.

    Examples
    --------
    ::

        async with aclosing(astream(tokens, source=article, stop_when="faulty")) as events:
            async for event in events:
                match event:
                    case TextPiece(text=text):
                        print(text, end="")
                    case JudgedSentence(decision="faulty", spans=spans):
                        print(spans)
    """
    check_arguments(astream, locals())
    requested = partial(
        request_of,
        source=source,
        question=question,
        task=task,
        aspects=aspects,
        rubric=rubric,
        references=references,
        segment_id=segment_id,
        system=system,
        aspects_files=aspects_files,
    )
    opening = _judging(entered(panel, judges=judges, models=models))
    return stream_requested(tokens, opening, requested, stop_when=stop_when)


stream = synchronous_iterator(
    astream,
    name="stream",
    doc="""Judge a text while it is written, from code that is not asynchronous.

    `astream` explains the parameters. A plain iterable, as the stream of a client that is not
    asynchronous, is read in another thread. Closing the generator closes it.

    Examples
    --------
    >>> events = stream(["It opened ", "in 1935. It"], source="It opened in 1932.",
    ...                 judges=["grounding"], stop_when="faulty")
    >>> [event.text for event in events if isinstance(event, JudgedSentence)]
    ['It opened in 1935.']
    """,
)


@asynccontextmanager
async def _judging(opening: AbstractAsyncContextManager[Panel]) -> AsyncIterator[Judging]:
    async with opening as panel:
        yield partial(judge, panel)


def stream_requested(
    tokens: Tokens,
    opening: AbstractAsyncContextManager[Judging],
    requested: Callable[[str], Request],
    *,
    stop_when: StopWhen | None = None,
) -> AsyncGenerator[StreamEvent, None]:
    """Judge a text while it is written, as `astream` does.

    `opening` opens a function that judges each sentence and then the whole text; `requested`
    returns the request for a text.
    """
    whole = requested("")
    kinds = (aspect for aspect in whole.aspects if aspect.kind in _KINDS)
    sentence_request = replace(
        whole, aspects=tuple(aspect for aspect in kinds if not aspect.criteria)
    )
    if stop_when is not None and not sentence_request.aspects:
        raise ConfigError(
            "stop_when needs an aspect on which a sentence can be judged alone: its kind is"
            " 'grounding' or 'form'"
        )
    stops = _STOPS[stop_when] if stop_when else frozenset()
    return _events(tokens, opening, requested, sentence_request=sentence_request, stops=stops)


async def _events(
    tokens: Tokens,
    opening: AbstractAsyncContextManager[Judging],
    requested: Callable[[str], Request],
    *,
    sentence_request: Request,
    stops: frozenset[Decision],
) -> AsyncGenerator[StreamEvent, None]:
    pieces: list[str] = []
    stopped_by: JudgedSentence | None = None
    async with aclosing(_Pieces(tokens)) as source, opening as judging:
        async with aclosing(_judged_pieces(source, judging, sentence_request)) as events:
            async for event in events:
                if isinstance(event, TextPiece):
                    pieces.append(event.text)
                yield event
                if isinstance(event, JudgedSentence) and event.decision in stops:
                    stopped_by = event
                    break
        await source.aclose()  # its producer need not wait for the last report
        text = "".join(pieces)[: stopped_by.end if stopped_by else None]
        report = await judging(requested(text))
        yield StreamEnd(report=report, stopped_by=stopped_by)


async def _judged_pieces(
    pieces: AsyncIterable[str], judging: Judging, request: Request
) -> AsyncGenerator[TextPiece | JudgedSentence, None]:
    """Yield each piece, followed by the judged sentences that end in it."""
    text, context = GrowingText(), _Context()
    start = 0
    async for piece in pieces:
        if not isinstance(piece, str):
            raise ConfigError(f"a piece of the text is a str, got {type(piece).__name__}")
        if piece:
            yield TextPiece(text=piece, start=start)
        start += len(piece)
        context.add(piece)
        for sentence in text.add(piece) if piece else text.pause():
            yield await _judged(sentence, judging, request, before=context.before(sentence))
    for sentence in text.end():
        yield await _judged(sentence, judging, request, before=context.before(sentence))


async def _judged(
    sentence: Sentence, judging: Judging, request: Request, *, before: str
) -> JudgedSentence:
    report = None
    if request.aspects and not sentence.is_code:
        segment = replace(
            request.segment,
            segment_id=f"{request.segment.segment_id}-{sentence.start}",
            output=sentence.text,
            before=before,
        )
        report = await judging(replace(request, segment=segment))
    return JudgedSentence(start=sentence.start, end=sentence.end, text=sentence.text, report=report)


class _Context:
    """The end of a growing text, which provides the sentences before the next one."""

    def __init__(self) -> None:
        self._text = ""
        self._start = 0
        self._starts = deque[int]()
        """Offsets of the sentences that begin in `_text`, up to the last one given to `before`."""

    def add(self, piece: str) -> None:
        """Append the next piece of the text."""
        self._text += piece

    def before(self, sentence: Sentence) -> str:
        """Return the sentences before `sentence`, as many as `_REACH` allows."""
        starts = self._starts
        starts.append(sentence.start)
        while starts[0] < sentence.start - _REACH:
            starts.popleft()
        self._text, self._start = self._text[starts[0] - self._start :], starts[0]
        return self._text[: sentence.start - self._start]


class _Pieces:
    """The pieces of a text; `aclose` closes their source, finished or not."""

    def __init__(self, tokens: Tokens) -> None:
        if isinstance(tokens, AsyncIterable):
            self._pieces = aiter(tokens)
            self._open: list[object] = [self._pieces, tokens]
        else:
            pieces = iter((tokens,) if isinstance(tokens, str) else tokens)
            self._pieces = _in_loop(pieces)
            self._open = [self._pieces, pieces, tokens]

    def __aiter__(self) -> AsyncIterator[str]:
        return self._pieces

    async def aclose(self) -> None:
        """Close each part once; a part that does not close in time is abandoned."""
        with move_on_after(_CLOSING, shield=True):
            while self._open:
                await _close(self._open.pop(0))


async def _in_loop(pieces: Iterator[str]) -> AsyncIterator[str]:
    for piece in pieces:
        await checkpoint()
        yield piece


async def _close(source: object) -> None:
    """Close a generator or a client's stream by `aclose` or `close`; ignore other objects."""
    close = getattr(source, "aclose", None) or getattr(source, "close", None)
    if callable(close):
        closing = close()
        if isawaitable(closing):
            await closing
