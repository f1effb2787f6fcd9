"""The ledger of a run: every model call is reserved before it is sent, and settled afterwards.

A limit holds for all calls together, whoever makes them: seats, the consolidator, a writer of
damage, probes and retries. A call is sent only if its maximum cost fits into every limit, in
addition to what is spent and reserved. If it may fit once other calls are settled, it waits for
them. With a memory, a reservation is on disk before the call is sent, so that a call cut off by a
kill counts as spent. A limit can therefore be exceeded only by a reply that takes more than its
bound.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

import msgspec
from anyio import Event

from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    ConfigError,
    Memory,
    OverBudgetError,
    Reply,
    Report,
    RunStoppedError,
    TokenPrice,
    Usage,
    check_field_types,
)
from spanjury.judges.core.keys import digest
from spanjury.orchestration.engine.spending import (
    FRAME,
    MOST_PER_BYTE,
    NOTHING,
    Spending,
    Unit,
    in_words,
    most_of,
    prompt_size,
    spending,
)
from spanjury.orchestration.engine.stopping import StopToken

SEATS, CUT_OFF = "seats", "cut off"
"""Makers of calls: the default, and calls that were cut off by a kill."""

_KEY = digest("ledger")
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, tuple[int, int, float]])
_TOLERANCE = 1e-9
_MAKER: ContextVar[str] = ContextVar("maker", default=SEATS)
_ASIDE: ContextVar["_Aside | None"] = ContextVar("aside", default=None)
_IS_REFUSED: ContextVar[bool] = ContextVar("is_refused", default=False)
_ASKED: ContextVar["set[Judged] | None"] = ContextVar("asked", default=None)


Judged = Callable[[Report], None]
"""Receives the report of an assessment that called a model."""


class Payer(Protocol):
    """A tenant that pays for calls and has its own limits besides those of the run."""

    async def reserve(self, most: "Spending") -> "Meter":
        """Reserve a call that spends at most `most`; return the ledger to settle it in.

        Raise `RunStoppedError` if the call does not fit.
        """
        ...


_PAYER: ContextVar[Payer | None] = ContextVar("payer", default=None)


@contextmanager
def paid_by(payer: Payer | None) -> Iterator[None]:
    """Have `payer` pay for the calls made in this context; None for no further payer."""
    token = _PAYER.set(payer)
    try:
        yield
    finally:
        _PAYER.reset(token)


class LimitedModel(Protocol):
    """A model with a limit of concurrent calls, which reports its calls under way and waiting."""

    @property
    def limit(self) -> int:
        """Return the number of calls that may be under way now."""
        ...

    @property
    def under_way(self) -> int:
        """Return the number of calls under way now."""
        ...

    def waiting(self, now: float) -> str:
        """Describe the calls that wait, and for how long at monotonic time `now`; "" if none do."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of each session of a run; None for no limit.

    Raises `ConfigError` if a limit is not positive.

    Parameters
    ----------
    max_cost
        Dollars.
    max_calls
        Calls sent to models, including failed ones.
    max_tokens
        Tokens of prompts and replies together.
    max_seconds
        Seconds of wall-clock time.
    """

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        check_field_types(self)
        given = (self.max_cost, self.max_calls, self.max_tokens, self.max_seconds)
        if any(limit is not None and not limit > 0 for limit in given):
            raise ConfigError(f"limits must be positive, got {self!r}")

    @property
    def of_spending(self) -> "tuple[Bound, ...]":
        """The limits of everything but time."""
        by_unit: Mapping[Unit, float | None] = {
            "dollars": self.max_cost,
            "calls": self.max_calls,
            "tokens": self.max_tokens,
        }
        return tuple(Bound(unit, most) for unit, most in by_unit.items() if most is not None)


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that may be spent of one unit, in one session of a run or in all of them.

    A bound that is a budget ends the calls, not the run.
    """

    unit: Unit
    most: float
    is_of_run: bool = False
    is_budget: bool = False


@dataclass(slots=True, eq=False)
class _Aside:
    """An amount that is set aside for a row and shrinks as its calls are settled."""

    left: float
    unit: Unit

    def take(self, spent: Spending) -> None:
        self.left = max(0.0, self.left - spent.of(self.unit))


class Meter:
    """The ledger of one session of a run, and of the whole run as far as a memory keeps it.

    Remembered replies cost nothing and are not counted.

    Parameters
    ----------
    limits
        All of these but `max_seconds` are enforced here.
    stop_token
        The stop token of the run. It is requested when a limit is reached, or when the next call
        does not fit into it. Once it is requested, by anyone, no further call may be sent.
    is_whole
        Whether the limits apply to all sessions of the run together.
    """

    def __init__(
        self,
        *,
        limits: Limits = Limits(),
        stop_token: StopToken | None = None,
        is_whole: bool = False,
    ) -> None:
        self.usage = Usage()
        self.unpriced: tuple[str, ...] = ()
        self.made: dict[str, Spending] = {}
        """Spending of this session, by maker of the calls."""
        self.before: dict[str, Spending] = {}
        """Spending of earlier sessions of the run, by the same keys."""
        self._bounds = [Bound(limit.unit, limit.most, is_whole) for limit in limits.of_spending]
        self.stop_token = stop_token
        self._models: list[LimitedModel] = []
        self._memory: Memory | None = None
        self._key = _KEY
        self._reserved = NOTHING
        self._deferred = NOTHING  # the part reserved for batches, whose state is stored separately
        self._settled: Event | None = None  # made only when a call waits
        self._asides: set[_Aside] = set()

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies."""
        return self.spent.tokens

    @property
    def cost(self) -> float:
        """Dollars."""
        return self.spent.dollars

    @property
    def spent(self) -> Spending:
        """Spending of this session, without calls that are under way."""
        return sum(list(self.made.values()), NOTHING)

    @property
    def of_run(self) -> Spending:
        """Spending of all sessions of the run, without calls that are under way."""
        return sum(self.before.values(), self.spent)

    @property
    def is_idle(self) -> bool:
        """True if no call is reserved."""
        return not self._reserved.calls

    @property
    def limit(self) -> int:
        """Return the number of calls that may be under way now, over all models."""
        return sum(model.limit for model in self._models)

    @property
    def under_way(self) -> int:
        """Return the number of calls under way now."""
        return sum(model.under_way for model in self._models)

    def waiting(self, now: float) -> Sequence[str]:
        """Return the models' descriptions of waiting calls, and how long they wait."""
        return [words for model in list(self._models) if (words := model.waiting(now))]

    def attach(self, model: LimitedModel) -> None:
        """Count the calls of `model` among those under way and waiting."""
        self._models.append(model)

    def account(
        self, *, name: str, price: TokenPrice | None, judged: Judged | None = None
    ) -> "Account":
        """Return the account of a model's calls; for `judged` see `Judged`.

        Raise `ConfigError` if dollars are limited and no price is known.
        """
        if price is None:
            if any(bound.unit == "dollars" for bound in self._bounds):
                raise ConfigError(
                    f"no price is known for model {name!r}, so its cost cannot be limited: give"
                    " its price in a panel file, or limit tokens instead (--max-tokens-total)"
                )
            self.unpriced = (*self.unpriced, name)
        return Account(self, price, judged)

    @property
    def budgets(self) -> tuple[Bound, ...]:
        """The budgets that are enforced."""
        return tuple(bound for bound in self._bounds if bound.is_budget)

    def hold(self, bound: Bound) -> None:
        """Enforce this bound as well."""
        self._bounds.append(bound)

    @contextmanager
    def holding(self, unit: Unit, most: float) -> Iterator[None]:
        """Enforce a budget of the run while the context is open."""
        bound = Bound(unit, most, is_of_run=True, is_budget=True)
        self.hold(bound)
        try:
            yield
        finally:
            self._bounds.remove(bound)

    @property
    def set_aside(self) -> float:
        """The amount that is set aside and not yet spent."""
        return sum(aside.left for aside in self._asides)

    @contextmanager
    def setting_aside(self, amount: float, unit: Unit) -> Iterator[None]:
        """Set an amount aside for the calls made in this context, while it is open."""
        aside = _Aside(amount, unit)
        self._asides.add(aside)
        token = _ASIDE.set(aside)
        try:
            yield
        finally:
            _ASIDE.reset(token)
            self._asides.remove(aside)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse all calls made in this context: only remembered replies are available."""
        token = _IS_REFUSED.set(True)
        try:
            yield
        finally:
            _IS_REFUSED.reset(token)

    @property
    def is_refusing(self) -> bool:
        """True inside a `refusing` context."""
        return _IS_REFUSED.get()

    def require_asking(self) -> None:
        """Raise `OverBudgetError` inside a `refusing` context."""
        if self.is_refusing:
            raise OverBudgetError("nothing is asked here")

    @contextmanager
    def kept_in(self, memory: Memory, *, key: str = _KEY) -> Iterator[None]:
        """Continue the ledger stored in `memory`, and store it there while the context is open."""
        if self._memory is not None:
            yield
            return
        self.go_on_with(memory.get(key) or b"{}")
        self._memory, self._key = memory, key
        try:
            yield
        finally:
            self._memory = None

    def go_on_with(self, written: bytes) -> None:
        """Restore the spending of earlier sessions from a ledger as `written` returns it."""
        read = _DECODER.decode(written)
        kept = {name: Spending(*values) for name, values in read.items()}
        self.before = {
            name: kept.get(name, NOTHING) - self.made.get(name, NOTHING)
            for name in {*kept, *self.made}
        }

    async def reserve(self, most: Spending) -> None:
        """Wait until a call that spends at most `most` may be sent, and reserve it.

        Raise `OverBudgetError` if a budget does not allow it, `RunStoppedError` if another limit
        does not or the run is stopped, and `StoreError` if the reservation cannot be stored.
        """
        self.require_asking()
        while not self.take(most):
            self._settled = self._settled or Event()
            await self._settled.wait()
        is_kept = False
        try:
            if self._memory is not None:
                await self._memory.put(self._key, self.written())
            is_kept = True
        finally:
            if not is_kept:
                self.release(most)

    def take(self, most: Spending) -> bool:
        """Reserve a call, or return False if it must wait until others are settled.

        Raise the same errors as `reserve`.
        """
        bound = self.bound_exceeded_by(most)
        has_room = bound is None and not self._reason_to_stop
        if has_room:
            self._reserved += most
        elif self.is_idle:  # else a refusal could cancel calls whose replies are paid for
            raise self._refusal(bound, most)
        return has_room

    def defer(self, most: Spending) -> bool:
        """Reserve a call of a batch, or return False if it must wait until others are settled.

        The sender of the batch stores the reservation on disk: the ledger does not count it as cut
        off. Raise the same errors as `reserve`.
        """
        has_room = self.take(most)
        if has_room:
            self._deferred += most
        return has_room

    def defer_again(self, most: Spending) -> None:
        """Reserve the calls of a batch that an earlier session of the run has sent."""
        self._reserved += most
        self._deferred += most

    def release_deferred(self, most: Spending) -> None:
        """Release reservations of a batch."""
        self._deferred -= most
        if not self._deferred.calls:
            self._deferred = NOTHING  # sums of dollars are not exact
        self.release(most)

    async def settle_deferred(
        self, most: Spending, usage: Usage, *, price: TokenPrice | None, maker: str
    ) -> None:
        """Replace the reservation of a batch's call by its actual usage.

        The change is stored with the next write. It stops nothing: the batch is paid as a whole.
        """
        self.release_deferred(most)
        self._add(usage, price=price, maker=maker)
        if self._memory is not None:
            await self._memory.put_soon(self._key, self.written())

    async def settle(
        self, most: Spending, usage: Usage, *, price: TokenPrice | None, maker: str
    ) -> None:
        """Replace the reservation of a call by its actual usage."""
        self.release(most)
        self.count(usage, price=price, maker=maker)
        if self._memory is not None and self.is_idle:
            await self._memory.put_soon(self._key, self.written())  # else by the next reservation

    def count(self, usage: Usage, *, price: TokenPrice | None, maker: str = SEATS) -> None:
        """Add the usage of a call; stop the run if a limit is reached."""
        self._add(usage, price=price, maker=maker)
        for bound in self._bounds:
            if not bound.is_budget and self._used(bound) >= bound.most:
                self._stop(partial(self._reached, bound))

    def _add(self, usage: Usage, *, price: TokenPrice | None, maker: str) -> None:
        self.usage += usage
        taken = spending(usage, price)
        self.made[maker] = self.made.get(maker, NOTHING) + taken
        if (aside := _ASIDE.get()) is not None:
            aside.take(taken)

    def add(self, usage: Usage, *, dollars: float) -> None:
        """Add usage that was counted elsewhere."""
        self.usage += usage
        spent = Spending(usage.calls, usage.prompt + usage.completion, dollars)
        self.made[SEATS] = self.made.get(SEATS, NOTHING) + spent

    def _used(self, bound: Bound) -> float:
        return (self.of_run if bound.is_of_run else self.spent).of(bound.unit)

    def bound_exceeded_by(self, most: Spending) -> Bound | None:
        """Return the limit that a call would exceed by spending `most`; None if it fits."""
        for bound in self._bounds:
            taken = self._used(bound) + (self._reserved + most).of(bound.unit)
            if taken > bound.most * (1 + _TOLERANCE):
                return bound
        return None

    @property
    def _reason_to_stop(self) -> str:
        return "" if self.stop_token is None else self.stop_token.reason

    def _reached(self, bound: Bound) -> str:
        used = in_words(self._used(bound), bound.unit)
        verb = "is" if used == "1 call" else "are"
        most = f"${bound.most:g}" if bound.unit == "dollars" else f"{bound.most:g}"
        return f"{used} {verb} spent, and {most} is the {'budget' if bound.is_budget else 'limit'}"

    def _stop(self, reason: str | Callable[[], str]) -> None:
        if self.stop_token is not None:
            self.stop_token.request(reason)

    def _refusal(self, bound: Bound | None, most: Spending) -> OverBudgetError | RunStoppedError:
        if bound is None or self._reason_to_stop:
            return RunStoppedError(self._reason_to_stop)
        reason = self._reached(bound)
        if self._used(bound) < bound.most:
            reason += f": the next call may take {in_words(most.of(bound.unit), bound.unit)}"
        if bound.is_budget:
            return OverBudgetError(reason)
        self._stop(reason)
        return RunStoppedError(reason)

    def release(self, most: Spending) -> None:
        """Release one or more reservations."""
        self._reserved -= most
        if self.is_idle:
            self._reserved = NOTHING  # sums of dollars are not exact
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def written(self) -> bytes:
        """Return the ledger as it should read if this process is killed now."""
        sent = self._reserved - self._deferred
        ledgers = (self.made, self.before, {CUT_OFF: sent if sent.calls else NOTHING})
        kept: dict[str, tuple[float, ...]] = {}
        for ledger in ledgers:
            for name, spent in ledger.items():
                calls, tokens, dollars = kept.get(name, (0, 0, 0.0))
                kept[name] = calls + spent.calls, tokens + spent.tokens, dollars + spent.dollars
        return _ENCODER.encode(kept)


@dataclass(slots=True)
class Account:
    """The account of one model's calls in a ledger."""

    meter: Meter
    price: TokenPrice | None
    judged: Judged | None = None
    _per_byte: float = field(default=MOST_PER_BYTE, init=False)

    async def reserve(self, request: ChatRequest, *, maker: str = "") -> "Reservation":
        """Reserve a call and wait until it may be sent. Raise the same errors as `Meter.reserve`.

        Parameters
        ----------
        maker
            Maker of the call; empty for the maker set in this context.
        """
        most = most_of(request, per_byte=self._per_byte)
        reserved = spending(most, self.price)
        await self.meter.reserve(reserved)
        size = prompt_size(request)
        payer, paid = _PAYER.get(), None
        try:
            paid = None if payer is None else await payer.reserve(reserved)
        finally:
            if payer is not None and paid is None:
                self.meter.release(reserved)
        # A probe serves all assessments, so it is credited to none.
        if not maker and self.judged is not None and (asked := _ASKED.get()) is not None:
            asked.add(self.judged)
        return Reservation(self, most, reserved, size, maker or _MAKER.get(), paid)

    def learn(self, usage: Usage, *, size: int) -> None:
        """Raise the estimate of tokens per byte if the prompt had more tokens than expected."""
        # Short prompts are mostly template.
        if size >= FRAME:
            self._per_byte = max(self._per_byte, (usage.prompt - FRAME) / size)


@contextmanager
def noting_models() -> Iterator[set[Judged]]:
    """Yield a set that collects the `judged` callback of each model called in this context."""
    callbacks: set[Judged] = set()
    token = _ASKED.set(callbacks)
    try:
        yield callbacks
    finally:
        _ASKED.reset(token)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A call that may be sent: its maximum usage, its maker, and its payer."""

    account: Account
    most: Usage
    reserved: Spending
    size: int
    maker: str
    paid: Meter | None = None

    async def settle(self, usage: Usage | None) -> None:
        """Replace the reservation by the call's usage; None, for unknown, counts the maximum."""
        account, taken = self.account, self.most
        if usage is not None:
            taken = usage
            account.learn(usage, size=self.size)
        try:
            await account.meter.settle(self.reserved, taken, price=account.price, maker=self.maker)
        finally:  # the payer's reservation must not outlive the call
            if self.paid is not None:
                await self.paid.settle(self.reserved, taken, price=account.price, maker=self.maker)


def maker_of_calls() -> str:
    """Return the maker of the calls in this context."""
    return _MAKER.get()


@dataclass(frozen=True, slots=True)
class AskedBy:
    """A model whose calls are charged to `maker` instead of a seat."""

    model: ChatModel
    maker: str

    @property
    def signature(self) -> str:
        """The model's signature."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raise the same errors as the model."""
        token = _MAKER.set(self.maker)
        try:
            return await self.model.complete(request)
        finally:
            _MAKER.reset(token)
