"""Judges and models that remember what they said: resuming a run is running it again.

Both stand in front of any judge or model and before any `Memory`. A reply is kept by model,
decoding and request alone, so that it outlasts releases; a report by all that it depends on, the
rules of its judge among them. A report whose rules have changed is made again of the replies.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import KW_ONLY, dataclass, field

from spanjury.judges.core import (
    UNANSWERED,
    Aspect,
    ChatModel,
    ChatRequest,
    ErrorSpan,
    Judge,
    JudgeError,
    Memory,
    ModelError,
    Outcome,
    ParseError,
    PermanentModelError,
    Reply,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    reason_of,
)
from spanjury.judges.core.keys import canonical, digest
from spanjury.orchestration.engine.memory_codec import (
    MemoryReading,
    ReportKeys,
    Turns,
    former_models,
    read_reply,
    read_report,
    read_rescoring,
    written,
)

__all__ = [
    "FAILED",
    "Assessment",
    "RememberedJudge",
    "RememberedModel",
    "RememberedRescorable",
    "SilentModel",
    "asked_anew",
    "assessing",
    "next_draw",
    "note_reply",
    "remembered",
]


@dataclass(slots=True, kw_only=True)
class Assessment:
    """The assessment in which a model is asked, and how often for each reply.

    One that is made `anew`, after an answer that was of no use, takes no remembered reply.
    """

    place: str
    anew: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    remembered: int = 0
    replied: int = 0

    @property
    def made_of_memory(self) -> bool:
        """Say whether models were asked, and all that they said was remembered."""
        return self.remembered > 0 and not self.replied


_ASSESSMENT: ContextVar[Assessment | None] = ContextVar("assessment", default=None)


@contextmanager
def assessing(*, place: str, anew: bool) -> Iterator[Assessment]:
    """Have models know that whatever they are asked inside belongs to one assessment.

    Parameters
    ----------
    place
        Whose assessment it is: the draws of one place are not those of another.
    anew
        Whether replies that are remembered were of no use and must not be given once more.
    """
    assessment = Assessment(place=place, anew=anew)
    outer = _ASSESSMENT.set(assessment)
    try:
        yield assessment
    finally:
        _ASSESSMENT.reset(outer)


def asked_anew() -> bool:
    """Say whether the assessment under way takes no remembered reply."""
    assessment = _ASSESSMENT.get()
    return assessment is not None and assessment.anew


def note_reply(*, remembered: bool) -> None:
    """Have the assessment under way know of a reply that it was given, from memory or not."""
    assessment = _ASSESSMENT.get()
    if assessment is not None:
        assessment.remembered += remembered
        assessment.replied += not remembered


def next_draw(key: str) -> Callable[[str], str]:
    """Begin the next draw of the reply at `key` within the assessment under way.

    Returns
    -------
    Callable
        Tells the key of this draw, given `key` or another that the reply may be at.
    """
    assessment = _ASSESSMENT.get()
    if assessment is None:
        return str
    assessment.asked[key] += 1
    place, number = assessment.place, str(assessment.asked[key])
    return lambda base: digest(base, place, number)


FAILED = frozenset(Outcome) - {Outcome.SCORED, Outcome.ABSTAINED}
"""A judge should have scored and did not."""


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
        Who is asked for what is not remembered. Unless it is a `KeyedJudge`, it must judge
        by the output, inputs, references, system and task of a segment only, and its
        signature must change with its rules: the rest is not in the key.
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
    _turns: Turns = field(init=False, repr=False)
    _keys: ReportKeys = field(init=False, repr=False)
    _kept: MemoryReading = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", self.judge.signature)  # the dataclass is frozen
        object.__setattr__(self, "_turns", Turns())
        object.__setattr__(self, "_keys", ReportKeys(self.judge, place=self.place))
        kept = MemoryReading(self.memory, whose=self.judge.signature)
        object.__setattr__(self, "_kept", kept)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return what the judge said of it, or says now.

        Raises
        ------
        JudgeError, ModelError
            As the judge raised it, the first time.
        StoreError
            If the memory cannot be read or written.
        """
        key = self._keys.of(segment, aspect)
        if (known := self._recalled(key)) is not None:
            return known
        async with self._turns.one(key):
            former = self._keys.former(segment, aspect)
            if (known := self._recalled(key) or self._recalled(former)) is not None:
                return known
            try:
                report = await self._assessed(segment, aspect, anew=self._was_answered(key))
            except (JudgeError, ModelError) as error:
                await self.memory.put(key, written(_unscored(error)))
                raise
            if type(report) is Report:
                await self.memory.put(key, written(report))
            return report

    async def _assessed(self, segment: Segment, aspect: Aspect, *, anew: bool) -> Report:
        """Have the judge assess, and once more where remembered replies were of no use again.

        They are where the report that was made of them is not known any more, because the
        judge reads replies in another way now, and failures are to be tried again.
        """
        with assessing(place=self.place, anew=anew) as assessment:
            report = await self.judge.assess(segment, aspect)
        again = self.again - UNANSWERED
        # What is no report, as a stranger's judge may return, the panel refuses.
        if type(report) is Report and report.outcome in again and assessment.made_of_memory:
            return await self._assessed(segment, aspect, anew=True)
        return report

    def _recalled(self, key: str | None) -> Report | None:
        report = None if key is None else self._kept.get(key, read_report)
        return None if report is None or report.outcome in self.again else report

    def _was_answered(self, key: str) -> bool:
        """Say whether what is asked again got an answer, which must not be given once more."""
        report = self._kept.get(key, read_report)
        return report is not None and report.outcome not in UNANSWERED


@dataclass(frozen=True, slots=True)
class RememberedRescorable(RememberedJudge):
    """A rescorable judge that is asked once for every list of errors, too.

    What it makes of a list is kept under the list and all that a report depends on. Errors
    that it raises here are not kept: who scores the list again asks again.
    """

    judge: Rescorable

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return what the judge made of `spans`, or makes now.

        Raises
        ------
        JudgeError, ModelError
            As the judge raises it.
        StoreError
            If the memory cannot be read or written.
        """
        listed = canonical(tuple(spans))
        key = self._keys.of(segment, aspect, what="rescoring", more=(listed,))
        async with self._turns.one(key):
            known = self._kept.get(key, read_rescoring)
            if known is not None and known.report.outcome not in self.again:
                return known
            anew = known is not None and known.report.outcome not in UNANSWERED
            with assessing(place=self.place, anew=anew):
                rescoring = await self.judge.rescore(segment, aspect, spans)
            if type(rescoring.report) is Report:
                await self.memory.put(key, written(rescoring))
            return rescoring


def remembered(
    judge: Judge, memory: Memory, *, place: str = "", again: frozenset[Outcome] = UNANSWERED
) -> RememberedJudge:
    """Put `memory` before `judge`, which can rescore behind it iff it can without."""
    if isinstance(judge, Rescorable):
        return RememberedRescorable(judge, memory, place=place, again=again)
    return RememberedJudge(judge, memory, place=place, again=again)


@dataclass(frozen=True, slots=True)
class RememberedModel:
    """A model that is asked once for every request, whatever the run.

    Replies are kept; errors are not. So a report can be made anew, by another parser or
    consolidator, without a call. The usage of a remembered reply is what it cost then.
    Replies that 0.1.0 kept, with versions in their keys, are taken over when they are asked for.

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
    _turns: Turns = field(init=False, repr=False)
    _kept: MemoryReading = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "signature", self.model.signature)  # the dataclass is frozen
        object.__setattr__(self, "_turns", Turns())
        kept = MemoryReading(self.memory, whose=self.model.signature)
        object.__setattr__(self, "_kept", kept)

    async def complete(self, request: ChatRequest) -> Reply:
        """Return what the model replied, or replies now.

        Raises
        ------
        ModelError
            As the model raised it.
        StoreError
            If the memory cannot be read or written.
        """
        asked = canonical(request)
        base = digest("reply", self.signature, asked)
        draw = next_draw(base)
        key = draw(base)
        if (known := self._recalled(key)) is not None:
            return known
        async with self._turns.one(key):
            if (known := self._recalled(key)) is not None:
                return known
            names = former_models(self.signature)
            former = (self._recalled(draw(digest("reply", name, asked))) for name in names)
            reply = next((known for known in former if known is not None), None)
            if reply is None:
                note_reply(remembered=False)
                reply = await self.model.complete(request)
            await self.memory.put(key, written(reply))
            return reply

    def _recalled(self, key: str) -> Reply | None:
        if asked_anew():
            return None
        reply = self._kept.get(key, read_reply)
        if reply is not None:
            note_reply(remembered=True)
        return reply


@dataclass(frozen=True, slots=True)
class SilentModel:
    """A model that replies to nothing, for a panel that is to make do with its memory."""

    signature: str

    async def complete(self, request: ChatRequest) -> Reply:  # noqa: ARG002  a port's method
        """Raise `PermanentModelError`."""
        raise PermanentModelError(f"{self.signature} has not replied to this, and is not asked")


def _unscored(error: JudgeError | ModelError) -> Report:
    """Return what a panel makes of `error`."""
    reply = error.reply if isinstance(error, ParseError) else ""
    return Report(outcome=error.outcome, reason=reason_of(error), reply=reply)
