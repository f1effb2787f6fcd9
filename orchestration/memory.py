"""Judges and models that remember what they said: resuming a run is running it again.

Both stand in front of any judge or model and before any `Memory`. Whatever can change an
answer is in its key, so a changed prompt, aspect, model or decoding misses what was said
before, and nothing else does.
"""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain

from anyio import Lock

from spanjury.judges.core import (
    Aspect,
    ChatModel,
    ChatRequest,
    Judge,
    JudgeError,
    Memory,
    ModelError,
    Outcome,
    ParseError,
    PermanentModelError,
    Reply,
    Report,
    Segment,
)
from spanjury.orchestration.memory_codec import read_reply, read_report, written

__all__ = ["FAILED", "UNANSWERED", "RememberedJudge", "RememberedModel", "SilentModel"]

UNANSWERED = frozenset({Outcome.TIMED_OUT, Outcome.BACKEND_FAILED})
"""Nobody answered: to ask again pays nothing twice."""

FAILED = frozenset(Outcome) - {Outcome.SCORED, Outcome.ABSTAINED}
"""A judge should have scored and did not."""

_LAYOUT = b"1"
"""Raised when keys or values change: what was written the old way is then not found."""

_MOST_ASPECTS = 1000
"""How many aspects a judge keeps as text, should each segment come with its own."""


@dataclass(frozen=True, slots=True)
class RememberedJudge:
    """A judge that is asked once for every segment and aspect, whatever the run.

    What it reports is kept, and so is an error that it raises: as the unscored report
    that a panel makes of it. Nothing is kept of what is no plain `Report` (a panel's:
    its seats remember theirs), of other exceptions, and of a cancelled assessment.

    Two alike segments under way at once are asked for once: the second waits for the
    first.

    Parameters
    ----------
    judge
        Who is asked for what is not remembered. It must judge by the output, inputs,
        references, system and task of a segment only: the rest is not in the key.
    memory
        Where reports are kept.
    place
        Tells apart judges of one signature on one panel, each of which has a say of its
        own; empty for the first of them.
    again
        Outcomes that are asked for again although they are remembered: `UNANSWERED`
        when a run is resumed, `FAILED` when failures are to be tried again, none when no
        call may be paid.
    """

    judge: Judge
    memory: Memory
    _: KW_ONLY
    place: str = ""
    again: frozenset[Outcome] = UNANSWERED
    signature: str = field(init=False)
    _turns: "_Turns" = field(init=False, repr=False)
    _aspects: "_Aspects" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", self.judge.signature)  # the dataclass is frozen
        object.__setattr__(self, "_turns", _Turns())
        object.__setattr__(self, "_aspects", _Aspects())

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return what the judge said of it, or says now.

        Raises
        ------
        JudgeError, ModelError
            As the judge raised it, the first time.
        StoreError
            If the memory cannot be read or written.
        """
        key = self._key(segment, aspect)
        if (known := self._recalled(key)) is not None:
            return known
        async with self._turns.one(key):
            if (known := self._recalled(key)) is not None:
                return known
            outer = _ASSESSMENT.set(_Assessment(place=self.place, anew=self._was_answered(key)))
            try:
                report = await self.judge.assess(segment, aspect)
            except (JudgeError, ModelError) as error:
                await self.memory.put(key, written(_unscored(error)))
                raise
            finally:
                _ASSESSMENT.reset(outer)
            if type(report) is Report:
                await self.memory.put(key, written(report))
            return report

    def _recalled(self, key: str) -> Report | None:
        value = self.memory.get(key)
        report = None if value is None else read_report(value)
        return None if report is None or report.outcome in self.again else report

    def _was_answered(self, key: str) -> bool:
        """Say whether what is asked again got an answer, which must not be given once more."""
        value = self.memory.get(key)
        return value is not None and read_report(value).outcome not in UNANSWERED

    def _key(self, segment: Segment, aspect: Aspect) -> str:
        return _digest(
            "report",
            self.signature,
            self.place,
            self._aspects.told(aspect),
            segment.output,
            segment.system,
            segment.task,
            str(len(segment.inputs)),  # or a reference could be taken for an input
            *chain.from_iterable(segment.inputs.items()),
            *segment.references,
        )


@dataclass(frozen=True, slots=True)
class RememberedModel:
    """A model that is asked once for every request, whatever the run.

    Replies are kept; errors are not. So a report can be made anew, by another parser or
    consolidator, without a call. The usage of a remembered reply is what it cost then.

    Who asks the same twice wants two draws, and gets them: a `RememberedJudge` that asks
    n times within one assessment, and one of another place, are each given their own.

    Parameters
    ----------
    model
        Who is asked for what is not remembered.
    memory
        Where replies are kept.
    """

    model: ChatModel
    memory: Memory
    signature: str = field(init=False)
    _turns: "_Turns" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", self.model.signature)  # the dataclass is frozen
        object.__setattr__(self, "_turns", _Turns())

    async def complete(self, request: ChatRequest) -> Reply:
        """Return what the model replied, or replies now.

        Raises
        ------
        ModelError
            As the model raised it.
        StoreError
            If the memory cannot be read or written.
        """
        key = _drawn(_digest("reply", self.signature, written(request)))
        if (known := self._recalled(key)) is not None:
            return known
        async with self._turns.one(key):
            if (known := self._recalled(key)) is not None:
                return known
            reply = await self.model.complete(request)
            await self.memory.put(key, written(reply))
            return reply

    def _recalled(self, key: str) -> Reply | None:
        assessment = _ASSESSMENT.get()
        if assessment is not None and assessment.anew:
            return None
        value = self.memory.get(key)
        return None if value is None else read_reply(value)


@dataclass(frozen=True, slots=True)
class SilentModel:
    """A model that replies to nothing, for a panel that is to make do with its memory."""

    signature: str

    async def complete(self, request: ChatRequest) -> Reply:  # noqa: ARG002  a port's method
        """Raise `PermanentModelError`."""
        raise PermanentModelError(f"{self.signature} has not replied to this, and is not asked")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assessment:
    """The assessment in which a model is asked, and how often for each reply.

    One that is made `anew`, after an answer that was of no use, takes no remembered reply.
    """

    place: str
    anew: bool = False
    asked: Counter[str] = field(default_factory=Counter)


_ASSESSMENT: ContextVar[_Assessment | None] = ContextVar("assessment", default=None)


def _drawn(key: str) -> str:
    """Return the key of the next draw of the reply, within an assessment."""
    assessment = _ASSESSMENT.get()
    if assessment is None:
        return key
    assessment.asked[key] += 1
    return _digest(key, assessment.place, str(assessment.asked[key]))


class _Turns:
    """One asker a key at a time."""

    def __init__(self) -> None:
        self._locks: dict[str, Lock] = {}

    @asynccontextmanager
    async def one(self, key: str) -> AsyncIterator[None]:
        lock = self._locks.setdefault(key, Lock(fast_acquire=True))
        try:
            async with lock:
                yield
        finally:
            if not lock.locked():  # nobody waits: it was not handed on
                self._locks.pop(key, None)


class _Aspects:
    """The aspects that were asked about, as text: the same few come with every segment."""

    def __init__(self) -> None:
        self._told: dict[int, tuple[Aspect, str]] = {}

    def told(self, aspect: Aspect) -> str:
        known = self._told.get(id(aspect))  # held here, so that no other gets its id
        if known is not None:
            return known[1]
        if len(self._told) >= _MOST_ASPECTS:
            self._told.clear()
        text = written(aspect).decode()
        self._told[id(aspect)] = aspect, text
        return text


def _digest(*parts: str | bytes) -> str:
    """Return 32 hexadecimal digits: `fingerprint`'s 12 are too few for 10^8 keys."""
    digest = hashlib.blake2b(_LAYOUT, digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def _unscored(error: JudgeError | ModelError) -> Report:
    """Return what a panel makes of `error`."""
    reply = error.reply if isinstance(error, ParseError) else ""
    return Report(outcome=error.outcome, reason=str(error) or repr(error), reply=reply)
