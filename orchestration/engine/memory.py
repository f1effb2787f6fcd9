"""Judges and models that remember reports and replies: resuming a run means running it again.

Both wrap any judge or model and use any `Memory`. A reply is stored by model, decoding and request
alone, so that it outlasts releases. A report is stored by everything that it depends on, including
the rules of its judge. If the rules have changed, the report is made again from the stored replies.

A judge that sends the same request twice wants two samples. So the key of each reply includes the
judge's place on its panel and the number of the sample within the assessment.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
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
    PermanentModelError,
    Reply,
    Report,
    Rescorable,
    Rescoring,
    Segment,
    TemplateTokens,
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
from spanjury.orchestration.engine.seats import checked_report, unscored

FAILED = frozenset(Outcome) - USABLE
"""Outcomes of a judge that should have scored but did not."""
LIST_ALONE = "only spanjury's list: the server does not answer questions about its tokenizer"
"""Source of the special tokens of a model whose tokenizer cannot be queried."""


@dataclass(frozen=True)
class RememberedJudge:
    """A judge that is run once for every segment and aspect, across runs.

    Its reports are stored. A `JudgeError` or `ModelError` is stored as the unscored report that a
    panel makes of it; other exceptions and cancelled assessments are not stored. A panel's report
    is not stored either, because its seats remember their own.

    If two equal segments are assessed at once, the judge runs once: the second assessment waits for
    the first.

    Parameters
    ----------
    judge
        Called if no report is remembered. Unless it is a `KeyedJudge`, it must judge only by the
        output, inputs, references, system and task of a segment, and its signature must change with
        its rules: nothing else is part of the key.
    memory
        Where reports are kept.
    place
        Distinguishes judges with equal signatures on one panel, each of which reports for itself;
        empty for the first of them.
    again
        Outcomes that are assessed again although they are remembered: `UNANSWERED` when a run is
        resumed, `FAILED` when failures are to be retried, none when no calls may be made.
    """

    judge: Judge
    memory: Memory
    _: KW_ONLY
    place: str = ""
    again: frozenset[Outcome] = UNANSWERED

    @cached_property
    def signature(self) -> str:
        """The judge's signature."""
        return self.judge.signature

    @cached_property
    def _keys(self) -> ReportKeys:
        return ReportKeys(self.judge, place=self.place)

    @cached_property
    def _kept(self) -> KeptValues:
        return KeptValues(self.memory, whose=self.signature)

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the judge's report, remembered or new.

        Raise the judge's `JudgeError` or `ModelError` the first time, a `JudgeError` for a report
        that does not fit the text, which is not kept, and `StoreError` if the memory cannot be read
        or written.
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
            # An unusable answer must not be replayed from the memory.
            fresh = kept is not None and kept.outcome not in UNANSWERED
            try:
                report = await self._assessed(segment, aspect, fresh=fresh)
            except (JudgeError, ModelError) as error:
                await self.memory.put(key, written(unscored(error)))
                raise
            except OverBudgetError:
                if kept is None:
                    raise
                return kept  # the budget does not allow a retry of this failure
            if type(report) is Report:
                await self.memory.put(key, written(checked_report(report, segment, aspect)))
            return report

    async def _assessed(self, segment: Segment, aspect: Aspect, *, fresh: bool) -> Report:
        """Have the judge assess; repeat with fresh replies if remembered ones were unusable again.

        That happens when failures are retried and the report that was made from the replies is no
        longer stored, because the judge now parses them differently.
        """
        with _current_assessment(place=self.place, fresh=fresh) as assessment:
            report = await self.judge.assess(segment, aspect)
        again = self.again - UNANSWERED
        # The panel refuses anything that is not a report, which a plugin's judge may return.
        if type(report) is Report and report.outcome in again and assessment.is_remembered:
            return await self._assessed(segment, aspect, fresh=True)
        return report

    def _usable(self, kept: Report | None) -> Report | None:
        return None if kept is None or kept.outcome in self.again else kept


@dataclass(frozen=True)
class RememberedRescorable(RememberedJudge):
    """A rescorable judge that is also run once for every list of errors.

    A rescoring is stored under the list and everything that a report depends on. Errors are not
    stored: scoring the list again runs the judge again.
    """

    judge: Rescorable

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the judge's rescoring of `spans`, remembered or new.

        Raise the judge's `JudgeError` or `ModelError`, and `StoreError` if the memory cannot be
        read or written.
        """
        listed = canonical(tuple(spans))
        key = self._keys.of(segment, aspect, what="rescoring", more=(listed,))
        async with self._kept.turn(key):
            kept = self._kept.get(key, read_rescoring)
            if kept is not None and kept.report.outcome not in self.again:
                return kept
            fresh = kept is not None and kept.report.outcome not in UNANSWERED
            with _current_assessment(place=self.place, fresh=fresh):
                rescoring = await self.judge.rescore(segment, aspect, spans)
            if type(rescoring.report) is Report:
                await self.memory.put(key, written(rescoring))
            return rescoring


def remembered(
    judge: Judge, memory: Memory, *, place: str = "", again: frozenset[Outcome] = UNANSWERED
) -> RememberedJudge:
    """Wrap `judge` with `memory`; the result can rescore if and only if `judge` can."""
    if isinstance(judge, Rescorable):
        return RememberedRescorable(judge, memory, place=place, again=again)
    return RememberedJudge(judge, memory, place=place, again=again)


class KeyedReplies(Protocol):
    """Replies of a model by their keys in the memory, as batches provide them."""

    async def reply(self, key: str, request: ChatRequest) -> Reply:
        """Return the reply to be stored under `key`; raise the same errors as a model.

        Raise `DeferredError` if the reply is not available yet.
        """
        ...


@dataclass(frozen=True)
class RememberedModel:
    """A model that is called once for every request, across runs.

    Replies are stored, so that another parser or consolidator can make a report again without a
    call. Errors are not stored. The usage of a remembered reply is its original cost. Replies
    stored by 0.1.0, with versions in their keys, are migrated when they are requested.

    A `RememberedJudge` that sends a request n times within one assessment receives n samples, and a
    judge with another place receives its own.

    Parameters
    ----------
    takes_over
        Whether to look for replies stored by 0.1.0, too; needless in a memory begun by this run.
    by_key
        Provides replies that are not remembered, instead of the model; None to call the model.
    """

    model: ChatModel
    memory: Memory
    takes_over: bool = True
    by_key: KeyedReplies | None = None

    @cached_property
    def signature(self) -> str:
        """The model's signature."""
        return self.model.signature

    @cached_property
    def _kept(self) -> KeptValues:
        return KeptValues(self.memory, whose=self.signature)

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply, remembered or new.

        Raise the model's `ModelError`, and `StoreError` if the memory cannot be read or written.
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
        """Return whether the first reply to `request` in this assessment is remembered."""
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
    """The special tokens of a model, whose tokenizer is queried once across runs.

    So a resumed run, or one that makes no calls, has the same requests as the run before it.

    Parameters
    ----------
    ask
        Queries the tokenizer; returns None if it cannot be queried, and raises `ModelError` if it
        does not answer, in which case the next request queries it again.
    memory
        Stores the tokens; None to store nothing.
    signature
        The model's signature.
    note
        Called with a description of the source of the tokens, once it is known.
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
        """Return the tokens to be escaped, besides those of spanjury's own list."""
        if self._tokens is None:
            await self._learn(self._failures)
        return self._tokens or ()

    async def _learn(self, failures: int) -> None:
        """Query the tokens, unless another task has tried since `failures` were counted."""
        async with self._lock:
            if self._tokens is None and self._failures == failures:
                self._tokens = await self._template_tokens()

    async def _template_tokens(self) -> tuple[str, ...] | None:
        kept = None if self._kept is None else self._kept.get(self._key, read_tokens)
        try:
            tokens = kept or await self._ask()
        except ModelError:  # the next request tries again
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
    """A model that never replies, for a panel that uses only its memory."""

    signature: str

    async def complete(self, request: ChatRequest) -> Reply:  # noqa: ARG002  a port's method
        """Raise `PermanentModelError`."""
        raise PermanentModelError(f"{self.signature} has not replied to this, and is not asked")


@dataclass(slots=True, kw_only=True)
class _Assessment:
    """The assessment in which a model is called, with its counts of requests.

    Parameters
    ----------
    place
        The judge's place: each place has its own samples; None outside of any assessment, where
        equal requests share one sample.
    fresh
        Whether remembered replies were unusable and must not be replayed.
    """

    place: str | None = None
    fresh: bool = False
    asked: Counter[str] = field(default_factory=Counter)
    remembered: int = 0
    replied: int = 0

    @property
    def is_remembered(self) -> bool:
        """True if models were called and all of their replies were remembered."""
        return self.remembered > 0 and not self.replied

    def next_draw(self, base: str) -> Callable[[str], str]:
        """Count the next sample of the reply at `base`; return a function from base to its key."""
        self.asked[base] += 1
        return partial(self.draw, number=self.asked[base])

    def draw(self, base: str, *, number: int) -> str:
        """Return the key of sample `number`, from 1, of the reply at `base`."""
        return base if self.place is None else digest(base, self.place, str(number))


_ASSESSMENT: ContextVar[_Assessment | None] = ContextVar("assessment", default=None)


def _under_way() -> _Assessment:
    return _ASSESSMENT.get() or _Assessment()


@contextmanager
def _current_assessment(*, place: str, fresh: bool) -> Iterator[_Assessment]:
    """Have all model calls in this context belong to one assessment."""
    assessment = _Assessment(place=place, fresh=fresh)
    outer = _ASSESSMENT.set(assessment)
    try:
        yield assessment
    finally:
        _ASSESSMENT.reset(outer)
