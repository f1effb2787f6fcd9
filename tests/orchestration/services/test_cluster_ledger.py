"""The ledger of a run on a cluster, and the meters of its workers, without a cluster."""

import json
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint
from loopback.answers import chat
from loopback.server import LoopbackServer

from spanjury.adapters.models.gateway import Gateway
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Decoding,
    Message,
    ModelOptions,
    Reply,
    RunStoppedError,
    TokenPrice,
    Usage,
)
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.metering import Bound, Limits
from spanjury.orchestration.engine.spending import Spending
from spanjury.orchestration.services.runs import cluster_ledger
from spanjury.orchestration.services.runs.cluster import ChunkWorker
from spanjury.orchestration.services.runs.cluster_job import CHUNKS, ENDS, ClusterJob
from spanjury.orchestration.services.runs.cluster_ledger import (
    ClusterStop,
    Ledger,
    WorkerMeter,
    stop_note,
)
from spanjury.orchestration.wiring.cascades import CascadeConfig
from spanjury.orchestration.wiring.cluster import ShardFolder, cut_chunks
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig

PRICE = TokenPrice(prompt=1 / 64, completion=1 / 32)
USAGE = Usage(calls=1, prompt=10, completion=5)  # .3125 dollars, of which sums are exact
REQUEST = ChatRequest(
    messages=(Message(role="user", content="?"),), decoding=Decoding(max_tokens=5)
)


def stop_of(answer: str) -> object:
    """Return the order to stop in an answer of the ledger."""
    return json.loads(answer)["stop"]


@dataclass(slots=True)
class Model:
    """Replies when the others have had their turn."""

    signature: str = "model"
    asked: list[int] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Reply:
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
    account = meter.account(name="model", price=PRICE)
    gateway = Gateway(model, options=ModelOptions(max_connections=64), account=account)
    stop_token = await meter.begin()

    async def ask() -> None:
        with suppress(RunStoppedError):  # a budget's end, too
            while not stop_token.is_requested:
                await gateway.complete(REQUEST)

    async with anyio.create_task_group() as group:
        for _ in range(slots):
            group.start_soon(ask)
    await meter.report()


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
def test_workers_together_keep_a_limit(
    monkeypatch: pytest.MonkeyPatch, limits: Limits, workers: int, slots: int
) -> None:
    monkeypatch.setattr(cluster_ledger, "_TURN", 0.0)
    monkeypatch.setattr(cluster_ledger, "_PAUSE", 0.0)
    model, _ = anyio.run(partial(together, limits, workers=workers, slots=slots))
    assert 95 <= len(model.asked) <= 100


@pytest.mark.parametrize("budget", [Bound("calls", 100), Bound("dollars", 31.25)])
@pytest.mark.parametrize(("workers", "slots"), [(1, 1), (2, 1), (5, 1), (3, 4)])
def test_workers_together_keep_the_budget_of_their_panel(
    monkeypatch: pytest.MonkeyPatch, budget: Bound, workers: int, slots: int
) -> None:
    monkeypatch.setattr(cluster_ledger, "_TURN", 0.0)

    async def spend() -> tuple[Model, list[WorkerMeter], Notes]:
        notes, model = Notes(Ledger(Limits())), Model()
        meters = [WorkerMeter(limits=Limits(), ask=notes.ask) for _ in range(workers)]
        with ExitStack() as panels:
            for meter in meters:
                panels.enter_context(meter.holding(budget.unit, budget.most))
            async with anyio.create_task_group() as group:
                for meter in meters:
                    group.start_soon(partial(work, meter, model, slots=slots))
        for meter in meters:
            await meter.begin()
        return model, meters, notes

    model, meters, notes = anyio.run(spend)
    assert 95 <= len(model.asked) <= 100
    assert {meter.of_run.calls for meter in meters[1:]} <= {len(model.asked)}
    assert stop_of(notes.ledger("{}")) is None  # a budget ends the asking, and not the run


def test_a_budget_holds_for_all_goes_at_a_run_together(tmp_path: Path) -> None:
    folder = ShardFolder(str(tmp_path))
    asked = []

    async def go(*, killed: bool) -> None:
        notes, model = Notes(Ledger(Limits(), file=folder)), Model()
        meter = WorkerMeter(limits=Limits(), ask=notes.ask)
        with meter.holding("calls", 100 if killed else 110):
            if killed:  # a call is sent, and its worker does not live to count it
                await meter.reserve(Spending(1, 10, 0.0))
            else:
                await work(meter, model, slots=3)
        asked.append(len(model.asked))

    for killed in (True, False, False):
        anyio.run(partial(go, killed=killed))
    assert asked == [0, 109, 0]


def test_a_run_without_a_budget_keeps_no_ledger(tmp_path: Path) -> None:
    folder = ShardFolder(str(tmp_path))
    meter = WorkerMeter(
        limits=Limits(max_tokens=1500), ask=Notes(Ledger(Limits(), file=folder)).ask
    )
    anyio.run(partial(work, meter, Model(), slots=1))
    assert folder.ledger() is None


def test_workers_of_a_cluster_spend_what_the_budget_of_their_panel_leaves(tmp_path: Path) -> None:
    rows = [{"id": str(n), "task": "summarization", "output": f"Text {n}."} for n in range(20)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    with LoopbackServer(chat("No Error\n\nOverall score: Good\nExplanation: Fine.")) as server:
        names = ("openai-compatible/first", "openai-compatible/second")
        first = f"annotator:{names[0]}"
        job = ClusterJob(
            data=str(tmp_path / "rows.jsonl"),
            panel=PanelConfig(
                models=tuple(ModelConfig(name=one, base_url=server.base_url) for one in names),
                seats=(SeatConfig(judge="annotator"),),
                cascade=CascadeConfig(stages=((first,),), unsure=(0.0, 1.0), budget="24calls"),
            ),
            folder=str(tmp_path / "run"),
            aspects=("fluency",),
        )
        ShardFolder(job.folder).create()
        notes = Notes(Ledger(job.limits))
        workers = [ChunkWorker(job, Catalogue.load(), notes.ask) for _ in range(2)]
        chunks = cut_chunks(job.data, rows=10)
        ends = [
            ENDS.validate_json(worker(CHUNKS.dump_json(chunk).decode()))
            for worker, chunk in zip(workers, chunks, strict=True)
        ]
        assert [end.failure for end in ends] == [None, None]
        assert [end.record.results for end in ends] == [10, 10]
        assert 23 <= len(server.requests) <= 24


def test_calls_that_end_together_are_reported_together() -> None:
    model, notes = anyio.run(partial(together, Limits(max_cost=31.25), workers=1, slots=20))
    assert len(model.asked) >= 95
    assert notes.count < len(model.asked) / 4


@pytest.mark.parametrize("cancelled", [0, 1])
def test_a_call_that_is_cancelled_while_the_ledger_answers_keeps_no_room(
    monkeypatch: pytest.MonkeyPatch, cancelled: int
) -> None:
    monkeypatch.setattr(cluster_ledger, "_TURN", 0.0)
    most = Spending(1, 10, 0.0)

    async def call_twice() -> None:
        notes, scopes = Notes(Ledger(Limits(max_calls=2))), [anyio.CancelScope() for _ in range(2)]

        async def ask(note: str) -> str:
            answer = await notes.ask(note)
            scopes[cancelled].cancel()
            await checkpoint()
            return answer

        async def call(scope: anyio.CancelScope) -> None:
            with scope:
                await meter.reserve(most)
                await meter.settle(most, Usage(), price=None, maker="seats")

        meter = WorkerMeter(limits=Limits(max_calls=2), ask=ask)
        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                for scope in scopes:
                    group.start_soon(call, scope)
            for _ in scopes:
                await meter.reserve(most)

    anyio.run(call_twice)


def test_without_a_limit_of_what_is_spent_no_call_waits_for_the_ledger() -> None:
    async def ask_once() -> int:
        notes = Notes(Ledger(Limits(max_seconds=9.0)))
        meter = WorkerMeter(limits=Limits(max_seconds=9.0), ask=notes.ask)
        account = meter.account(name="model", price=None)
        await Gateway(Model(), options=ModelOptions(), account=account).complete(REQUEST)
        assert meter.usage == USAGE
        return notes.count

    assert anyio.run(ask_once) == 0


def test_a_limit_of_cost_without_a_price_is_refused() -> None:
    async def ask(_: str) -> str:
        raise AssertionError

    meter = WorkerMeter(limits=Limits(max_cost=1.0), ask=ask)
    with pytest.raises(ConfigError, match="no price is known for model 'model'"):
        meter.account(name="model", price=None)


def test_time_is_over_for_all_and_what_is_under_way_has_its_grace() -> None:
    now = 100.0
    ledger = Ledger(Limits(max_seconds=60.0), clock=lambda: now)
    now = 159.0
    assert stop_of(ledger("{}")) is None
    now = 160.0
    assert stop_of(ledger("{}")) == {"reason": "60 seconds are over", "grace": 10.0}
    now = 166.0
    assert stop_of(ledger("{}")) == {"reason": "60 seconds are over", "grace": 4.0}
    now = 200.0
    assert stop_of(ledger("{}")) == {"reason": "60 seconds are over", "grace": 0.0}


def test_the_first_reason_is_kept_and_the_shortest_grace() -> None:
    ledger = Ledger(Limits())
    assert stop_of(ledger(stop_note("enough"))) == {"reason": "enough", "grace": None}
    assert stop_of(ledger(stop_note("at once", grace=0.0))) == {"reason": "enough", "grace": 0.0}
    assert stop_of(ledger(stop_note("later"))) == {"reason": "enough", "grace": 0.0}


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
