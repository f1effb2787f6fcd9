"""Circuits: calls wait for a model that is down, and a run ends when it stays down."""

import anyio
import pytest
from anyio import create_task_group, wait_all_tasks_blocked
from fakes.clock import FakeClock
from fakes.guarded import REQUEST, Server, always, between, fine, guarded, outcomes

from spanjury.adapters.models.circuit import PATIENCE, PROBE, Guard
from spanjury.adapters.models.event_loop import Lease
from spanjury.adapters.models.gateway import Gateway
from spanjury.adapters.models.outage import ALIKE
from spanjury.judges.core import (
    ChatRequest,
    ClosedModelError,
    ConfigError,
    ModelOptions,
    ModelTimeoutError,
    OverloadedModelError,
    PermanentModelError,
    RateLimitedModelError,
    Reply,
    RunFailedError,
    TransientModelError,
    UnusableModelError,
)
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.spending import Spending
from spanjury.testing import ScriptedModel

WRONG_KEY = UnusableModelError("status 401: wrong key")
DOWN = TransientModelError("connection refused")


async def test_one_small_call_goes_first_and_is_counted() -> None:
    clock, meter = FakeClock(), Meter()
    server = Server(fine, fine, clock)
    gateway = guarded(server, clock, account=meter.account(name="server", price=None))
    assert server.asked == {}  # no model is asked before there is a question
    replies = await outcomes(gateway, calls=20)
    assert [reply for reply in replies if not isinstance(reply, Reply)] == []
    assert server.asked == {"probe": 1, "call": 20}
    assert meter.made == {"probes": Spending(1, 10), "seats": Spending(20, 200)}


async def test_without_a_preflight_a_model_that_answers_gets_no_call_more() -> None:
    clock = FakeClock()
    server = Server(fine, fine, clock)
    await outcomes(guarded(server, clock, preflight=False), calls=20)
    assert server.asked == {"call": 20}


async def test_calls_wait_while_the_small_one_is_under_way() -> None:
    released = anyio.Event()
    asked: list[ChatRequest] = []

    class Slow:
        signature = "slow"

        async def complete(self, request: ChatRequest) -> Reply:
            asked.append(request)
            await released.wait()
            return Reply(text="ready")

    gateway = guarded(Slow(), FakeClock())
    async with create_task_group() as group:
        for _ in range(5):
            group.start_soon(gateway.complete, REQUEST)
        await wait_all_tasks_blocked()
        assert asked == [PROBE]
        released.set()
    assert asked == [PROBE, *[REQUEST] * 5]


async def test_a_model_that_refuses_the_key_costs_one_call_and_no_wait() -> None:
    clock = FakeClock()
    server = Server(always(WRONG_KEY), always(WRONG_KEY), clock)
    ended = await outcomes(guarded(server, clock), calls=200)
    assert (server.asked, {type(error) for error in ended}) == ({"probe": 1}, {RunFailedError})
    assert "model judge cannot be used: status 401: wrong key; check" in str(ended[0])
    assert clock.slept == []


async def test_without_a_preflight_it_costs_one_call_and_a_probe() -> None:
    clock = FakeClock()
    server = Server(always(WRONG_KEY), always(WRONG_KEY), clock)
    ended = await outcomes(guarded(server, clock, preflight=False), calls=200)
    assert server.asked == {"call": 1, "probe": 1}
    assert {type(error) for error in ended} == {RunFailedError}


async def test_a_key_that_is_withdrawn_ends_the_run_after_so_many_refusals_alike() -> None:
    clock = FakeClock()
    key_is_good = [True]

    def answer(now: float) -> Exception | None:
        return None if key_is_good[0] else WRONG_KEY

    server = Server(answer, answer, clock)
    gateway = guarded(server, clock)
    await gateway.complete(REQUEST)
    key_is_good[0] = False
    with pytest.raises(RunFailedError, match="wrong key"):
        await gateway.complete(REQUEST)
    assert server.asked == {"probe": ALIKE, "call": 2}  # one probe was the preflight


async def test_a_refusal_that_passes_costs_no_row() -> None:
    clock = FakeClock()
    server = Server(between(5, 6, WRONG_KEY), between(5, 6, WRONG_KEY), clock)
    gateway = guarded(server, clock)
    await gateway.complete(REQUEST)
    clock.now = 5.0
    assert (await gateway.complete(REQUEST)).text == "fine"


async def test_a_refusal_of_one_row_is_that_rows_own() -> None:
    clock = FakeClock()
    server = Server(always(UnusableModelError("status 403: moderated")), fine, clock)
    ended = await outcomes(guarded(server, clock), calls=30)
    assert {str(error) for error in ended} == {"status 403: moderated"}


async def test_a_bad_request_concerns_neither_the_run_nor_the_preflight() -> None:
    clock = FakeClock()
    error = PermanentModelError("status 400: too long")
    server = Server(always(error), always(PermanentModelError("status 400: no")), clock)
    ended = await outcomes(guarded(server, clock), calls=50)
    assert (ended, server.asked) == ([error] * 50, {"probe": 1, "call": 50})


@pytest.mark.parametrize("attempts", [1, 4])
@pytest.mark.parametrize("error", [DOWN, OverloadedModelError("503"), ModelTimeoutError("slow")])
async def test_calls_wait_for_a_returning_model(error: TransientModelError, attempts: int) -> None:
    clock = FakeClock()
    server = Server(between(5, 30, error), between(5, 30, error), clock)
    gateway = guarded(server, clock, attempts=attempts)
    await gateway.complete(REQUEST)
    clock.now = 5.0
    replies = await outcomes(gateway, calls=100)
    assert [reply for reply in replies if not isinstance(reply, Reply)] == []
    assert server.asked["call"] <= 101 + 8  # those under way when it went
    assert server.asked["probe"] <= 8


@pytest.mark.parametrize("attempts", [1, 4])
async def test_an_absent_model_fails_the_run_after_the_longest_outage(attempts: int) -> None:
    clock = FakeClock()
    server = Server(between(5, 1e9, DOWN), between(5, 1e9, DOWN), clock)
    gateway = guarded(server, clock, attempts=attempts)
    await gateway.complete(REQUEST)
    clock.now = 5.0
    ended = await outcomes(gateway, calls=1000)
    assert {type(error) for error in ended} == {RunFailedError}
    assert "has not answered for 60 s (--max-outage): connection" in str(ended[0])
    assert server.asked["call"] <= 1 + 8
    assert server.asked["probe"] <= 12


async def test_a_model_that_was_never_there_is_asked_a_handful_of_times() -> None:
    clock = FakeClock()
    server = Server(always(DOWN), always(DOWN), clock)
    ended = await outcomes(guarded(server, clock), calls=1000)
    assert ({type(error) for error in ended}, server.asked["call"]) == ({RunFailedError}, 0)
    assert server.asked["probe"] <= 10
    assert sum(clock.slept) == 60


@pytest.mark.heavy
async def test_an_outage_may_last_a_whole_night() -> None:
    clock = FakeClock()
    guard = Guard(max_outage=12 * 3600.0, clock=clock, sleep=clock.sleep)
    server = Server(fine, between(0, 8 * 3600.0, DOWN), clock)
    [ended] = await outcomes(guarded(server, clock, guard=guard), calls=1)
    assert isinstance(ended, Reply)
    assert clock() >= 8 * 3600.0
    assert max(clock.slept) == 10


async def test_no_outage_is_waited_for_where_none_may_last() -> None:
    clock = FakeClock()
    guard = Guard(max_outage=0, clock=clock, sleep=clock.sleep)
    server = Server(always(DOWN), always(DOWN), clock)
    await outcomes(guarded(server, clock, guard=guard), calls=10)
    assert (server.asked, clock.slept) == ({"probe": 1}, [])


async def test_the_wait_that_a_server_asks_for_is_kept_or_ends_the_run_at_once() -> None:
    ended: list[Reply | Exception] = []
    for asked, probes in ((30.0, 2), (3600.0, 1)):
        clock = FakeClock()
        error = RateLimitedModelError("quota", retry_after=asked)
        server = Server(fine, between(0, 29, error), clock)
        ended = await outcomes(guarded(server, clock), calls=1)
        assert (server.asked["probe"], clock.slept) == (probes, [30.0] if probes == 2 else [])
        assert isinstance(ended[0], Reply if probes == 2 else RunFailedError)
    assert "asks to wait 3600 s, beyond the 60 s of --max-outage: " in str(ended[0])


async def test_a_server_that_limits_the_rate_now_and_then_opens_nothing() -> None:
    clock = FakeClock()
    limited = [RateLimitedModelError("slow down", retry_after=1.0)] * (PATIENCE + 1)
    model = ScriptedModel("ready", *limited, *["fine"] * 6)
    assert (await guarded(model, clock, attempts=8).complete(REQUEST)).text == "fine"
    assert model.requests.count(PROBE) == 1


async def test_a_call_that_alone_fails_fails_when_a_probe_is_answered() -> None:
    clock = FakeClock()
    server = Server(always(ModelTimeoutError("too long a text")), fine, clock)
    with pytest.raises(ModelTimeoutError, match="too long a text"):
        await guarded(server, clock).complete(REQUEST)
    assert server.asked == {"probe": 2, "call": 2}


async def test_all_models_answer_before_the_first_of_a_fresh_run_is_asked() -> None:
    clock = FakeClock()
    for is_fresh, fails in ((True, True), (False, False)):
        guard = Guard(is_fresh=is_fresh, clock=clock, sleep=clock.sleep)
        good, bad = Server(fine, fine, clock), Server(fine, always(WRONG_KEY), clock)
        gateway = guarded(good, clock, guard=guard, name="good")
        guarded(bad, clock, guard=guard, name="bad")
        (ended,) = await outcomes(gateway, calls=1)
        assert (isinstance(ended, RunFailedError), good.asked["call"]) == (fails, 0 if fails else 1)
        assert bad.asked["probe"] == (1 if fails else 0)


async def test_a_model_that_was_closed_unasked_is_not_tried_with_the_others() -> None:
    clock = FakeClock()
    guard = Guard(clock=clock, sleep=clock.sleep)
    closed, model = Server(fine, always(WRONG_KEY), clock), Server(fine, fine, clock)
    guarded(closed, clock, guard=guard, name="closed")
    guard.circuit("closed", name="closed").detach()
    await guarded(model, clock, guard=guard, name="open").complete(REQUEST)
    assert closed.asked == {}


async def test_a_model_opened_again_in_the_same_run_is_not_tried_again() -> None:
    clock = FakeClock()
    guard = Guard(clock=clock, sleep=clock.sleep)
    server = Server(fine, fine, clock)
    for _ in range(3):
        await guarded(server, clock, guard=guard).complete(REQUEST)
    assert server.asked == {"probe": 1, "call": 3}


async def test_one_dead_server_of_two_stops_nothing() -> None:
    clock = FakeClock()
    for error in (DOWN, WRONG_KEY):
        dead, alive = Server(always(error), always(error), clock), Server(fine, fine, clock)
        guard = Guard(clock=clock, sleep=clock.sleep)
        gateway = Gateway(
            dead,
            replicas=(alive,),
            options=ModelOptions(max_connections=8),
            clock=clock,
            sleep=clock.sleep,
        )
        gateway.guard(guard.circuit("judge", name="judge"))
        replies = await outcomes(gateway, calls=200)
        assert [reply for reply in replies if not isinstance(reply, Reply)] == []


async def test_a_caller_that_is_cancelled_while_it_asks_hands_the_asking_on() -> None:
    released, second = anyio.Event(), anyio.Event()
    probes = 0

    class Slow:
        signature = "slow"

        async def complete(self, request: ChatRequest) -> Reply:
            nonlocal probes
            probes += request is PROBE
            if probes > 1:
                second.set()
            await released.wait()
            return Reply(text="ready")

    gateway = guarded(Slow(), FakeClock())
    async with create_task_group() as group:
        first = anyio.CancelScope()

        async def ask_in_vain() -> None:
            with first:
                await gateway.complete(REQUEST)

        group.start_soon(ask_in_vain)
        await wait_all_tasks_blocked()
        group.start_soon(gateway.complete, REQUEST)
        await wait_all_tasks_blocked()
        first.cancel()
        with anyio.fail_after(10):
            await second.wait()
        released.set()
    assert probes == 2


async def test_after_its_end_a_lease_says_what_to_do_and_no_server_is_asked() -> None:
    model = ScriptedModel("fine")
    lease = Lease()
    gateway = Gateway(model, options=ModelOptions(), lease=lease)
    await gateway.complete(REQUEST)
    lease.end()
    with pytest.raises(ClosedModelError, match="after its panel was closed: ask inside") as caught:
        await gateway.complete(REQUEST)
    assert isinstance(caught.value, ConfigError)
    assert len(model.requests) == 1


async def test_another_event_loop_is_named_at_once() -> None:
    model = ScriptedModel("fine", repeat_last=True)
    gateway = Gateway(model, options=ModelOptions(), lease=Lease())
    with pytest.raises(ClosedModelError, match="from another event loop than its panel"):
        await anyio.to_thread.run_sync(anyio.run, gateway.complete, REQUEST)
    assert model.requests == ()
