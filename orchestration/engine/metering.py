"""The ledger of a run: every call to a model is reserved before it is sent, and settled after.

It promises that a limit holds for all calls together, whoever makes them: seats, the consolidator,
a writer of damage, probes and retries. A call is sent only if the most that it may take fits into
every limit beside what is spent and what is reserved; where it may fit once others are settled, it
waits for these. With a memory a reservation is on disk before the call is sent, so that one which
a kill left open counts as spent. A limit is therefore exceeded only by a reply that took more than
its bound.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
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

SEATS, CUT_OFF = "seats", "cut off"
"""Makers of calls: those who are not named otherwise, and calls that a kill left open."""

_KEY = digest("ledger")
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(dict[str, tuple[int, int, float]])
_TOLERANCE = 1e-9
_MAKER: ContextVar[str] = ContextVar("maker", default=SEATS)
_ASIDE: ContextVar["_Aside | None"] = ContextVar("aside", default=None)
_IS_REFUSED: ContextVar[bool] = ContextVar("is_refused", default=False)
_ASKED: ContextVar["set[Judged] | None"] = ContextVar("asked", default=None)


Judged = Callable[[Report], None]
"""Takes the report of an assessment for which a model was asked."""


class Payer(Protocol):
    """A tenant that pays for calls, and has limits of its own beside those of the run."""

    async def reserve(self, most: "Spending") -> "Meter":
        """Reserve a call that takes so much at most; return the ledger to settle it in.

        Raise `RunStoppedError` if it does not fit.
        """
        ...


_PAYER: ContextVar[Payer | None] = ContextVar("payer", default=None)


@contextmanager
def paid_by(payer: Payer | None) -> Iterator[None]:
    """Have `payer` pay for the calls that are made in this context; None for no further payer."""
    token = _PAYER.set(payer)
    try:
        yield
    finally:
        _PAYER.reset(token)


class LimitedModel(Protocol):
    """A model that allows so many calls at once, and says how many are under way or wait."""

    @property
    def limit(self) -> int:
        """Return the number of calls that may be under way now."""
        ...

    @property
    def under_way(self) -> int:
        """Return the number of calls under way now."""
        ...

    def waiting(self, now: float) -> str:
        """Say for whom calls wait, and how long at `now`, by the monotonic clock; "" if none do."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a run each time it is run; None for none.

    Raises `ConfigError` if a limit is not positive.

    Parameters
    ----------
    max_cost
        Dollars.
    max_calls
        Calls that are sent to models, those that fail among them.
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
        given = (self.max_cost, self.max_calls, self.max_tokens, self.max_seconds)
        if any(limit is not None and limit <= 0 for limit in given):
            raise ConfigError(f"limits must be positive, got {self!r}")

    @property
    def of_spending(self) -> "tuple[Bound, ...]":
        """The limits of all but time."""
        by_unit: Mapping[Unit, float | None] = {
            "dollars": self.max_cost,
            "calls": self.max_calls,
            "tokens": self.max_tokens,
        }
        return tuple(Bound(unit, most) for unit, most in by_unit.items() if most is not None)


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that may be spent of one unit: in one go at a run, or in all of them.

    One that is a budget ends the asking, and not the run.
    """

    unit: Unit
    most: float
    is_of_run: bool = False
    is_budget: bool = False


@dataclass(slots=True, eq=False)
class _Aside:
    """An amount that is set aside for a row, and becomes less as its calls are settled."""

    left: float
    unit: Unit

    def take(self, spent: Spending) -> None:
        self.left = max(0.0, self.left - spent.of(self.unit))


class Meter:
    """The ledger of one go at a run, and of the run as far as a memory keeps it.

    What is remembered costs nothing and is not counted.

    Parameters
    ----------
    limits
        All but `max_seconds` are kept here.
    stop
        Called with the reason when a limit is reached, or the next call does not fit into it.
    is_whole
        The limits are those of all goes at the run together.
    """

    def __init__(
        self,
        *,
        limits: Limits = Limits(),
        stop: Callable[[str], None] = lambda _: None,
        is_whole: bool = False,
    ) -> None:
        self.usage = Usage()
        self.unpriced: tuple[str, ...] = ()
        self.made: dict[str, Spending] = {}
        """Spending of this go, by who made the calls."""
        self.before: dict[str, Spending] = {}
        """Spending of earlier goes at the run, by the same keys."""
        self._bounds = [Bound(limit.unit, limit.most, is_whole) for limit in limits.of_spending]
        self._stop = stop
        self._models: list[LimitedModel] = []
        self._memory: Memory | None = None
        self._key = _KEY
        self._reserved = NOTHING
        self._deferred = NOTHING  # the part that is reserved for batches, whose state is kept apart
        self._settled: Event | None = None  # made for those who wait
        self._asides: set[_Aside] = set()

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.spent.tokens

    @property
    def cost(self) -> float:
        """Dollars."""
        return self.spent.dollars

    @property
    def spent(self) -> Spending:
        """Spending of this go, without calls that are under way."""
        return sum(list(self.made.values()), NOTHING)

    @property
    def of_run(self) -> Spending:
        """Spending of all goes at the run, without calls that are under way."""
        return sum(self.before.values(), self.spent)

    @property
    def is_idle(self) -> bool:
        """True if no call is reserved."""
        return not self._reserved.calls

    @property
    def limit(self) -> int:
        """Return the number of calls that may be under way now, at all models together."""
        return sum(model.limit for model in self._models)

    @property
    def under_way(self) -> int:
        """Return the number of calls under way now."""
        return sum(model.under_way for model in self._models)

    def waiting(self, now: float) -> Sequence[str]:
        """Say for whom calls wait, and how long, as models say it."""
        return [words for model in list(self._models) if (words := model.waiting(now))]

    def attach(self, model: LimitedModel) -> None:
        """Count the calls of `model` among those under way."""
        self._models.append(model)

    def account(
        self, *, name: str, price: TokenPrice | None, judged: Judged | None = None
    ) -> "Account":
        """Return the account of a model's calls; `judged` is that of `Account`.

        Raise `ConfigError` if dollars are limited and no price is known.
        """
        if price is None:
            if any(bound.unit == "dollars" for bound in self._bounds):
                raise ConfigError(
                    f"no price is known for model {name!r}, so its cost cannot be limited: give"
                    " its price in a panel file, or limit tokens"
                )
            self.unpriced = (*self.unpriced, name)
        return Account(self, price, judged)

    @property
    def budgets(self) -> tuple[Bound, ...]:
        """The budgets that are kept."""
        return tuple(bound for bound in self._bounds if bound.is_budget)

    def hold(self, bound: Bound) -> None:
        """Keep this bound, too."""
        self._bounds.append(bound)

    @contextmanager
    def holding(self, unit: Unit, most: float) -> Iterator[None]:
        """Keep a budget of the run, too, as long as this lasts."""
        bound = Bound(unit, most, is_of_run=True, is_budget=True)
        self.hold(bound)
        try:
            yield
        finally:
            self._bounds.remove(bound)

    @property
    def set_aside(self) -> float:
        """The amount that is set aside, and not spent yet."""
        return sum(aside.left for aside in self._asides)

    @contextmanager
    def setting_aside(self, amount: float, unit: Unit) -> Iterator[None]:
        """Set an amount aside for the calls that are made in this context, as long as it lasts."""
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
        """Refuse all calls that are made in this context: only what is remembered is had."""
        token = _IS_REFUSED.set(True)
        try:
            yield
        finally:
            _IS_REFUSED.reset(token)

    @property
    def is_refusing(self) -> bool:
        """True in a context of `refusing`."""
        return _IS_REFUSED.get()

    def require_asking(self) -> None:
        """Raise `OverBudgetError` in a context of `refusing`."""
        if self.is_refusing:
            raise OverBudgetError("nothing is asked here")

    @contextmanager
    def kept_in(self, memory: Memory, *, key: str = _KEY) -> Iterator[None]:
        """Go on with the ledger that `memory` has, and keep it there as long as this lasts."""
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
        """Take the spending of earlier goes from a ledger as `written` returns it."""
        read = _DECODER.decode(written)
        kept = {name: Spending(*values) for name, values in read.items()}
        self.before = {
            name: kept.get(name, NOTHING) - self.made.get(name, NOTHING)
            for name in {*kept, *self.made}
        }

    async def reserve(self, most: Spending) -> None:
        """Return when a call that takes so much at most may be sent.

        Raise `OverBudgetError` if a budget does not allow for it, `RunStoppedError` if another
        limit does not, and `StoreError` if the reservation cannot be kept.
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

        Raise as `reserve` does.
        """
        bound = self.bound_exceeded_by(most)
        if bound is None:
            self._reserved += most
        elif self.is_idle:
            self._refuse(bound, most)
        return bound is None

    def defer(self, most: Spending) -> bool:
        """Reserve a call of a batch, or return False if it must wait until others are settled.

        Whoever sends the batch keeps the reservation on disk: the ledger does not count it as cut
        off. Raise as `reserve` does.
        """
        has_room = self.take(most)
        if has_room:
            self._deferred += most
        return has_room

    def defer_again(self, most: Spending) -> None:
        """Reserve the calls of a batch that an earlier go at the run has sent."""
        self._reserved += most
        self._deferred += most

    def release_deferred(self, most: Spending) -> None:
        """Give up reservations of a batch."""
        self._deferred -= most
        if not self._deferred.calls:
            self._deferred = NOTHING  # sums of dollars are not exact
        self.release(most)

    async def settle_deferred(
        self, most: Spending, usage: Usage, *, price: TokenPrice | None, maker: str
    ) -> None:
        """Put what a call of a batch took in the place of its reservation.

        It is kept with the next put, and stops nothing: the batch is paid as a whole.
        """
        self.release_deferred(most)
        self._add(usage, price=price, maker=maker)
        if self._memory is not None:
            await self._memory.put_soon(self._key, self.written())

    async def settle(
        self, most: Spending, usage: Usage, *, price: TokenPrice | None, maker: str
    ) -> None:
        """Put what a call took in the place of its reservation."""
        self.release(most)
        self.count(usage, price=price, maker=maker)
        if self._memory is not None and self.is_idle:
            await self._memory.put_soon(self._key, self.written())  # else the next reservation does

    def count(self, usage: Usage, *, price: TokenPrice | None, maker: str = SEATS) -> None:
        """Add the usage of a call; stop where a limit is reached."""
        self._add(usage, price=price, maker=maker)
        for bound in self._bounds:
            if not bound.is_budget and (spent := self._used(bound)) >= bound.most:
                self._stop(_reached(spent, bound))

    def _add(self, usage: Usage, *, price: TokenPrice | None, maker: str) -> None:
        self.usage += usage
        taken = spending(usage, price)
        self.made[maker] = self.made.get(maker, NOTHING) + taken
        if (aside := _ASIDE.get()) is not None:
            aside.take(taken)

    def add(self, usage: Usage, *, dollars: float) -> None:
        """Add what was counted elsewhere."""
        self.usage += usage
        spent = Spending(usage.calls, usage.prompt + usage.completion, dollars)
        self.made[SEATS] = self.made.get(SEATS, NOTHING) + spent

    def _used(self, bound: Bound) -> float:
        return (self.of_run if bound.is_of_run else self.spent).of(bound.unit)

    def bound_exceeded_by(self, most: Spending) -> Bound | None:
        """Return the limit into which a call does not fit that takes so much at most."""
        for bound in self._bounds:
            taken = self._used(bound) + (self._reserved + most).of(bound.unit)
            if taken > bound.most * (1 + _TOLERANCE):
                return bound
        return None

    def _refuse(self, bound: Bound, most: Spending) -> None:
        reason = _reached(self._used(bound), bound)
        if self._used(bound) < bound.most:
            reason += f": the next call may take {in_words(most.of(bound.unit), bound.unit)}"
        if bound.is_budget:
            raise OverBudgetError(reason)
        self._stop(reason)
        raise RunStoppedError(reason)

    def release(self, most: Spending) -> None:
        """Give up a reservation, or several."""
        self._reserved -= most
        if self.is_idle:
            self._reserved = NOTHING  # sums of dollars are not exact
        if self._settled is not None:
            self._settled.set()
            self._settled = None

    def written(self) -> bytes:
        """Return the ledger that the run has if this process is killed now."""
        sent = self._reserved - self._deferred
        ledgers = (self.made, self.before, {CUT_OFF: sent if sent.calls else NOTHING})
        kept: dict[str, tuple[float, ...]] = {}
        for ledger in ledgers:
            for name, spent in ledger.items():
                calls, tokens, dollars = kept.get(name, (0, 0, 0.0))
                kept[name] = calls + spent.calls, tokens + spent.tokens, dollars + spent.dollars
        return _ENCODER.encode(kept)


def _reached(spent: float, bound: Bound) -> str:
    used = in_words(spent, bound.unit)
    verb = "is" if used == "1 call" else "are"
    most = f"${bound.most:g}" if bound.unit == "dollars" else f"{bound.most:g}"
    return f"{used} {verb} spent, and {most} is the {'budget' if bound.is_budget else 'limit'}"


@dataclass(slots=True)
class Account:
    """The account of one model's calls in a ledger; `judged` may be None."""

    meter: Meter
    price: TokenPrice | None
    judged: Judged | None = None
    _per_byte: float = field(default=MOST_PER_BYTE, init=False)

    async def reserve(self, request: ChatRequest, *, maker: str = "") -> "Reservation":
        """Reserve a call; return once it may be sent. Raise as `Meter.reserve` does.

        Parameters
        ----------
        maker
            Who makes it; empty for whoever asks.
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
        # A probe is for all who ask.
        if not maker and self.judged is not None and (asked := _ASKED.get()) is not None:
            asked.add(self.judged)
        return Reservation(self, most, reserved, size, maker or _MAKER.get(), paid)

    def learn(self, usage: Usage, *, size: int) -> None:
        """Take longer prompts into account than were expected; short ones are all template."""
        if size >= FRAME:
            self._per_byte = max(self._per_byte, (usage.prompt - FRAME) / size)


@contextmanager
def noting_models() -> Iterator[set[Judged]]:
    """Yield a set that holds, for each model that is asked in this context, who takes reports."""
    asked: set[Judged] = set()
    token = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(token)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A call that may be sent: the most that it may take, who makes it, and who pays for it."""

    account: Account
    most: Usage
    reserved: Spending
    size: int
    maker: str
    paid: Meter | None = None

    async def settle(self, usage: Usage | None) -> None:
        """Put what the call took in the place of this; None where that is unknown: all of it."""
        account, taken = self.account, self.most
        if usage is not None:
            taken = usage
            account.learn(usage, size=self.size)
        for meter in (account.meter, self.paid):
            if meter is not None:
                await meter.settle(self.reserved, taken, price=account.price, maker=self.maker)


def maker_of_calls() -> str:
    """Return who makes the calls in this context."""
    return _MAKER.get()


@dataclass(frozen=True, slots=True)
class AskedBy:
    """A model whose calls are somebody else's than a seat's."""

    model: ChatModel
    maker: str

    @property
    def signature(self) -> str:
        """The model's own."""
        return self.model.signature

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the model's reply; raise as the model does."""
        token = _MAKER.set(self.maker)
        try:
            return await self.model.complete(request)
        finally:
            _MAKER.reset(token)
