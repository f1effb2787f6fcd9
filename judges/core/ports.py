"""The seams: what the core asks of judges, models, files and plugins.

Implementations live in `judges`, `adapters` and other people's packages;
`orchestration.wiring` joins them by name.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, runtime_checkable

from spanjury.judges.core.aspect import Aspect
from spanjury.judges.core.chat import (
    ChatRequest,
    Form,
    Reply,
    TemplateTokens,
    TokenPrice,
    Usage,
)
from spanjury.judges.core.checking import CheckedPairs, ClaimPair, ClaimSupport, ClaimUnit
from spanjury.judges.core.consolidation import Consolidation
from spanjury.judges.core.errors import DataError
from spanjury.judges.core.model_options import ModelOptions
from spanjury.judges.core.pair import PairReport, TextPair
from spanjury.judges.core.report import Report, Verdict
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.span import ErrorSpan
from spanjury.judges.core.trace_score import TraceScore


@runtime_checkable
class Judge(Protocol):
    """Assess one aspect of one segment; shareable, cancellable at every await.

    A plugin of the group ``spanjury.judges`` is a callable that returns one, as a class
    does. Its keyword parameters are its options; one named ``model`` is handed the
    `ChatModel` of its seat, one named ``reading`` the `WindowReader` in the folder that the
    option ``weights`` names, and one named ``checker`` the `Checker` that its options describe.
    """

    @property
    def signature(self) -> str:
        """Everything about the judge that can change a number, as `core.signature` writes it.

        Its reports are remembered under it: `core.code_digest` has it change with the rules.
        """
        ...

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return what the judge finds; raise `JudgeError` or `ModelError` if it cannot."""
        ...


@runtime_checkable
class ForthrightJudge(Protocol):
    """A judge that says what it cannot see; `spanjury judges` shows it."""

    blind_spots: str
    """One line: the errors that it passes by for want of any means to see them."""


@runtime_checkable
class LicensedPlugin(Protocol):
    """A judge or checker for models that not everyone may use; `spanjury judges` shows it."""

    licence: str
    """One line: the models and their licences."""


@runtime_checkable
class KeyedJudge(Judge, Protocol):
    """A judge that knows more exactly than by its signature what its reports depend on.

    The reports of any other depend on its signature, on all of the aspect, and on all that a
    judge may see of a segment.
    """

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return what changes, besides the signature, when its report on `segment` may.

        For a judge that asks a model that is a digest of the prompt for this segment, word
        for word. The replies are remembered by themselves: where the key changes, and not
        what is asked, they are read again, and nothing is asked twice.

        Raises
        ------
        JudgeError
            If the segment cannot be judged.
        """
        ...


@runtime_checkable
class PairJudge(Protocol):
    """Say which of two texts is better on one aspect; shareable, cancellable at every await.

    A plugin of the group ``spanjury.pair_judges`` is a callable that returns one, as a class
    does. Its keyword parameters are its options; one named ``model`` is handed a `ChatModel`, one
    named ``panel`` the panel of the run, which has the method `assess` of a `Judge`.

    It is asked about each pair in both orders, one call an order. A preference that turns with the
    order becomes a tie.
    """

    @property
    def signature(self) -> str:
        """Everything that can change a preference, as `core.signature` writes it."""
        ...

    async def compare(self, pair: TextPair, aspect: Aspect) -> PairReport:
        """Return which text is better, A being shown first.

        Raise `JudgeError` or `ModelError` if it cannot be said.
        """
        ...


@runtime_checkable
class OrderFreePairJudge(PairJudge, Protocol):
    """A pair judge whose preference may not depend on the order of the texts."""

    @property
    def is_order_free(self) -> bool:
        """Return True if it cannot: it is then asked about each pair once."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """A model that continues a conversation."""

    @property
    def signature(self) -> str:
        """Name of the model and whatever else decides what it answers.

        Replies are remembered under it: the version of a client's library is not part of it.
        """
        ...

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raise `ModelError` if there is none."""
        ...


@runtime_checkable
class PricedModel(ChatModel, Protocol):
    """A model that knows what its tokens cost."""

    @property
    def price(self) -> TokenPrice | None:
        """Return the price, or None where it is not known."""
        ...


@runtime_checkable
class FormedModel(ChatModel, Protocol):
    """A model whose server may hold a reply to a form."""

    @property
    def forms(self) -> frozenset[Form]:
        """Return the forms that it may take besides words; a request tells whether it does."""
        ...


@runtime_checkable
class TokenizedModel(ChatModel, Protocol):
    """A model whose tokenizer may be asked for its special tokens."""

    async def template_tokens(self) -> TemplateTokens | None:
        """Return the tokens, or None where the tokenizer cannot be asked.

        Raises
        ------
        ModelError
            If it did not answer, and may another time.
        """
        ...


@runtime_checkable
class BoundedModel(ChatModel, Protocol):
    """A model that bounds the time of its own calls, to the last byte of the reply."""

    @property
    def longest_call(self) -> float:
        """Return the seconds after which a call raises `ModelTimeoutError`; may be infinite."""
        ...


class CallReservation(Protocol):
    """A call that may be sent, and is accounted for by the most that it may take."""

    async def settle(self, usage: Usage | None) -> None:
        """Put what the call took in the place of that; None where it is unknown."""
        ...


class CallAccount(Protocol):
    """Keep account of the calls of one model."""

    async def reserve(self, request: ChatRequest, *, maker: str = "") -> CallReservation:
        """Return once a call may be sent, which is on disk by then; `maker` says who makes it.

        Raises
        ------
        RunStoppedError
            If a limit does not allow for it.
        """
        ...


class Memory(Protocol):
    """Keep the replies of judges and models, so that none is asked for twice."""

    def get(self, key: str) -> bytes | None:
        """Return what was put last under `key`, or None; quick enough for an event loop.

        Raises
        ------
        StoreError
            If it cannot be read, or is not what was put.
        """
        ...

    async def put(self, key: str, value: bytes) -> None:
        """Keep `value` under `key`, in place of what was there; durable on return.

        A put that is cancelled may or may not have been kept.

        Raises
        ------
        StoreError
            If it cannot be kept; everything put before is there still.
        """
        ...

    async def put_soon(self, key: str, value: bytes) -> None:
        """Keep `value` with what is put next, or at the end: for what can be made again.

        `get` returns it at once. It is lost if the process is killed before.

        Raises
        ------
        StoreError
            As `put`.
        """
        ...


class ModelOpener(Protocol):
    """A plugin of the group ``spanjury.models``: open a model for as long as it is needed."""

    def __call__(
        self, name: str, *, options: ModelOptions
    ) -> AbstractAsyncContextManager[ChatModel]:
        """Return a context that owns the model called `name` and its connections."""
        ...


@runtime_checkable
class Consolidator(Protocol):
    """Make one list of spans of a verdict.

    A plugin of the group ``spanjury.consolidators`` is a callable that returns one; a
    parameter named ``model`` is handed a `ChatModel`.
    """

    @property
    def signature(self) -> str:
        """Everything about the consolidator that can change a report."""
        ...

    async def consolidate(self, verdict: Verdict) -> Consolidation:
        """Merge the seats' spans; every one of them is taken up or left out, by name."""
        ...


class Aggregation(Protocol):
    """A plugin of the group ``spanjury.aggregations``: the seats' scores -> one."""

    def __call__(self, scores: Sequence[float], /) -> float:
        """Return the panel's score for one or more `scores`, which may be in any order."""
        ...


class Source(Protocol):
    """A plugin of the group ``spanjury.sources``: read segments from a file.

    It is named after the file ending that it reads (``jsonl`` for ``*.jsonl`` and
    ``*.jsonl.gz``), yields one `Segment` a row as it goes, and a `DataError` in place of
    a row that cannot be read.
    """

    def __call__(self, path: Path, /) -> Iterator[Segment | DataError]:
        """Read `path`; raise `DataError` at once if it is missing or not a file of this kind."""
        ...


@runtime_checkable
class Sink(Protocol):
    """A service that takes the scores of live traffic.

    A plugin of the group ``spanjury.sinks`` is a callable that returns one, as a class does; its
    keyword parameters are its options. It is used in one event loop of asyncio.
    """

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Return once the service has all of `scores`, which are one or more.

        A score may come again, if it is unknown whether the service has it: `score_id` tells.

        Raises
        ------
        SinkError
            If it has not, and the same scores are to be sent later.
        SinkRefusedError
            If it refuses one of them. They are then sent one by one.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


@runtime_checkable
class Checker(Protocol):
    """A model that says whether passages support claims.

    A plugin of the group ``spanjury.checkers`` is a callable that returns one, as a class does;
    its keyword parameters are its options. One object serves all threads. One that asks a chat
    model is an `AskedChecker`.
    """

    @property
    def signature(self) -> str:
        """Everything about the checker that can change a number."""
        ...

    @property
    def unit(self) -> ClaimUnit:
        """Return what it reads as a claim. If it is ``"text"``, its answers have words."""
        ...

    def room(self) -> int:
        """Return the most tokens that a passage and a claim have together, 2 or more.

        It may load the model; raise `JudgeError` as `check` does.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; raise `JudgeError` as `check` does."""
        ...

    def check(self, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        """Return one answer a pair, in order; blocking. No pair changes the answer on another.

        The end of a passage that has no room may be left out, the end of a claim never.

        Raises
        ------
        JudgeError
            If the model cannot be loaded or run.
        """
        ...


@runtime_checkable
class AskedChecker(Protocol):
    """A checker whose answers come from a chat model; a plugin of the same group.

    A parameter named ``model`` is handed the `ChatModel` of its seat.
    """

    @property
    def signature(self) -> str:
        """Everything about the checker and its model that can change a number."""
        ...

    @property
    def unit(self) -> ClaimUnit:
        """The unit of text that it reads as a claim."""
        ...

    @property
    def apart(self) -> tuple[str, ...]:
        """Return the canonical headers of inputs of which no passages are made.

        It shows them in places of their own, as the question that an answer is about.
        """
        ...

    def room(self) -> int:
        """Return the most tokens that a passage and a claim have together, 2 or more."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return about how many tokens each text has, rather too many than too few."""
        ...

    async def ask(
        self, pairs: Sequence[ClaimPair], *, segment: Segment, aspect: Aspect
    ) -> CheckedPairs:
        """Return the answers on pairs of `segment`; no call waits for another.

        Raises
        ------
        ModelError
            If the model gives no reply.
        """
        ...


class RescoringMethod(Enum):
    """Way in which a judge came from an error list to a score."""

    CONTINUED = "continued"
    """Its own reply, the list in it changed, was continued word for word from there."""
    RESTATED = "restated"
    """It was given the list in a new turn and asked for the score that follows."""
    COMPUTED = "computed"
    """Its score is a function of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """Score that a judge gives to an error list.

    Parameters
    ----------
    report
        With the list as it was given for its spans; of the reply, only what came after it.
    method
        How the score came about.
    expected
        Mean of the score over the probabilities of its labels, which shows what moves below
        one label; None where they are not known.
    """

    report: Report
    method: RescoringMethod
    expected: float | None = None


@runtime_checkable
class Rescorable(Judge, Protocol):
    """A judge that can say which score follows from an error list.

    Source: Terentowicz, Lango, Dušek (2025), section 3: whether the score of an
    explained judgement follows its explanation is seen when the explanation is changed.
    """

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return what the judge makes of `spans`, in their order, as if it had found them.

        Raises
        ------
        JudgeError, ModelError
            If it cannot.
        """
        ...
