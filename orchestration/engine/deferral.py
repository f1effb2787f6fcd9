"""Deferred calls: requests that batch APIs answer, hours later and at half the price.

A reply is remembered by model, decoding and request alone. So a whole run can be assessed without a
live call: each request without a remembered reply is written to a file under its key in the memory,
and the assessment that needs it breaks off with `DeferredError`. When answers have arrived, the
same rows are assessed again. A judge then gets its reply, or a failure, as if the model had
answered live. It may send further requests, such as a second try, which make the next batch. The
run is complete when no reply is missing.

The calls of a batch are reserved in the ledger of the run before they are sent. They are settled
one by one, each in the same commit as its reply.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from spanjury.judges.core import ChatRequest, DeferredError, Reply, TransientModelError
from spanjury.orchestration.engine.metering import Account, Meter, maker_of_calls
from spanjury.orchestration.engine.spending import NOTHING, Spending, most_of, spending

MOST_REQUESTS, MOST_BYTES = 50_000, 190 * 2**20
"""Maximum number of requests and of bytes in one file; OpenAI accepts 50,000 and 200 MB."""


class BatchedModel(Protocol):
    """A model behind a batch API: requests become lines of a file, and lines become replies."""

    async def line(self, key: str, request: ChatRequest) -> bytes:
        """Return the line that requests the reply to `request`, without its line end.

        Raise `ModelError` if the model cannot do what the request asks.
        """
        ...

    def read(self, line: bytes, request: ChatRequest) -> Reply:
        """Return the reply in a line of the output; raise `ModelError` like a live call."""
        ...


class RequestFile(Protocol):
    """A file of requests that is being written."""

    @property
    def path(self) -> Path:
        """Path of the finished file."""
        ...

    def write(self, line: bytes) -> None:
        """Append a line."""
        ...


@dataclass(slots=True)
class Answers:
    """The lines that came back for one request.

    Parameters
    ----------
    reply
        Reads the line with a reply; None if there is none.
    failures
        Read the lines that report failures, oldest first.
    """

    reply: Callable[[], bytes] | None = None
    failures: list[Callable[[], bytes]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Requests:
    """Requests to one model in one file, and the most that they may spend."""

    model: str
    file: RequestFile
    keys: list[str] = field(default_factory=list)
    size: int = 0
    reserved: Spending = NOTHING

    @property
    def is_full(self) -> bool:
        """True if the next request needs another file."""
        return len(self.keys) >= MOST_REQUESTS or self.size >= MOST_BYTES


class Deferral:
    """The requests of a run that batches answer.

    Parameters
    ----------
    meter
        The ledger of the run.
    open_file
        Opens a file of requests to the model of this name; None to write nothing.
    reserves
        Whether this run sends the requests, and thus reserves them in the ledger.
    attempts
        How often a request is sent if it fails for a temporary reason; None for no limit.
    asks_tokenizers
        Whether a model's server may be asked for its special tokens.
    """

    def __init__(
        self,
        *,
        meter: Meter,
        open_file: Callable[[str], RequestFile] | None,
        reserves: bool,
        attempts: int | None = None,
        asks_tokenizers: bool = False,
    ) -> None:
        self.meter = meter
        self.reserves = reserves
        self.attempts = math.inf if attempts is None else attempts
        self.asks_tokenizers = asks_tokenizers
        self.asked: set[str] = set()
        """Keys of all requests for which no reply was remembered."""
        self.requests: list[Requests] = []
        """Files of this round."""
        self.rounds = 0
        self.lacking = 0
        """Requests of this round without a reply, including those that a limit does not allow."""
        self._open_file = open_file
        self._answers: dict[str, Answers] = {}
        self._open: dict[str, Requests] = {}
        self._deferred: set[str] = set()
        self._settled: set[str] = set()
        self._held = NOTHING

    def begin_round(self) -> None:
        """Begin a round; the files of the last round were sent."""
        self.rounds += 1
        self.requests = []
        self.lacking = 0
        self._open = {}
        self._deferred = set()

    def end_round(self) -> None:
        """Release the reservations of requests that were answered and not requested again."""
        self.meter.release_deferred(self._held)
        self._held = NOTHING

    def answered(self, answers: Mapping[str, Answers], *, reserved: Spending = NOTHING) -> None:
        """Record the lines that came back, and the amount reserved for them in the ledger."""
        self._held += reserved
        for key, lines in answers.items():
            before = self._answers.setdefault(key, Answers())
            before.reply = before.reply or lines.reply
            before.failures += lines.failures

    def unasked(self, keys: Iterable[str]) -> list[str]:
        """Return those of the `keys` under which nothing was requested."""
        return [key for key in keys if key not in self.asked]

    async def reply(
        self, key: str, request: ChatRequest, *, name: str, model: BatchedModel, account: Account
    ) -> Reply:
        """Return the reply that came back for a request; see `KeyedReplies.reply`."""
        self.asked.add(key)
        answers = self._answers.get(key)
        most = spending(most_of(request), account.price)
        if answers is not None:
            try:
                reply = self._read(answers, request, model=model)
            except TransientModelError:  # request it again, unless it has failed too often
                if len(answers.failures) >= self.attempts:
                    raise
            else:
                await self._settle(key, reply, request, most=most, account=account)
                return reply
        self.meter.require_asking()
        if key not in self._deferred:
            await self._write(key, request, name=name, model=model, most=most)
        raise DeferredError("replies of a batch are awaited")

    def _read(self, answers: Answers, request: ChatRequest, *, model: BatchedModel) -> Reply:
        """Return the reply; raise the last failure if there is none."""
        if answers.reply is not None:
            try:
                return model.read(answers.reply(), request)
            except TransientModelError:  # the line holds no reply
                answers.failures.append(answers.reply)
                answers.reply = None
                raise
        return model.read(answers.failures[-1](), request)

    async def _settle(
        self, key: str, reply: Reply, request: ChatRequest, *, most: Spending, account: Account
    ) -> None:
        if key in self._settled:  # failures are retried, and this reply was settled already
            return
        self._settled.add(key)
        usage = reply.usage if reply.usage.prompt + reply.usage.completion else most_of(request)
        reserved = most if self._held.calls else NOTHING
        self._held -= reserved
        await self.meter.settle_deferred(
            reserved, usage, price=account.price, maker=maker_of_calls()
        )

    async def _write(
        self, key: str, request: ChatRequest, *, name: str, model: BatchedModel, most: Spending
    ) -> None:
        line = await model.line(key, request)
        self._deferred.add(key)
        self.lacking += 1
        if self._open_file is None or (self.reserves and not self.meter.defer(most)):
            return
        requests = self._open.get(name)
        if requests is None or requests.is_full:
            requests = self._open[name] = Requests(model=name, file=self._open_file(name))
            self.requests.append(requests)
        requests.file.write(line)
        requests.keys.append(key)
        requests.size += len(line)
        if self.reserves:
            requests.reserved += most


@dataclass(frozen=True, slots=True)
class DeferredModel:
    """One model of a `Deferral`, as a source of replies for the memory."""

    deferral: Deferral
    name: str
    model: BatchedModel
    account: Account

    async def reply(self, key: str, request: ChatRequest) -> Reply:
        """Return the reply to be stored under `key`; see `KeyedReplies.reply`."""
        return await self.deferral.reply(
            key, request, name=self.name, model=self.model, account=self.account
        )
