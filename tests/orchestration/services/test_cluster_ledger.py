"""The ledger of a run on a cluster, and the meters of its workers, without a cluster."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
import pytest
from anyio.lowlevel import checkpoint

from spanjury.judges.core import ChatRequest, ConfigError, Message, Reply, TokenPrice, Usage
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.services import cluster_ledger
from spanjury.orchestration.services.cluster_ledger import (
    ClusterStop,
    Ledger,
    WorkerMeter,
    stop_note,
)

PRICE = TokenPrice(prompt=1 / 64, completion=1 / 32)
USAGE = Usage(calls=1, prompt=10, completion=5)  # .3125 dollars, of which sums are exact
REQUEST = ChatRequest(messages=(Message(role="user", content="?"),))


@dataclass(slots=True)
class Model:
    """Replies when the others have had their turn."""

    signature: str = "model"
    limit: int = 8
    under_way: int = 0
    asked: list[int] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Reply:
        del request
        self.asked.append(len(self.asked))
        await checkpoint()
        return Reply(text="Good", usage=USAGE)


@dataclass(slots=True)
class Notes:
    """Carries notes to a ledger, slowly, and counts them."""

    ledger: Ledger
    count: int = 0

    async def ask(self, note: str) -> str:
        self.count += 1
        answer = self.ledger(note)
        for _ in range(5):
            await checkpoint()
        return answer


async def work(meter: WorkerMeter, model: Model, *, slots: int) -> None:
    """Ask the model again and again in so many tasks, until the run is to stop."""
    metered = meter.on(model, name="model", price=PRICE)
    stop_token = await meter.begin()

    async def ask() -> None:
        while not stop_token.is_requested:
            await metered.complete(REQUEST)

    async with anyio.create_task_group() as group:
        for _ in range(slots):
            group.start_soon(ask)


async def together(limits: Limits, *, workers: int, slots: int) -> tuple[Model, Notes]:
    """Let workers ask one model under one ledger."""
    notes, model = Notes(Ledger(limits)), Model()
    meters = [WorkerMeter(limits=limits, ask=notes.ask) for _ in range(workers)]
    async with anyio.create_task_group() as group:
        for meter in meters:
            group.start_soon(partial(work, meter, model, slots=slots))
    assert sum(meter.usage.calls for meter in meters) == len(model.asked)
    return model, notes


@pytest.mark.parametrize(
    "limits",
    [Limits(max_cost=31.25), Limits(max_tokens=1500), Limits(max_cost=31.25, max_tokens=9999)],
)
@pytest.mark.parametrize(("workers", "slots"), [(1, 1), (2, 1), (5, 1), (3, 4)])
def test_workers_exceed_a_limit_by_what_is_under_way_at_most(
    limits: Limits, workers: int, slots: int
) -> None:
    model, _ = anyio.run(partial(together, limits, workers=workers, slots=slots))
    assert 100 <= len(model.asked) < 100 + workers * slots


def test_calls_that_end_together_are_reported_together() -> None:
    model, notes = anyio.run(partial(together, Limits(max_cost=31.25), workers=1, slots=20))
    assert len(model.asked) >= 100
    assert notes.count < len(model.asked) / 4


def test_without_a_limit_of_what_is_spent_no_call_waits_for_the_ledger() -> None:
    async def ask_once() -> int:
        notes = Notes(Ledger(Limits(max_seconds=9.0)))
        meter = WorkerMeter(limits=Limits(max_seconds=9.0), ask=notes.ask)
        await meter.on(Model(), name="model", price=None).complete(REQUEST)
        assert meter.usage == USAGE
        return notes.count

    assert anyio.run(ask_once) == 0


def test_a_limit_of_cost_without_a_price_is_refused() -> None:
    async def ask(_: str) -> str:
        raise AssertionError

    meter = WorkerMeter(limits=Limits(max_cost=1.0), ask=ask)
    with pytest.raises(ConfigError, match="no price is known for model 'model'"):
        meter.on(Model(), name="model", price=None)


def test_time_is_over_for_all_and_what_is_under_way_has_its_grace() -> None:
    now = 100.0
    ledger = Ledger(Limits(max_seconds=60.0), clock=lambda: now)
    now = 159.0
    assert ledger("{}") == "null"
    now = 160.0
    assert ledger("{}") == '{"reason":"60 seconds are over","grace":10.0}'
    now = 166.0
    assert ledger("{}") == '{"reason":"60 seconds are over","grace":4.0}'
    now = 200.0
    assert ledger("{}") == '{"reason":"60 seconds are over","grace":0.0}'


def test_the_first_reason_is_kept_and_the_shortest_grace() -> None:
    ledger = Ledger(Limits())
    assert ledger(stop_note("enough")) == '{"reason":"enough","grace":null}'
    assert ledger(stop_note("at once", grace=0.0)) == '{"reason":"enough","grace":0.0}'
    assert ledger(stop_note("later")) == '{"reason":"enough","grace":0.0}'


def test_a_stop_that_comes_before_the_ledger_reaches_it() -> None:
    stop, notes = ClusterStop(), list[str]()
    stop.request("interrupted", grace=10.0)
    with stop.passed_on(notes.append):
        assert notes == [stop_note("interrupted", grace=10.0)]
        stop.request("interrupted", grace=0.0)
    stop.request("interrupted", grace=0.0)  # when there is no ledger any longer
    assert notes[1:] == [stop_note("interrupted", grace=0.0)]


def test_a_worker_that_reports_nothing_hears_of_the_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_ledger, "_PAUSE", 0.0)

    async def wait(ask: Callable[[str], Awaitable[str]], ledger: Ledger) -> str:
        meter = WorkerMeter(limits=Limits(), ask=ask)
        stop_token = await meter.begin()
        assert not stop_token.is_requested
        ledger(stop_note("enough"))
        async with anyio.create_task_group() as group:
            group.start_soon(meter.watch)
            with anyio.fail_after(10):
                while not stop_token.is_requested:
                    await checkpoint()
            group.cancel_scope.cancel()
        return stop_token.reason

    ledger = Ledger(Limits())
    assert anyio.run(wait, Notes(ledger).ask, ledger) == "enough"
