"""Calls are reserved before they are sent and settled after, and fit into every limit."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from anyio import Event, create_task_group, wait_all_tasks_blocked
from fakes.judges import ASPECT, segment
from fakes.memory import DictMemory

from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.models.model_errors import error_by_status
from spanjury.adapters.runs.sqlite_memory import SqliteMemory
from spanjury.judges.core import (
    Aspect,
    ChatRequest,
    ConfigError,
    Decoding,
    Message,
    ModelError,
    ModelOptions,
    Reply,
    Report,
    RunStoppedError,
    Segment,
    StoreError,
    TokenPrice,
    TransientModelError,
    UnusableModelError,
    Usage,
)
from spanjury.orchestration.engine.metering import SEATS, AskedBy, Limits, Meter, paid_by
from spanjury.orchestration.engine.seats import Seat, seat_report
from spanjury.orchestration.engine.spending import Spending
from spanjury.orchestration.engine.stopping import StopToken

REQUEST = ChatRequest(
    messages=(Message(role="user", content="?" * 64),), decoding=Decoding(max_tokens=10)
)
PRICE = TokenPrice(prompt=1e-3, completion=1e-2)
REPLY = Reply(text="Good", usage=Usage(calls=1, prompt=100, completion=10, reasoning=4))


@dataclass
class OneLine:
    """A model that gives one reply, or raises, when it may."""

    says: Reply | ModelError = REPLY
    signature: str = "line"
    asked: int = 0
    may_answer: Event = field(default_factory=Event)

    async def complete(self, request: ChatRequest) -> Reply:
        assert request == REQUEST
        self.asked += 1
        await self.may_answer.wait()
        if isinstance(self.says, ModelError):
            raise self.says
        return self.says


def counted(
    meter: Meter, model: OneLine, *, price: TokenPrice | None = PRICE, held: bool = False
) -> Gateway:
    """Put a gateway before `model` whose calls are in the ledger."""
    if not held:
        model.may_answer.set()
    account = meter.account(name=model.signature, price=price)
    options = ModelOptions(attempts=1, max_connections=16)
    gateway = Gateway(model, options=options, account=account)
    meter.attach(gateway)
    return gateway


async def test_calls_tokens_and_cost_of_all_models_are_summed() -> None:
    meter = Meter()
    one = counted(meter, OneLine())
    two = counted(meter, OneLine(), price=None)
    for model in (one, one, two):
        assert await model.complete(REQUEST) == REPLY
    assert meter.usage == Usage(calls=3, prompt=300, completion=30, reasoning=12)
    assert meter.cost == pytest.approx(2 * (0.1 + 0.1))
    assert meter.tokens == 330
    assert (meter.unpriced, meter.under_way, meter.limit) == (("line",), 0, 32)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_cost=0.4), "$0.4 are spent, and $0.4 is the limit"),
        (Limits(max_tokens=220), "220 tokens are spent, and 220 is the limit"),
        (Limits(max_calls=2), "2 calls are spent, and 2 is the limit"),
    ],
)
async def test_the_call_that_reaches_a_limit_stops_the_run(limits: Limits, reason: str) -> None:
    stop_token = StopToken()
    model = counted(Meter(limits=limits, stop_token=stop_token), OneLine())
    await model.complete(REQUEST)
    assert not stop_token.is_requested
    await model.complete(REQUEST)
    assert stop_token.reason == reason
    with pytest.raises(RunStoppedError, match="is the limit"):
        await model.complete(REQUEST)


async def test_the_reason_of_a_stop_counts_calls_that_end_after_it() -> None:
    stop_token = StopToken()
    meter = Meter(limits=Limits(max_tokens=200), stop_token=stop_token)
    most = Spending(1, 100, 0.0)
    for _ in range(2):
        await meter.reserve(most)
    await meter.settle(most, Usage(calls=1, prompt=250), price=None, maker=SEATS)
    assert stop_token.reason == "250 tokens are spent, and 200 is the limit"
    await meter.settle(most, Usage(calls=1, prompt=60), price=None, maker=SEATS)
    assert stop_token.reason == "310 tokens are spent, and 200 is the limit"


async def test_a_call_that_may_exceed_a_limit_is_not_sent() -> None:
    stop_token, line = StopToken(), OneLine()
    model = counted(Meter(limits=Limits(max_tokens=95), stop_token=stop_token), line)
    with pytest.raises(RunStoppedError):
        await model.complete(REQUEST)
    assert line.asked == 0
    reason = "0 tokens are spent, and 95 is the limit: the next call may take 96 tokens"
    assert stop_token.reason == reason


async def test_no_call_is_sent_once_a_stop_is_requested() -> None:
    stop_token, line = StopToken(), OneLine()
    model = counted(Meter(stop_token=stop_token), line, held=True)
    refused: list[str] = []

    async def ask() -> None:
        try:
            await model.complete(REQUEST)
        except RunStoppedError as stopped:
            refused.append(str(stopped))

    async with create_task_group() as group:
        group.start_soon(ask)
        await wait_all_tasks_blocked()
        stop_token.request("interrupted")
        group.start_soon(ask)
        await wait_all_tasks_blocked()
        # A refusal now could cancel the call under way, if both are of one judge.
        assert (line.asked, refused) == (1, [])
        line.may_answer.set()
    assert (line.asked, refused) == (1, ["interrupted"])


async def test_a_call_waits_for_room_that_others_leave() -> None:
    line = OneLine(Reply(text="Good", usage=Usage(calls=1, prompt=5, completion=1)))
    meter = Meter(limits=Limits(max_tokens=180))
    model = counted(meter, line, held=True)
    async with create_task_group() as group:
        for _ in range(3):
            group.start_soon(model.complete, REQUEST)
        await wait_all_tasks_blocked()
        assert line.asked == 1  # of 96 tokens at most, of which it takes 6
        line.may_answer.set()
    assert meter.spent == Spending(3, 18, meter.cost)


async def test_longer_prompts_than_expected_are_expected_from_then_on() -> None:
    meter = Meter(limits=Limits(max_tokens=250))
    model = counted(meter, OneLine())
    await model.complete(REQUEST)
    await model.complete(REQUEST)  # after 110 tokens, 110 more fit
    with pytest.raises(RunStoppedError, match="the next call may take 110 tokens"):
        await model.complete(REQUEST)


@pytest.mark.parametrize(
    ("error", "tokens"),
    [
        (error_by_status("busy", status=429), 0),
        (error_by_status("broken", status=500), 0),
        (error_by_status("no such model", status=404), 0),
        (UnusableModelError("no key"), 0),
        (error_by_status("late", status=408), 96),
        (TransientModelError("cut"), 96),
        (error_by_status("no JSON", status=200), 96),
    ],
    ids=str,
)
async def test_a_failed_call_counts_with_its_tokens(error: ModelError, tokens: int) -> None:
    meter = Meter()
    with pytest.raises(type(error)):
        await counted(meter, OneLine(error)).complete(REQUEST)
    assert (meter.spent.calls, meter.tokens) == (1, tokens)


async def test_a_call_that_is_cancelled_counts_in_full() -> None:
    meter, line = Meter(), OneLine()
    model = counted(meter, line, held=True)
    async with create_task_group() as group:
        group.start_soon(model.complete, REQUEST)
        await wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    assert (meter.spent.calls, meter.tokens) == (1, 96)


@dataclass
class FullMemory(DictMemory):
    """A memory that cannot keep anything after a call."""

    async def put_soon(self, key: str, value: bytes) -> None:
        raise StoreError("the disk is full")


async def test_a_call_is_settled_with_its_payer_though_the_ledger_cannot_be_kept() -> None:
    class Tenant:
        meter = Meter()

        async def reserve(self, most: Spending) -> Meter:
            await self.meter.reserve(most)
            return self.meter

    tenant, meter = Tenant(), Meter()
    with meter.kept_in(FullMemory()), paid_by(tenant), pytest.raises(StoreError, match="full"):
        await counted(meter, OneLine()).complete(REQUEST)
    assert (tenant.meter.is_idle, tenant.meter.spent) == (True, meter.spent)


async def test_a_reservation_is_on_disk_before_the_call_is_sent(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    line, meter = OneLine(), Meter()
    with SqliteMemory(path) as memory, meter.kept_in(memory):
        model = counted(meter, line, held=True)
        async with create_task_group() as group:
            for _ in range(5):
                group.start_soon(model.complete, REQUEST)
            while line.asked < 5:
                await wait_all_tasks_blocked()
            copied = tmp_path / "as-killed.sqlite3"
            for end in ("", "-wal"):
                copied.with_name(copied.name + end).write_bytes(
                    path.with_name(path.name + end).read_bytes()
                )
            line.may_answer.set()
        assert meter.spent.calls == 5
    with SqliteMemory(path) as memory, (after := Meter()).kept_in(memory):
        assert (after.of_run, after.before["cut off"]) == (meter.spent, Spending())
    with SqliteMemory(copied) as memory, (killed := Meter()).kept_in(memory):
        assert killed.before == {"cut off": Spending(5, 5 * 96, killed.of_run.dollars)}


async def test_the_limits_of_a_whole_run_count_what_was_asked_before() -> None:
    memory = DictMemory()
    with (before := Meter()).kept_in(memory):
        await counted(before, OneLine()).complete(REQUEST)
    limits = Limits(max_calls=1)
    again = Meter(limits=limits, is_whole=True)
    with again.kept_in(memory), pytest.raises(RunStoppedError):
        await counted(again, OneLine()).complete(REQUEST)
    with (another := Meter(limits=limits)).kept_in(memory):
        await counted(another, OneLine()).complete(REQUEST)


async def test_calls_are_counted_by_who_makes_them() -> None:
    meter = Meter()
    model = counted(meter, OneLine())
    await AskedBy(model, "consolidator").complete(REQUEST)
    await model.complete(REQUEST)
    await model.probe(REQUEST)
    calls = {name: one.calls for name, one in meter.made.items()}
    assert calls == {"consolidator": 1, "seats": 1, "probes": 1}


async def test_a_model_is_handed_the_reports_for_which_it_was_asked_and_no_other() -> None:
    meter, handed = Meter(), list[Report]()
    line = OneLine()
    line.may_answer.set()
    account = meter.account(name="line", price=PRICE, judged=handed.append)
    model = Gateway(line, options=ModelOptions(attempts=1), account=account)

    @dataclass
    class Asking:
        asks: tuple[Callable[[ChatRequest], Awaitable[Reply]], ...]
        signature: str = "asking"

        async def assess(self, segment: Segment, aspect: Aspect) -> Report:
            for ask in self.asks:
                await ask(REQUEST)
            return Report(score=3)

    for asks in ((), (model.probe,), (model.complete, model.complete)):
        await seat_report(Seat(name="seat", judge=Asking(asks)), segment(), ASPECT)
    await model.complete(REQUEST)
    assert handed == [Report(score=3)]


def test_a_cost_cannot_be_limited_where_no_price_is_known() -> None:
    meter = Meter(limits=Limits(max_cost=1.0))
    with pytest.raises(ConfigError, match="no price is known for model 'local'"):
        meter.account(name="local", price=None)


@pytest.mark.parametrize(
    "limits",
    [
        {"max_cost": 0.0},
        {"max_cost": float("nan")},
        {"max_calls": 0},
        {"max_tokens": -1},
        {"max_seconds": 0.0},
    ],
    ids=str,
)
def test_a_limit_must_be_positive(limits: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="must be (positive|a number)"):
        Limits(**limits)  # type: ignore[arg-type]  # of either number type


def test_a_cached_prompt_costs_what_the_price_says_or_as_much_as_the_rest() -> None:
    usage = Usage(calls=1, prompt=1000, cached=400, completion=100, reasoning=50)
    assert PRICE.cost(usage) == pytest.approx(1.0 + 1.0)
    cheaper = TokenPrice(prompt=1e-3, completion=1e-2, cached=0.0)
    assert cheaper.cost(usage) == pytest.approx(0.6 + 1.0)
