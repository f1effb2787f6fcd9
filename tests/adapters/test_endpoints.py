"""Several servers of one model, behind the gateway, by a clock that no test waits for."""

from collections.abc import Callable

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from anyio.lowlevel import checkpoint
from fakes.clock import FakeClock
from fakes.logs import capture_logs
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.adapters.models.endpoints import (
    FIRST_REST,
    LONGEST_REST,
    PATIENCE,
    Endpoint,
    Endpoints,
)
from spanjury.adapters.models.gateway import Gateway
from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Message,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    OverloadedModelError,
    PermanentModelError,
    RateLimitedModelError,
    Reply,
    TransientModelError,
)

REQUEST = ChatRequest(messages=(Message(role="user", content="Judge this."),))
RESET = TransientModelError("connection reset")


class Server:
    """A model at one server: it answers with its name, or fails as long as it is to."""

    def __init__(self, name: str, failure: ModelError | None = None) -> None:
        self.signature = "model"
        self.name = name
        self.failure = failure
        self.asked = 0
        self.open = anyio.Event()
        self.open.set()

    async def complete(self, request: ChatRequest) -> Reply:
        self.asked += 1
        await self.open.wait()
        await checkpoint()
        if self.failure is not None:
            raise self.failure
        return Reply(text=self.name)


def endpoints(clock: Callable[[], float], *servers: Server, connections: int = 8) -> Endpoints:
    return Endpoints(servers, options=ModelOptions(max_connections=connections), clock=clock)


async def ask(those: Endpoints, tried: list[Endpoint] | None = None) -> str:
    """Ask once, as the gateway does; return the reply or what went wrong."""
    try:
        async with those.slot(tried=[] if tried is None else tried) as endpoint:
            began = endpoint.limiter.begin()
            try:
                reply = await endpoint.model.complete(REQUEST)
            except ModelError as error:
                endpoint.ended(error, began=began)
                raise
            endpoint.ended(None, began=began)
            return reply.text
    except ModelError as error:
        return str(error)


async def test_different_models_and_none_at_all_are_refused() -> None:
    other = Server("b")
    other.signature = "another"
    with pytest.raises(ConfigError, match=r"one model, got \['another', 'model'\]"):
        Gateway(Server("a"), replicas=(other,), options=ModelOptions())
    with pytest.raises(ConfigError, match=r"got \[\]"):
        Endpoints((), options=ModelOptions())


async def test_calls_go_where_the_fewest_are_outstanding_and_of_equals_to_the_first() -> None:
    servers = [Server(name) for name in "abc"]
    those = endpoints(FakeClock(), *servers)
    assert [await ask(those) for _ in range(3)] == ["a", "a", "a"]
    gates = [anyio.Event() for _ in servers]
    for server, gate in zip(servers, gates, strict=True):
        server.open = gate
    async with anyio.create_task_group() as tasks:
        for _ in range(7):
            tasks.start_soon(ask, those)
            await wait_all_tasks_blocked()
        assert [server.asked for server in servers] == [3 + 3, 2, 2]
        gates[1].set()
        await wait_all_tasks_blocked()
        assert await ask(those) == "b"
        for gate in gates:
            gate.set()


async def test_each_server_has_a_limit_of_its_own() -> None:
    a, b = Server("a", OverloadedModelError("503")), Server("b")
    those = endpoints(FakeClock(), a, b, connections=8)
    assert those.limit == 16
    assert await ask(those) == "503"
    assert those.limit == 4 + 8


async def test_a_server_with_a_place_free_comes_before_one_with_fewer_calls() -> None:
    a, b = Server("a", OverloadedModelError("503")), Server("b")
    those = endpoints(FakeClock(), a, b, connections=2)
    await ask(those)
    assert those.limit == 1 + 2
    a.open, b.open = gates = anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(ask, those)
            await wait_all_tasks_blocked()
        assert (a.asked, b.asked, those.under_way) == (1 + 1, 2, 3)
        for gate in gates:
            gate.set()


async def test_an_attempt_after_a_failure_goes_elsewhere() -> None:
    clock = FakeClock()
    a, b, c = Server("a", RESET), Server("b", RESET), Server("c")
    gate = Gateway(a, replicas=(b, c), options=ModelOptions(), clock=clock, sleep=clock.sleep)
    assert (await gate.complete(REQUEST)).text == "c"
    assert (a.asked, b.asked, c.asked) == (1, 1, 1)


async def fall_sick(those: Endpoints, server: Server, failure: ModelError = RESET) -> None:
    server.failure = failure
    for _ in range(PATIENCE):
        assert await ask(those) == str(failure)


@pytest.mark.parametrize(
    "failure", [RESET, ModelTimeoutError("slow"), OverloadedModelError("503")], ids=repr
)
async def test_a_server_failing_in_a_row_rests_and_returns_by_a_probe(failure: ModelError) -> None:
    clock = FakeClock()
    a, b = Server("a"), Server("b")
    those = endpoints(clock, a, b)
    with capture_logs() as logs:
        await fall_sick(those, a, failure)
        assert [await ask(those) for _ in range(3)] == ["b", "b", "b"]
        clock.now += FIRST_REST
        a.failure, a.open = None, anyio.Event()
        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(ask, those)
            await wait_all_tasks_blocked()
            assert a.asked == PATIENCE + 1
            a.open.set()
        assert await ask(those) == "a"
    which = {"model": "model", "endpoint": 1}
    assert logs == [
        {"event": "endpoint.ejected", "log_level": "warning", **which}
        | {"failures": PATIENCE, "seconds": FIRST_REST},
        {"event": "endpoint.returned", "log_level": "info", **which},
    ]


async def test_the_rest_doubles_up_to_a_limit_and_starts_over_after_an_answer() -> None:
    clock = FakeClock()
    a, b = Server("a"), Server("b")
    those = endpoints(clock, a, b)
    with capture_logs() as logs:
        await fall_sick(those, a)
        for _ in range(7):
            clock.now += LONGEST_REST
            assert await ask(those) == str(RESET)
            assert await ask(those) == "b"
        clock.now += LONGEST_REST
        a.failure = None
        assert await ask(those) == "a"
        await fall_sick(those, a)
    rests = [log["seconds"] for log in logs if log["event"] == "endpoint.ejected"]
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60, 1]


@pytest.mark.parametrize(
    "answer", [None, RateLimitedModelError("429"), PermanentModelError("bad request")], ids=repr
)
async def test_anything_else_a_server_says_shows_it_is_there(answer: ModelError | None) -> None:
    a, b = Server("a"), Server("b")
    those = endpoints(FakeClock(), a, b)
    for failure in (RESET, RESET, answer, RESET, RESET, answer, answer, answer):
        a.failure = failure
        await ask(those)
    assert (a.asked, b.asked) == (8, 0)


async def test_calls_that_were_under_way_when_a_server_was_ejected_do_not_prolong_its_rest() -> (
    None
):
    clock = FakeClock()
    a, b = Server("a", RESET), Server("b")
    those = endpoints(clock, a, b)
    a.open = b.open = anyio.Event()
    async with anyio.create_task_group() as tasks:
        for _ in range(2 * 5):
            tasks.start_soon(ask, those)
        await wait_all_tasks_blocked()
        a.open.set()
    assert a.asked == 5
    a.failure = None
    clock.now += FIRST_REST
    assert await ask(those) == "a"


async def test_a_caller_at_an_ejected_server_moves_on() -> None:
    a, b = Server("a", RESET), Server("b")
    those = endpoints(FakeClock(), a, b, connections=3)
    a.open, b.open = anyio.Event(), anyio.Event()
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(ask, those)
        await wait_all_tasks_blocked()
        a.open.set()
        await wait_all_tasks_blocked()
        assert (a.asked, b.asked) == (3, 3)
        b.open.set()
    assert (a.asked, b.asked) == (3, 17)


async def test_if_all_rest_the_one_that_failed_least_is_asked() -> None:
    a, b = Server("a", RESET), Server("b")
    those = endpoints(FakeClock(), a, b)
    await fall_sick(those, a)
    await fall_sick(those, b)
    assert await ask(those) == str(RESET)
    assert (a.asked, b.asked) == (PATIENCE + 1, PATIENCE)
    assert await ask(those) == str(RESET)
    assert (a.asked, b.asked) == (PATIENCE + 1, PATIENCE + 1)
    a.failure = None
    assert await ask(those) == "a"
    assert await ask(those) == "a"


async def test_a_server_that_answered_while_it_rested_rests_again_when_it_fails_again() -> None:
    clock = FakeClock()
    a, b = Server("a"), Server("b")
    those = endpoints(clock, a, b)
    await fall_sick(those, a)
    await fall_sick(those, b)
    clock.now = FIRST_REST / 2
    a.failure = None
    assert await ask(those) == "a"
    await fall_sick(those, a)
    clock.now = FIRST_REST
    b.failure = None
    assert await ask(those) == "b"


async def test_a_server_without_a_stand_in_never_rests() -> None:
    a = Server("a", RESET)
    those = endpoints(FakeClock(), a)
    with capture_logs() as logs:
        for _ in range(3 * PATIENCE):
            await ask(those)
    a.failure = None
    assert await ask(those) == "a"
    assert logs == []


async def test_a_probe_that_is_cancelled_leaves_room_for_the_next() -> None:
    clock = FakeClock()
    a, b = Server("a"), Server("b")
    those = endpoints(clock, a, b)
    await fall_sick(those, a)
    clock.now += FIRST_REST
    a.failure, a.open = None, anyio.Event()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, those)
        await wait_all_tasks_blocked()
        assert await ask(those) == "b"
        tasks.cancel_scope.cancel()
    a.open.set()
    assert await ask(those) == "a"
    assert those.under_way == 0


FAILURES = st.sampled_from(
    [None, None, RESET, OverloadedModelError("503"), RateLimitedModelError("429")]
)


class Fickle:
    """A server that goes from one state to the next with each call, and ends up well."""

    signature = "model"

    def __init__(self, script: list[ModelError | None]) -> None:
        self.script = list(script)
        self.under_way = self.most_under_way = 0

    async def complete(self, request: ChatRequest) -> Reply:
        failure = self.script.pop() if self.script else None
        self.under_way += 1
        self.most_under_way = max(self.under_way, self.most_under_way)
        try:
            await checkpoint()
        finally:
            self.under_way -= 1
        if failure is not None:
            raise failure
        return Reply(text="fine")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@settings(max_examples=40)
@given(
    scripts=st.lists(st.lists(FAILURES, max_size=10), min_size=1, max_size=3),
    connections=st.integers(1, 4),
    per_minute=st.none() | st.integers(1, 100),
    cancelled=st.integers(0, 10),
)
def test_whatever_servers_do_every_call_gets_through_and_no_place_is_lost(
    backend: str,
    scripts: list[list[ModelError | None]],
    connections: int,
    per_minute: int | None,
    cancelled: int,
) -> None:
    async def run() -> None:
        clock = FakeClock()
        models = [Fickle(script) for script in scripts]
        options = ModelOptions(
            max_connections=connections,
            attempts=40,
            requests_per_minute=per_minute,
            tokens_per_minute=per_minute and 1000 * per_minute,
        )
        gate = Gateway(
            models[0], replicas=tuple(models[1:]), options=options, clock=clock, sleep=clock.sleep
        )
        replies = []

        async def call() -> None:
            replies.append(await gate.complete(REQUEST))

        async with anyio.create_task_group() as tasks:
            for _ in range(cancelled):
                tasks.start_soon(call)
            for _ in range(3):
                await checkpoint()
            tasks.cancel_scope.cancel()
        before = len(replies)
        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for _ in range(12):
                    tasks.start_soon(call)
        assert (len(replies), gate._endpoints.under_way) == (before + 12, 0)
        assert all(model.most_under_way <= connections for model in models)

    with capture_logs():
        anyio.run(run, backend=backend)
