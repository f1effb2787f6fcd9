"""Judges and models that remember their reports and replies: resuming a run is running it again.

Both stand in front of any judge or model and before any `Memory`. A reply is kept by model,
decoding and request alone, so that it outlasts releases; a report by all that it depends on, the
rules of its judge among them. A report whose rules have changed is made again of the replies.

A judge that asks a model the same twice wants two draws. So each reply is kept under the place of
the judge on its panel, and the number of the draw within the assessment.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar, Token
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import Protocol

from anyio import Lock

from spanjury.judges.core import (
    UNANSWERED,
    USABLE,
    Aspect,
    ChatModel,
    ChatRequest,
    ErrorSpan,
    Judge,
    JudgeError,
    Memory,
    ModelError,
    Outcome,
    OverBudgetError,
    ParseError,
    PermanentModelError,
    Reply,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    TemplateTokens,
    reason_of,
)
from spanjury.judges.core.keys import canonical, digest
from spanjury.judges.text import unlisted
from spanjury.orchestration.engine.memory_codec import (
    KeptValues,
    ReportKeys,
    former_models,
    read_reply,
    read_report,
    read_rescoring,
    read_tokens,
    written,
)

FAILED = frozenset(Outcome) - USABLE
"""Outcomes of a judge that should have scored and did not."""
LIST_ALONE = "spanjury's list alone: the model's tokenizer cannot be asked"
"""Source of the special tokens of a model whose tokenizer names none."""


@dataclass(frozen=True)
class RememberedJudge:
    """A judge that is asked once for every segment and aspect, whatever the run.

    Its reports are kept, and so is an error that it raises: as the unscored report that a
    panel makes of it. Only a plain `Report` is kept, not a panel's, whose seats remember
    theirs; nor are other exceptions, or a cancelled assessment.

    Two alike segments under way at once are asked for once: the second waits for the
    first.

    Parameters
    ----------
    judge
        Asked for what is not remembered. Unless it is a `KeyedJudge`, it must judge
        by the output, inputs, references, system and task of a segment only, and its
        signature must change with its rules: the rest is not in the key.
    memory
        Where reports are kept.
    place
        Tells apart judges of one signature on one panel, each of which reports for itself;
        empty for the first of them.
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

    @cached_property
    def signature(self) -> str:
        """The judge's."""
        return self.judge.signature

    @cached_property
    def _keys(self) -> ReportKeys:
        return ReportKeys(self.judge, place=self.place)

    @cached_property
    def _kept(self) -> KeptValues:
        return KeptValues(self.memory, whose=self.signature)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the judge's report, remembered or new.

        Raise `JudgeError` or `ModelError` as the judge raised it, the first time, and
        `StoreError` if the memory cannot be read or written.
        """
        key = self._keys.of(segment, aspect)
        kept = self._kept.get(key, read_report)
        if (usable := self._usable(kept)) is not None:
            return usable
        async with self._kept.turn(key) as has_waited:
            if has_waited:
                kept = self._kept.get(key, read_report)
            former = self._keys.former(segment, aspect)
            before = None if former is None else self._kept.get(former, read_report)
            if (usable := self._usable(kept) or self._usable(before)) is not None:
                return usable
            # An answer that is of no use must not be given once more.
            fresh = kept is not None and kept.outcome not in UNANSWERED
            try:
                report = await self._assessed(segment, aspect, fresh=fresh)
            except (JudgeError, ModelError) as error:
                await self.memory.put(key, written(_unscored(error)))
                raise
            except OverBudgetError:
                if kept is None:
                    raise
                return kept  # what failed before is not asked again
            if type(report) is Report:
                await self.memory.put(key, written(report))
            return report

    async def _assessed(self, segment: Segment, aspect: Aspect, *, fresh: bool) -> Report:
        """Have the judge assess, and once more where remembered replies were of no use again.

        That happens when failures are to be tried again, and the report made of the replies is
        not known any more because the judge reads them in another way now.
        """
        with _Assessing(place=self.place, fresh=fresh) as assessment:
            report = await self.judge.assess(segment, aspect)
        again = self.again - UNANSWERED
        # Anything but a report, as a plugin's judge may return, is refused by the panel.
        if type(report) is Report and report.outcome in again and assessment.is_remembered:
            return await self._assessed(segment, aspect, fresh=True)
        return report

    def _usable(self, kept: Report | None) -> Report | None:
        return None if kept is None or kept.outcome in self.again else kept


@dataclass(frozen=True)
class RememberedRescorable(RememberedJudge):
    """A rescorable judge that is asked once for every list of errors, too.

    A rescoring is kept under the list and all that a report depends on. Errors that it raises
    here are not kept: to score the list again is to ask again.
    """

    judge: Rescorable

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the judge's rescoring of `spans`, remembered or new.

        Raise `JudgeError` or `ModelError` as the judge raises it, and `StoreError` if the
        memory cannot be read or written.
        """
        listed = canonical(tuple(spans))
        key = self._keys.of(segment, aspect, what="rescoring", more=(listed,))
        async with self._kept.turn(key):
            kept = self._kept.get(key, read_rescoring)
            if kept is not None and kept.report.outcome not in self.again:
                return kept
            fresh = kept is not None and kept.report.outcome not in UNANSWERED
            with _Assessing(place=self.place, fresh=fresh):
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


class KeyedReplies(Protocol):
    """Replies of a model that come by their keys in the memory, as those of a batch do."""

    async def reply(self, key: str, request: ChatRequest) -> Reply:
        """Return the reply that is to be kept under `key`; raise as a model does.

        Raise `DeferredError` if it is not there yet.
        """
        ...


@dataclass(frozen=True)
class RememberedModel:
    """A model that is asked once for every request, whatever the run.

    Replies are kept; errors are not. So a report can be made again, by another parser or
    consolidator, without a call. The usage of a remembered reply is what it cost then.
    Replies that 0.1.0 kept, with versions in their keys, are taken over when they are asked for.

    A `RememberedJudge` that asks n times within one assessment is given n draws, and one of
    another place is given its own.

    Parameters
    ----------
    takes_over
        Look for what 0.1.0 kept, too; needless in a memory that was begun by this run.
    by_key
        Gives the replies that are not remembered, in place of the model; None for the model.
    """

    model: ChatModel
    memory: Memory
    takes_over: bool = True
    by_key: KeyedReplies | None = None

    @cached_property
    def signature(self) -> str:
        """The model's."""
        return self.model.signature

    @cached_property
    def _kept(self) -> KeptValues:
        return KeptValues(self.memory, whose=self.signature)

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply, remembered or new.

        Raise `ModelError` as the model raised it, and `StoreError` if the memory cannot be
        read or written.
        """
        asked = canonical(request)
        base = digest("reply", self.signature, asked)
        assessment = _under_way()
        draw = assessment.next_draw(base)
        key = draw(base)
        if (recalled := self._recalled(key)) is not None:
            return recalled
        async with self._kept.turn(key) as has_waited:
            if has_waited and (recalled := self._recalled(key)) is not None:
                return recalled
            names = former_models(self.signature) if self.takes_over else ()
            former = (self._recalled(draw(digest("reply", name, asked))) for name in names)
            reply = next((kept for kept in former if kept is not None), None)
            if reply is None:
                assessment.replied += 1
                if self.by_key is None:
                    reply = await self.model.complete(request)
                else:
                    reply = await self.by_key.reply(key, request)
            await self.memory.put(key, written(reply))
            return reply

    def recalls(self, request: ChatRequest) -> bool:
        """Say whether the first reply to `request` in this assessment is remembered."""
        key = _under_way().draw(digest("reply", self.signature, canonical(request)), number=1)
        return self._kept.get(key, read_reply) is not None

    def _recalled(self, key: str) -> Reply | None:
        assessment = _under_way()
        if assessment.fresh:
            return None
        reply = self._kept.get(key, read_reply)
        assessment.remembered += reply is not None
        return reply


class RememberedTokens:
    """The special tokens of a model: its tokenizer is asked once, whatever the run.

    So a run that goes on, or asks nothing, sends the same requests as the one before.

    Parameters
    ----------
    ask
        Asks the tokenizer; returns None if it cannot be asked, and raises `ModelError` if it does
        not answer: then the next request asks again.
    memory
        Keeps what it says; or None.
    signature
        The model's.
    note
        Is called with the words that say who named the tokens, once that is known.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[TemplateTokens | None]],
        *,
        memory: Memory | None,
        signature: str,
        note: Callable[[str], None],
    ) -> None:
        self._ask = ask
        self._memory = memory
        self._kept = None if memory is None else KeptValues(memory, whose=signature)
        self._key = digest("template-tokens", signature)
        self._note = note
        self._tokens: tuple[str, ...] | None = None
        self._failures = 0
        self._lock = Lock()

    async def get(self) -> tuple[str, ...]:
        """Return the tokens that have to be named to what takes them apart."""
        if self._tokens is None:
            await self._learn(self._failures)
        return self._tokens or ()

    async def _learn(self, failures: int) -> None:
        """Find the tokens, unless another task has asked since there were so many `failures`."""
        async with self._lock:
            if self._tokens is None and self._failures == failures:
                self._tokens = await self._template_tokens()

    async def _template_tokens(self) -> tuple[str, ...] | None:
        kept = None if self._kept is None else self._kept.get(self._key, read_tokens)
        try:
            tokens = kept or await self._ask()
        except ModelError:
            self._failures += 1
            return None
        if tokens is None:
            self._note(LIST_ALONE)
            return ()
        self._note(tokens.source)
        named = replace(tokens, tokens=unlisted(tokens.tokens))
        if self._memory is not None and kept is None:
            await self._memory.put_soon(self._key, written(named))
        return named.tokens


@dataclass(frozen=True, slots=True)
class SilentModel:
    """A model that never replies, for a panel that is made of its memory alone."""

    signature: str

    async def complete(self, request: ChatRequest) -> Reply:  # noqa: ARG002  a port's method
        """Raise `PermanentModelError`."""
        raise PermanentModelError(f"{self.signature} has not replied to this, and is not asked")


def _unscored(error: JudgeError | ModelError) -> Report:
    """Return the report that a panel makes of `error`."""
    reply = error.reply if isinstance(error, ParseError) else ""
    return Report(outcome=error.outcome, reason=reason_of(error), reply=reply)


@dataclass(slots=True, kw_only=True)
class _Assessment:
    """The assessment in which a model is asked, and how often for each reply.

    Parameters
    ----------
    place
        Whose assessment it is: the draws of one place are not those of another; None outside
        of any, where the same is asked once.
    fresh
        Whether remembered replies were of no use and must not be given once more.
    """

    place: str | None = None
    fresh: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    remembered: int = 0
    replied: int = 0

    @property
    def is_remembered(self) -> bool:
        """True if models were asked, and all of their replies were remembered."""
        return self.remembered > 0 and not self.replied

    def next_draw(self, base: str) -> Callable[[str], str]:
        """Begin the next draw of the reply at `base`; return what makes its key of a base."""
        self.asked[base] += 1
        return partial(self.draw, number=self.asked[base])

    def draw(self, base: str, *, number: int) -> str:
        """Return the key of the draw of this `number`, from 1, of the reply at `base`."""
        return base if self.place is None else digest(base, self.place, str(number))


_ASSESSMENT: ContextVar[_Assessment | None] = ContextVar("assessment", default=None)


def _under_way() -> _Assessment:
    return _ASSESSMENT.get() or _Assessment()


class _Assessing:
    """Have models know that whatever they are asked inside belongs to one assessment."""

    __slots__ = ("_assessment", "_outer")

    def __init__(self, *, place: str, fresh: bool) -> None:
        self._assessment = _Assessment(place=place, fresh=fresh)
        self._outer: Token[_Assessment | None] | None = None

    def __enter__(self) -> _Assessment:
        self._outer = _ASSESSMENT.set(self._assessment)
        return self._assessment

    def __exit__(self, *_: object) -> None:
        assert self._outer is not None
        _ASSESSMENT.reset(self._outer)
