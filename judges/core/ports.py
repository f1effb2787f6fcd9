"""Ports: the protocols of judges, models, files and plugins that the core uses.

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
from spanjury.judges.core.chat import ChatRequest, Form, Reply, TemplateTokens, TokenPrice, Usage
from spanjury.judges.core.checking import CheckedPairs, ClaimPair, ClaimSupport, ClaimUnit
from spanjury.judges.core.errors import DataError
from spanjury.judges.core.model_options import ModelOptions
from spanjury.judges.core.pair import PairReport, TextPair
from spanjury.judges.core.report import Consolidation, Report, Verdict
from spanjury.judges.core.segment import Segment
from spanjury.judges.core.span import ErrorSpan
from spanjury.judges.core.trace_score import TraceScore


@runtime_checkable
class Judge(Protocol):
    """A judge of one aspect of one segment; shareable, cancellable at every await.

    A plugin of the group ``spanjury.judges`` is a callable that returns a judge, such as a class.
    Its keyword parameters are its options. A parameter named ``model`` receives the `ChatModel` of
    its seat, and ``checker`` the `Checker` or `AskedChecker` that its options describe. One named
    ``encoder`` receives the `WindowReader` in the folder given by the option ``weights``, and
    ``tuning`` the constants that were fitted to this reader, by name.
    """

    @property
    def signature(self) -> str:
        """Everything about the judge that can change a number, as written by `core.signature`.

        Its reports are stored under it; use `core.code_digest` so that it changes with the rules.
        """
        ...

    async def assess(self, segment: Segment, aspect: Aspect) -> Report:
        """Return the judge's report; raise `JudgeError` or `ModelError` if it cannot assess."""
        ...


@runtime_checkable
class ForthrightJudge(Protocol):
    """A judge that states what it cannot see; `spanjury judges` shows it."""

    blind_spots: str
    """One line: the errors that the judge has no means to detect."""


@runtime_checkable
class LicensedPlugin(Protocol):
    """A judge or checker for models that not everyone may use; `spanjury judges` shows it."""

    licence: str
    """One line: the models and their licences."""


@runtime_checkable
class MeasuredChecker(Protocol):
    """A checker whose false alarms were measured, so that thresholds know its judge by a name."""

    @property
    def judge(self) -> str:
        """The name with which the signature of its judge begins, in place of ``checker``."""
        ...


@runtime_checkable
class KeyedJudge(Judge, Protocol):
    """A judge that states more precisely than by its signature what its reports depend on.

    The reports of any other judge depend on its signature, on the whole aspect, and on everything
    that a judge may see of a segment.
    """

    def report_key(self, segment: Segment, aspect: Aspect) -> str:
        """Return a key that changes whenever the report on `segment` may, for a fixed signature.

        A judge that asks a model returns a digest of the exact prompt for this segment. Replies are
        stored separately: if this key changes but the prompt does not, they are read again and no
        call is repeated. Raises `JudgeError` if the segment cannot be judged.
        """
        ...


@runtime_checkable
class PairJudge(Protocol):
    """A judge of which of two texts is better on one aspect; shareable, cancellable at every await.

    A plugin of the group ``spanjury.pair_judges`` is a callable that returns one, such as a class.
    Its keyword parameters are its options. A parameter named ``model`` receives a `ChatModel`, and
    ``panel`` the panel of the run, which has the method `assess` of a `Judge`.

    Each pair is judged in both orders, one call for each. A preference that changes with the order
    becomes a tie.
    """

    @property
    def signature(self) -> str:
        """Everything that can change a preference, as written by `core.signature`."""
        ...

    async def compare(self, pair: TextPair, aspect: Aspect) -> PairReport:
        """Return which text is better when A is shown first.

        Raise `JudgeError` or `ModelError` if this cannot be decided.
        """
        ...


@runtime_checkable
class OrderFreePairJudge(PairJudge, Protocol):
    """A pair judge whose preference may be independent of the order of the texts."""

    @property
    def is_order_free(self) -> bool:
        """Return True if it is independent: each pair is then judged only once."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """A model that continues a conversation."""

    @property
    def signature(self) -> str:
        """Name of the model and everything else that determines its answers.

        Replies are stored under it, so the version of a client library is not part of it.
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
        """Return the price, or None if it is unknown."""
        ...


@runtime_checkable
class FormedModel(ChatModel, Protocol):
    """A model whose server may constrain a reply to a form."""

    @property
    def forms(self) -> frozenset[Form]:
        """Return the forms besides text that it may accept; only a request shows if it does."""
        ...


@runtime_checkable
class TokenizedModel(ChatModel, Protocol):
    """A model whose tokenizer can list its special tokens."""

    async def template_tokens(self) -> TemplateTokens | None:
        """Return the tokens, or None if the tokenizer is not accessible.

        Raises `ModelError` if it did not answer now but may do so later.
        """
        ...


@runtime_checkable
class BoundedModel(ChatModel, Protocol):
    """A model that limits the time of its own calls, up to the last byte of the reply."""

    @property
    def longest_call(self) -> float:
        """Return the seconds after which a call raises `ModelTimeoutError`; may be infinite."""
        ...


class CallReservation(Protocol):
    """Permission to send a call, which is accounted for at its maximum cost until settled."""

    async def settle(self, usage: Usage | None) -> None:
        """Replace the maximum by the actual usage; None if it is unknown."""
        ...


class CallAccount(Protocol):
    """Account of the calls of one model."""

    async def reserve(self, request: ChatRequest, *, maker: str = "") -> CallReservation:
        """Wait until a call may be sent and its reservation is on disk; `maker` names the caller.

        Raises `RunStoppedError` if a limit does not allow the call.
        """
        ...


class Memory(Protocol):
    """Storage of the replies of judges and models, so that none is requested twice."""

    def get(self, key: str) -> bytes | None:
        """Return the latest value of `key`, or None; fast enough for an event loop.

        Raises `StoreError` if the value cannot be read, or is corrupt.
        """
        ...

    async def put(self, key: str, value: bytes) -> None:
        """Store `value` under `key`, replacing any earlier value; durable on return.

        A cancelled put may or may not have been stored. Raises `StoreError` if the value cannot be
        stored; earlier values are still there.
        """
        ...

    async def put_soon(self, key: str, value: bytes) -> None:
        """Store `value` with the next put, or at the end; for values that can be made again.

        `get` returns it at once. It is lost if the process is killed before. Raises `StoreError` as
        `put` does.
        """
        ...


class ModelOpener(Protocol):
    """A plugin of the group ``spanjury.models``: opens a model for as long as it is needed."""

    def __call__(
        self, name: str, *, options: ModelOptions
    ) -> AbstractAsyncContextManager[ChatModel]:
        """Return a context manager that owns the model called `name` and its connections."""
        ...


@runtime_checkable
class Consolidator(Protocol):
    """Merges the spans of a verdict into one list.

    A plugin of the group ``spanjury.consolidators`` is a callable that returns one; a
    parameter named ``model`` receives a `ChatModel`.
    """

    @property
    def signature(self) -> str:
        """Everything about the consolidator that can change a report."""
        ...

    async def consolidate(self, verdict: Verdict) -> Consolidation:
        """Merge the seats' spans; each is named either as a source or as left out."""
        ...


class Aggregation(Protocol):
    """A plugin of the group ``spanjury.aggregations``: combines the seats' scores into one."""

    def __call__(self, scores: Sequence[float], /) -> float:
        """Return the panel's score, on the scale of the one or more `scores`, in any order."""
        ...


class Source(Protocol):
    """A plugin of the group ``spanjury.sources``: read segments from a file.

    It is named after the file extension that it reads (``jsonl`` for ``*.jsonl`` and
    ``*.jsonl.gz``). It lazily yields one `Segment` per row, or a `DataError` for a row that
    cannot be read.
    """

    def __call__(self, path: Path, /) -> Iterator[Segment | DataError]:
        """Read `path`; raise `DataError` at once if it is missing or of another kind."""
        ...


@runtime_checkable
class Sink(Protocol):
    """A service that takes the scores of live traffic.

    A plugin of the group ``spanjury.sinks`` is a callable that returns one, such as a class; its
    keyword parameters are its options. It is used in one asyncio event loop.
    """

    async def send(self, scores: Sequence[TraceScore], /) -> None:
        """Send one or more `scores`, and return once the service has all of them.

        A score may be sent again if it is unknown whether the service has it; its `score_id` stays
        the same. Raises `SinkError` if the service does not have them, and the same scores are to
        be sent later. Raises `SinkRefusedError` if the service refuses one of them. They are then
        sent one by one.
        """
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class ClaimReader(Protocol):
    """A checker, whatever answers: the properties of `Checker` and `AskedChecker`."""

    @property
    def signature(self) -> str:
        """Everything about the checker and its model that can change a number."""
        ...

    @property
    def unit(self) -> ClaimUnit:
        """Return the unit that it reads as a claim. If it is ``"text"``, its answers have words."""
        ...

    def room(self) -> int:
        """Return the maximum number of tokens of a passage and a claim together, 2 or more.

        It may load the model; raises `JudgeError` as `Checker.check` does.
        """
        ...

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text; raise `JudgeError` as `Checker.check` does.

        An `AskedChecker` returns an estimate, rather too high than too low.
        """
        ...


@runtime_checkable
class Checker(ClaimReader, Protocol):
    """A model that says whether passages support claims.

    A plugin of the group ``spanjury.checkers`` is a callable that returns one, such as a class;
    its keyword parameters are its options. One object serves all threads. A checker that asks a
    chat model is an `AskedChecker`.
    """

    def check(self, pairs: Sequence[ClaimPair]) -> list[ClaimSupport]:
        """Return one answer for each pair, in order; blocking. Pairs do not affect each other.

        A passage that is too long may be cut at its end; a claim is never cut. Raises `JudgeError`
        if the model cannot be loaded or run.
        """
        ...


@runtime_checkable
class AskedChecker(ClaimReader, Protocol):
    """A checker whose answers come from a chat model; a plugin of the same group.

    A parameter named ``model`` receives the `ChatModel` of its seat.
    """

    @property
    def apart(self) -> tuple[str, ...]:
        """Return the canonical headers of inputs that are not cut into passages.

        The prompt shows them separately, such as the question that an answer is about.
        """
        ...

    async def ask(
        self, pairs: Sequence[ClaimPair], *, segment: Segment, aspect: Aspect
    ) -> CheckedPairs:
        """Return the answers on pairs of `segment`; the calls run concurrently.

        Raises `ModelError` if the model gives no reply.
        """
        ...


class RescoringMethod(Enum):
    """Method by which a judge derives a score from an error list."""

    CONTINUED = "continued"
    """The list in its own reply was replaced, and the model continued the reply from there."""
    RESTATED = "restated"
    """The list was sent in a new turn that asks for the score."""
    COMPUTED = "computed"
    """Its score is a function of the list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescoring:
    """Score that a judge assigns to an error list.

    Parameters
    ----------
    report
        Report whose spans are the list; its reply contains only the text after the list.
    method
        How the score was derived.
    expected
        Mean score over the probabilities of the labels, which shows changes smaller than one
        label; None if the probabilities are unknown.
    """

    report: Report
    method: RescoringMethod
    expected: float | None = None


@runtime_checkable
class Rescorable(Judge, Protocol):
    """A judge that can derive the score from an error list.

    Source: Terentowicz, Lango, Dušek (2025), section 3: changing the explanation shows whether
    the score of an explained judgement follows it.
    """

    async def rescore(
        self, segment: Segment, aspect: Aspect, spans: Sequence[ErrorSpan]
    ) -> Rescoring:
        """Return the score for `spans`, in their order, as if the judge had found them.

        Raises `JudgeError` or `ModelError` if it cannot.
        """
        ...
