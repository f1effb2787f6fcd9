"""Runs while a model is silent, complains of everything, or was never asked before."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from time import monotonic

import anyio
import pytest
from anyio import create_task_group, wait_all_tasks_blocked
from fakes.clock import FakeClock
from fakes.guarded import REQUEST, Server, always, between, fine, guarded, outcomes
from fakes.logs import capture_logs
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.models.circuit import Guard
from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.models.outage import ALIKE, Outage, UsableShare
from spanjury.judges.core import (
    ChatRequest,
    ModelOptions,
    Outcome,
    PermanentModelError,
    RateLimitedModelError,
    Reply,
    Report,
    RunFailedError,
    TransientModelError,
)
from spanjury.testing import ScriptedModel

UNFIT = PermanentModelError("status 400: unsupported parameter")
SHARE = partial(UsableShare, least=0.1, window=50)


class HeldModel:
    """Replies to what it is asked once it is released."""

    signature = "held"

    def __init__(self) -> None:
        self.released = anyio.Event()
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        await self.released.wait()
        return Reply(text="fine")


async def test_an_outage_is_reported_once_when_it_begins_and_once_when_it_ends() -> None:
    clock = FakeClock()
    down = TransientModelError("refused, with the text")
    server = Server(between(5, 30, down), between(5, 30, down), clock)
    gateway = guarded(server, clock)
    with capture_logs() as logs:
        await gateway.complete(REQUEST)
        clock.now = 5.0
        await outcomes(gateway, calls=50)
    outages = [entry for entry in logs if str(entry["event"]).startswith("outage.")]
    begun, ended = outages
    assert (begun["event"], begun["model"]) == ("outage.begun", "judge")
    assert (begun["longest"], begun["error"]) == (60.0, "TransientModelError")
    assert ended["event"] == "outage.ended"
    assert isinstance(seconds := ended["seconds"], float)
    assert 0 < seconds <= 60


async def test_a_model_that_answers_is_not_reported() -> None:
    clock = FakeClock()
    with capture_logs() as logs:
        await outcomes(guarded(Server(fine, fine, clock), clock), calls=20)
    assert [entry for entry in logs if str(entry["event"]).startswith("outage.")] == []


async def test_a_preflight_that_is_not_answered_at_once_is_reported() -> None:
    model, clock = HeldModel(), FakeClock()
    guard = Guard(silence=0.0, clock=clock, sleep=clock.sleep)
    gateway = guarded(model, clock, guard=guard)
    with capture_logs() as logs:
        async with create_task_group() as group:
            group.start_soon(gateway.complete, REQUEST)
            with anyio.fail_after(10):
                while "outage.begun" not in {entry["event"] for entry in logs}:
                    await anyio.lowlevel.checkpoint()
            model.released.set()
    assert [entry["error"] for entry in logs if entry["event"] == "outage.begun"] == [
        "no reply yet"
    ]
    assert "outage.ended" in {entry["event"] for entry in logs}


async def test_a_wait_that_began_without_a_reason_is_reported_again_with_its_first_error() -> None:
    refused = TransientModelError("cannot connect to host:1: connection refused")
    refused.unconnected = "cannot connect: connection refused"
    outage = Outage("judge", where="judge at host", longest=60.0, silence=5.0, clock=FakeClock())
    with capture_logs() as logs:
        outage.begin()
        for _ in range(3):
            outage.begin(refused)
            outage.begin()
    assert [entry["error"] for entry in logs] == ["no reply yet", refused.unconnected]


async def test_a_gateway_says_for_whom_it_waits_and_how_long() -> None:
    clock, down = FakeClock(), TransientModelError("refused")
    guard = Guard(clock=clock, sleep=clock.sleep)
    circuit = guard.circuit("judge", name="judge", where="judge at http://host/v1")
    waits: list[str] = []

    def answer(now: float) -> Exception | None:
        waits.append(gateway.waiting(monotonic() + 17))
        return down if now < 30 else None

    model = Server(fine, answer, clock)
    gateway = Gateway(model, options=ModelOptions(), clock=clock, sleep=clock.sleep)
    assert gateway.waiting(monotonic()) == ""
    gateway.guard(circuit)
    await gateway.complete(REQUEST)
    assert (waits[0], set(waits[1:])) == ("", {"waiting for judge at http://host/v1 (17 s of 60)"})
    assert gateway.waiting(monotonic()) == ""


async def test_no_server_is_waited_for_once_the_run_is_given_up() -> None:
    clock, down = FakeClock(), TransientModelError("refused")
    gateway = guarded(Server(always(down), always(down), clock), clock)
    await outcomes(gateway, calls=1)
    assert gateway.waiting(monotonic()) == ""


async def test_a_long_wait_that_the_server_asks_for_is_reported_if_nothing_else_moves() -> None:
    for asked, logged in ((40.0, ["outage.begun", "outage.ended"]), (2.0, [])):
        clock = FakeClock()
        limited = RateLimitedModelError("slow down", retry_after=asked)
        gateway = guarded(ScriptedModel(limited, "fine"), clock, preflight=False)
        with capture_logs() as logs:
            assert (await gateway.complete(REQUEST)).text == "fine"
        events = [str(entry["event"]) for entry in logs]
        assert [event for event in events if event.startswith("outage.")] == logged


async def test_without_a_preflight_the_first_call_goes_ahead_until_it_is_answered() -> None:
    model, clock = HeldModel(), FakeClock()
    guard = Guard(preflight=False, head_start=60.0, clock=clock, sleep=clock.sleep)
    gateway = guarded(model, clock, guard=guard)
    async with create_task_group() as group:
        for _ in range(20):
            group.start_soon(gateway.complete, REQUEST)
        await wait_all_tasks_blocked()
        assert model.requests == [REQUEST]
        model.released.set()
    assert model.requests == [REQUEST] * 20


async def test_a_first_call_that_takes_long_holds_no_one_up_for_longer_than_its_start() -> None:
    model, clock = HeldModel(), FakeClock()
    guard = Guard(preflight=False, head_start=0.0, clock=clock, sleep=clock.sleep)
    gateway = guarded(model, clock, guard=guard)
    async with create_task_group() as group:
        for _ in range(8):
            group.start_soon(gateway.complete, REQUEST)
        with anyio.fail_after(10):
            while len(model.requests) < 8:
                await anyio.lowlevel.checkpoint()
        model.released.set()


@pytest.mark.heavy
@pytest.mark.parametrize("preflight", [True, False])
async def test_a_model_that_complains_of_all_alike_ends_the_run(*, preflight: bool) -> None:
    clock = FakeClock()
    server = Server(always(UNFIT), always(UNFIT), clock)
    ended = await outcomes(guarded(server, clock, preflight=preflight), calls=1000)
    assert server.asked["probe"] == 1
    assert server.asked["call"] <= ALIKE + 8  # those under way
    last = ended[-1]
    assert isinstance(last, RunFailedError)
    assert "model judge has replied to nothing, and says the same of whatever" in str(last)


async def test_complaints_alike_of_texts_end_nothing_where_the_small_question_is_answered() -> None:
    clock = FakeClock()
    for preflight in (True, False):
        server = Server(always(UNFIT), fine, clock)
        ended = await outcomes(guarded(server, clock, preflight=preflight), calls=100)
        assert (ended, server.asked) == ([UNFIT] * 100, {"probe": 1, "call": 100})


async def test_complaints_of_a_model_that_has_replied_are_the_texts_own() -> None:
    clock = FakeClock()
    server = Server(between(5, 1e9, UNFIT), always(UNFIT), clock)
    gateway = guarded(server, clock)
    await gateway.complete(REQUEST)
    clock.now = 5.0
    assert await outcomes(gateway, calls=100) == [UNFIT] * 100
    assert server.asked == {"probe": 1, "call": 101}


@pytest.mark.heavy
async def test_a_model_that_answers_probes_alone_is_tried_by_a_call_that_failed() -> None:
    clock = FakeClock()
    down = TransientModelError("status 500: no memory")
    server = Server(always(down), fine, clock)
    guard = Guard(new_share=SHARE, clock=clock, sleep=clock.sleep)
    ended = await outcomes(guarded(server, clock, guard=guard), calls=220)
    assert server.asked.total() <= 60
    last = ended[-1]
    assert isinstance(last, RunFailedError)
    assert "model judge has answered none of the last " in str(last)
    assert "calls in 60 s (--max-outage); " in str(last)
    assert str(last).endswith("each row fails by itself: status 500: no memory")


async def test_calls_that_are_answered_at_last_are_all_made_again() -> None:
    clock = FakeClock()
    server = Server(between(0, 30, TransientModelError("status 500: no memory")), fine, clock)
    guard = Guard(new_share=SHARE, clock=clock, sleep=clock.sleep)
    replies = await outcomes(guarded(server, clock, guard=guard), calls=100)
    assert Counter(map(type, replies))[Reply] >= 100 - 8  # those that failed in all attempts


async def test_a_model_whose_answers_are_of_no_use_ends_the_run() -> None:
    guard = Guard(new_share=SHARE)
    circuit = guard.circuit("judge", name="judge")
    scored = Report(outcome=Outcome.SCORED, score=3.0)
    cut = Report(outcome=Outcome.TRUNCATED, reason="the reply broke off")
    for report in [scored] + [cut] * 15:
        assert not guard.has_failed
        circuit.judged(report)
    with pytest.raises(RunFailedError) as caught:
        guard.require_success()
    assert (
        "1 of its last 16 assessments can be used (15 truncated: the reply broke off), and 10% is"
        " the least that a run goes on with (--min-usable)"
    ) in str(caught.value)


@pytest.mark.parametrize("new_share", [UsableShare, partial(UsableShare, least=0.0, window=50)])
def test_no_answer_is_too_useless_without_a_demand(new_share: Callable[[], UsableShare]) -> None:
    share = new_share()
    for _ in range(100):
        share.add(Report(outcome=Outcome.UNPARSEABLE, reason="no score"))
        assert not share.is_too_small


@given(st.lists(st.booleans(), max_size=120))
def test_the_share_is_of_the_last_assessments_and_of_enough(usable: list[bool]) -> None:
    share = UsableShare(least=0.3, window=10)
    for number, is_usable in enumerate(usable, start=1):
        ended = Outcome.ABSTAINED if is_usable else Outcome.REFUSED
        share.add(Report(outcome=ended, reason="so"))
        last = usable[max(0, number - 10) : number]
        assert share.is_too_small == (number >= 3 and sum(last) < 0.3 * len(last))
