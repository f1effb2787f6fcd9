"""The gateway, on asyncio and on trio, with a sleep that only takes notes."""

from collections import Counter
from contextlib import suppress

import anyio
import pytest
from anyio import wait_all_tasks_blocked
from anyio.lowlevel import checkpoint
from fakes.clock import FakeClock
from fakes.logs import capture_logs

from spanjury.adapters.models.gateway import LONGEST_WAIT, Gateway
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    Message,
    ModelError,
    ModelOptions,
    ModelTimeoutError,
    Outcome,
    OverloadedModelError,
    PermanentModelError,
    RateLimitedModelError,
    Reply,
    TemplateTokens,
    TransientModelError,
    Usage,
)
from spanjury.testing import ScriptedModel

REQUEST = ChatRequest(messages=(Message(role="user", content="Judge this."),))


class Pauses(list[float]):
    """A sleep that returns at once and remembers how long it should have been."""

    async def sleep(self, seconds: float) -> None:
        self.append(seconds)
        await checkpoint()


class HeldModel:
    """A model that answers when it is released, and counts the calls that wait for it."""

    signature = "held"

    def __init__(self) -> None:
        self.asked = 0
        self.release = anyio.Event()

    async def complete(self, request: ChatRequest) -> Reply:
        self.asked += 1
        await self.release.wait()
        return Reply(text="at last")


def gateway(
    model: ChatModel, pauses: Pauses, *, attempts: int = 4, connections: int = 8
) -> Gateway:
    options = ModelOptions(attempts=attempts, max_connections=connections)
    return Gateway(model, options=options, sleep=pauses.sleep)


async def test_a_reply_passes_unchanged() -> None:
    pauses = Pauses()
    model = ScriptedModel(Reply(text="fine"))
    gate = gateway(model, pauses)
    assert isinstance(gate, ChatModel)
    assert gate.signature == model.signature
    assert await gate.complete(REQUEST) == Reply(text="fine")
    assert (model.requests, pauses) == ((REQUEST,), [])


async def test_a_transient_failure_is_tried_again_after_growing_pauses() -> None:
    pauses = Pauses()
    model = ScriptedModel(*[TransientModelError("busy")] * 3, "fine")
    assert (await gateway(model, pauses).complete(REQUEST)).text == "fine"
    assert len(model.requests) == 4
    for pause, least in zip(pauses, (0.5, 1.0, 2.0), strict=True):
        assert least <= pause <= least + 1.0


async def test_the_last_failure_comes_out_as_it_is() -> None:
    pauses = Pauses()
    last = ModelTimeoutError("slow")
    model = ScriptedModel(TransientModelError("busy"), last)
    with pytest.raises(ModelTimeoutError) as caught:
        await gateway(model, pauses, attempts=2).complete(REQUEST)
    assert caught.value is last
    assert len(pauses) == 1


async def test_a_permanent_failure_is_not_tried_again() -> None:
    pauses = Pauses()
    model = ScriptedModel(PermanentModelError("wrong key"))
    with pytest.raises(PermanentModelError, match="wrong key"):
        await gateway(model, pauses).complete(REQUEST)
    assert pauses == []


class UntokenizedModel(HeldModel):
    """A model whose server does not answer for its special tokens."""

    def __init__(self, failure: ModelError) -> None:
        super().__init__()
        self._failure = failure

    async def template_tokens(self) -> TemplateTokens | None:
        self.asked += 1
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "asked"), [(PermanentModelError("no such page"), 1), (TransientModelError("-"), 3)]
)
async def test_the_special_tokens_are_asked_for_again_after_transient_failures_alone(
    failure: ModelError, asked: int
) -> None:
    model = UntokenizedModel(failure)
    with pytest.raises(type(failure)):
        await gateway(model, Pauses(), attempts=3).template_tokens()
    assert model.asked == asked


async def test_retry_after_is_honoured_where_it_is_the_longer_wait() -> None:
    pauses = Pauses()
    failures = [TransientModelError("busy", retry_after=seconds) for seconds in (7.0, 0.0)]
    await gateway(ScriptedModel(*failures, "fine"), pauses).complete(REQUEST)
    assert 7.0 <= pauses[0] <= 8.0
    assert 1.0 <= pauses[1] <= 2.0


async def test_a_wait_beyond_the_limit_is_given_up_and_the_error_says_so() -> None:
    pauses = Pauses()
    model = ScriptedModel(TransientModelError("quota used up", retry_after=LONGEST_WAIT + 1))
    with pytest.raises(
        TransientModelError, match=r"quota used up \(it asks to wait 61 s"
    ) as caught:
        await gateway(model, pauses).complete(REQUEST)
    assert (caught.value.retry_after, pauses) == (LONGEST_WAIT + 1, [])


async def test_a_model_that_never_answers_times_out() -> None:
    model = HeldModel()
    gate = Gateway(model, options=ModelOptions(timeout=0.01, attempts=2), sleep=Pauses().sleep)
    with pytest.raises(
        ModelTimeoutError, match=r"held: no complete reply within 0\.01 s"
    ) as caught:
        await gate.complete(REQUEST)
    assert caught.value.outcome is Outcome.TIMED_OUT
    assert model.asked == 2


@pytest.mark.parametrize(("replicas", "asked"), [(0, 2), (1, 2), (2, 3)])
async def test_a_time_out_is_tried_again_once_or_at_each_server(replicas: int, asked: int) -> None:
    silent = ScriptedModel(ModelTimeoutError("slow"), repeat_last=True)
    gate = Gateway(
        silent, options=ModelOptions(), replicas=(silent,) * replicas, sleep=Pauses().sleep
    )
    with pytest.raises(ModelTimeoutError, match="slow"):
        await gate.complete(REQUEST)
    assert len(silent.requests) == asked


async def test_a_time_out_leaves_other_failures_their_attempts() -> None:
    busy, slow = TransientModelError("busy"), ModelTimeoutError("slow")
    model = ScriptedModel(busy, slow, busy, "fine")
    assert (await gateway(model, Pauses()).complete(REQUEST)).text == "fine"


async def test_no_more_calls_are_under_way_than_there_are_connections() -> None:
    model = HeldModel()
    gate = gateway(model, Pauses(), connections=2)
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(gate.complete, REQUEST)
        await wait_all_tasks_blocked()
        assert model.asked == 2
        model.release.set()
    assert model.asked == 5


async def test_a_call_that_waits_to_try_again_leaves_its_place_to_another() -> None:
    model = ScriptedModel(TransientModelError("busy"), "second", "first, again")
    waiting, go_on = anyio.Event(), anyio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await go_on.wait()

    gate = Gateway(model, options=ModelOptions(max_connections=1), sleep=sleep)
    replies = []

    async def ask() -> None:
        replies.append((await gate.complete(REQUEST)).text)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await waiting.wait()
        await ask()
        go_on.set()
    assert replies == ["second", "first, again"]


class FailingFirst:
    """Fails at the first attempt of a text, and at each of the texts that `always` names."""

    signature = "failing first"

    def __init__(self, *, always: str = "", held: anyio.Event | None = None) -> None:
        self.asked: Counter[str] = Counter()
        self._always = always
        self._held = held

    async def complete(self, request: ChatRequest) -> Reply:
        text = request.messages[0].content
        self.asked[text] += 1
        await checkpoint()
        if text == self._always or self.asked[text] == 1:
            raise TransientModelError("busy")
        if self._held is not None:
            await self._held.wait()
        return Reply(text=text)


async def test_calls_that_are_retried_side_by_side_count_their_own_attempts() -> None:
    model = FailingFirst(always="a")
    gate = gateway(model, Pauses(), attempts=3)

    async def ask(text: str) -> None:
        with suppress(TransientModelError):
            await gate.complete(ChatRequest(messages=(Message(role="user", content=text),)))

    async with anyio.create_task_group() as tasks:
        for text in "abcd":
            tasks.start_soon(ask, text)
    assert model.asked == {"a": 3, "b": 2, "c": 2, "d": 2}


async def test_a_call_that_is_cancelled_in_its_second_attempt_gives_its_place_back() -> None:
    model = FailingFirst(held=anyio.Event())
    gate = gateway(model, Pauses())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(gate.complete, REQUEST)
        await wait_all_tasks_blocked()
        assert gate._endpoints.under_way == 1
        tasks.cancel_scope.cancel()
    assert (model.asked.total(), gate._endpoints.under_way) == (2, 0)


async def test_a_cancelled_call_gives_its_place_back() -> None:
    model = HeldModel()
    gate = gateway(model, Pauses(), connections=1)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(gate.complete, REQUEST)
        await wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    model.release.set()
    assert (await gate.complete(REQUEST)).text == "at last"


async def test_the_limit_starts_at_the_connections_falls_on_overload_and_recovers() -> None:
    model = ScriptedModel(OverloadedModelError("503"), "fine", repeat_last=True)
    gate = gateway(model, Pauses(), connections=3)
    assert gate._endpoints.limit == 3
    await gate.complete(REQUEST)
    assert gate._endpoints.limit == 1 + 1
    async with anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(gate.complete, REQUEST)
    assert (gate._endpoints.limit, gate._endpoints.under_way) == (3, 0)


@pytest.mark.parametrize("failure", [TransientModelError("500"), PermanentModelError("400")])
async def test_a_failure_that_is_no_overload_leaves_the_limit(failure: ModelError) -> None:
    gate = gateway(ScriptedModel(failure), Pauses(), attempts=1)
    with pytest.raises(type(failure)):
        await gate.complete(REQUEST)
    assert gate._endpoints.limit == 8


async def test_a_time_out_lowers_the_limit_but_not_below_its_least() -> None:
    options = ModelOptions(timeout=0.01, attempts=4, min_connections=3)
    gate = Gateway(HeldModel(), options=options, sleep=Pauses().sleep)
    with pytest.raises(ModelTimeoutError):
        await gate.complete(REQUEST)
    assert gate._endpoints.limit == 3


async def test_a_wait_that_is_too_long_to_be_waited_lowers_the_limit_too() -> None:
    failure = RateLimitedModelError("quota used up", retry_after=LONGEST_WAIT + 1)
    gate = gateway(ScriptedModel(failure), Pauses())
    with pytest.raises(TransientModelError, match="quota used up"):
        await gate.complete(REQUEST)
    assert gate._endpoints.limit == 4


async def test_every_attempt_counts_as_a_request_of_its_minute() -> None:
    clock = FakeClock()
    model = ScriptedModel(TransientModelError("busy", retry_after=0.0), "fine", repeat_last=True)
    options = ModelOptions(requests_per_minute=6)
    gate = Gateway(model, options=options, clock=clock, sleep=clock.sleep)
    await gate.complete(REQUEST)
    assert clock.now == pytest.approx(60 / 6 / 0.9)
    await gate.complete(REQUEST)
    assert clock.now == pytest.approx(2 * 60 / 6 / 0.9)


async def test_the_tokens_of_a_minute_are_those_that_replies_report() -> None:
    clock = FakeClock()
    reply = Reply(text="fine", usage=Usage(prompt=60, completion=40))
    model = ScriptedModel(reply, repeat_last=True)
    options = ModelOptions(tokens_per_minute=20_000)
    gate = Gateway(model, options=options, clock=clock, sleep=clock.sleep)
    for _ in range(9):
        await gate.complete(REQUEST)  # reckoned at 1027 of the 2000 that may go at once
    assert clock.now == 0
    for _ in range(50):
        await gate.complete(REQUEST)
    assert 9.0 < clock.now < 16.5


async def test_a_caller_cancelled_by_the_rate_limit_gives_its_place_back() -> None:
    model = ScriptedModel("fine", repeat_last=True)
    options = ModelOptions(requests_per_minute=1, max_connections=1)
    clock, held = FakeClock(), anyio.Event()

    async def sleep(seconds: float) -> None:
        await held.wait()

    gate = Gateway(model, options=options, clock=clock, sleep=sleep)
    await gate.complete(REQUEST)
    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(gate.complete, REQUEST)
        await wait_all_tasks_blocked()
        assert gate._endpoints.under_way == 1
        tasks.cancel_scope.cancel()
    assert gate._endpoints.under_way == 0
    clock.now = 60 / 0.9
    assert (await gate.complete(REQUEST)).text == "fine"


async def test_every_retry_is_logged_without_the_prompt() -> None:
    pauses = Pauses()
    model = ScriptedModel(TransientModelError("busy"), "fine")
    with capture_logs() as logs:
        await gateway(model, pauses).complete(REQUEST)
    assert logs == [
        {
            "event": "model.call_retried",
            "log_level": "warning",
            "model": model.signature,
            "attempt": 1,
            "seconds": pauses[0],
            "error": "TransientModelError",
        }
    ]
