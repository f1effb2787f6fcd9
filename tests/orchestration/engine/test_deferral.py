"""Deferred calls: each is written once, reserved until it is settled, and read as a live one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from fakes.memory import DictMemory

from spanjury.judges.core import (
    ChatRequest,
    Decoding,
    DeferredError,
    Message,
    OverBudgetError,
    PermanentModelError,
    Reply,
    RunStoppedError,
    TokenPrice,
    TransientModelError,
    Usage,
)
from spanjury.orchestration.engine.deferral import Answers, Deferral, DeferredModel
from spanjury.orchestration.engine.memory import RememberedModel, SilentModel
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.spending import NOTHING, Spending
from spanjury.orchestration.engine.stopping import StopToken

PRICE = TokenPrice(prompt=1e-3, completion=1e-2)
USAGE = Usage(calls=1, prompt=20, completion=5)


def request(number: int) -> ChatRequest:
    return ChatRequest(
        messages=(Message(role="user", content=f"{number:030}"),), decoding=Decoding(max_tokens=10)
    )


class Lines:
    """A model whose lines are keys, and whose answers are replies or the names of errors."""

    async def line(self, key: str, request: ChatRequest) -> bytes:
        return json.dumps([key, request.messages[0].content]).encode()

    def read(self, line: bytes, request: ChatRequest) -> Reply:
        assert request.messages
        text = line.decode()
        if text == "later":
            raise TransientModelError("later")
        if text == "never":
            raise PermanentModelError("never")
        return Reply(text=text, usage=USAGE)


@dataclass
class File:
    """A file of requests in memory."""

    path: Path = Path("requests.jsonl")
    lines: list[bytes] = field(default_factory=list)

    def write(self, line: bytes) -> None:
        self.lines.append(line)


@dataclass
class Run:
    """A run over a memory, with what was written and the model behind the memory."""

    limits: Limits = Limits()
    attempts: int | None = 2
    memory: DictMemory = field(default_factory=DictMemory)
    files: list[File] = field(default_factory=list)
    stop_token: StopToken = field(default_factory=StopToken)

    def __post_init__(self) -> None:
        self.meter = Meter(limits=self.limits, stop_token=self.stop_token)
        self.meter.go_on_with(b"{}")
        self.deferral = Deferral(
            meter=self.meter, open_file=self._open, reserves=True, attempts=self.attempts
        )
        account = self.meter.account(name="lines", price=PRICE)
        by_key = DeferredModel(self.deferral, "lines", Lines(), account)
        self.model = RememberedModel(SilentModel("lines"), self.memory, by_key=by_key)
        self.deferral.begin_round()

    def _open(self, _: str) -> File:
        self.files.append(File())
        return self.files[-1]

    async def ask(self, *numbers: int) -> None:
        for number in numbers:
            with pytest.raises(DeferredError):
                await self.model.complete(request(number))

    @property
    def keys(self) -> Sequence[str]:
        """Keys of the requests of this round, in their order."""
        return [key for requests in self.deferral.requests for key in requests.keys]

    def come_back(self, *answers: str | None) -> None:
        """Answer the requests of the round in their order, and begin the next."""
        keys, reserved = self.keys, self.deferral.requests[0].reserved
        lines = {}
        for key, answer in zip(keys, answers, strict=True):
            read = partial(str.encode, answer or "later")
            is_reply = answer not in {None, "later", "never"}
            lines[key] = Answers(
                reply=read if is_reply else None, failures=[] if is_reply else [read]
            )
        self.deferral.end_round()
        self.deferral.answered(lines, reserved=reserved)
        self.deferral.begin_round()


async def test_a_request_is_written_once_and_its_reply_remembered() -> None:
    run = Run()
    await run.ask(1, 2, 1)
    assert len(run.files[0].lines) == run.deferral.lacking == 2
    run.come_back("Good", "Poor")
    replies = [(await run.model.complete(request(number))).text for number in (2, 1)]
    assert replies == ["Poor", "Good"]
    assert not run.deferral.lacking
    assert len(run.memory.values) == 2


async def test_calls_are_reserved_until_they_are_settled_and_are_not_cut_off_by_a_kill() -> None:
    run = Run()
    with run.meter.kept_in(run.memory):
        await run.ask(1, 2)
        assert not run.meter.is_idle
        assert json.loads(run.meter.written()) == {"cut off": [0, 0, 0.0]}
        run.come_back("Good", "Poor")
        for number in (1, 2):
            await run.model.complete(request(number))
        run.deferral.end_round()
        assert run.meter.is_idle
        (ledger,) = (value for value in run.memory.values.values() if b"seats" in value)
    assert json.loads(ledger)["seats"] == [2, 50, pytest.approx(0.14)]


async def test_a_reservation_of_an_earlier_go_counts_against_the_limit() -> None:
    run = Run(limits=Limits(max_calls=3))
    run.meter.defer_again(Spending(2, 100, 1.0))
    await run.ask(1, 2)
    assert len(run.keys) == 1
    run.meter.release_deferred(Spending(2, 100, 1.0))
    await run.ask(3)
    assert len(run.keys) == 2


async def test_what_does_not_fit_waits_for_others_and_stops_the_run_once_nothing_is_reserved() -> (
    None
):
    run = Run(limits=Limits(max_calls=2))
    await run.ask(1, 2, 3)
    assert (len(run.keys), run.deferral.lacking) == (2, 3)
    run.come_back("Good", "Good")
    for number in (1, 2):
        await run.model.complete(request(number))
    assert not run.stop_token.is_requested  # to settle what is paid stops nothing
    with pytest.raises(RunStoppedError, match="2 calls are spent"):
        await run.model.complete(request(3))
    assert run.stop_token.is_requested


async def test_a_budget_refuses_what_does_not_fit_without_stopping_the_run() -> None:
    run = Run()
    with run.meter.holding("calls", 1):
        await run.ask(1, 2)
        run.come_back("Good")
        await run.model.complete(request(1))
        with pytest.raises(OverBudgetError):
            await run.model.complete(request(2))
    assert not run.stop_token.is_requested


async def test_a_failure_that_may_pass_is_sent_again_until_its_attempts_are_over() -> None:
    run = Run(attempts=2)
    await run.ask(1)
    run.come_back("later")
    await run.ask(1)
    run.come_back("later")
    with pytest.raises(TransientModelError):
        await run.model.complete(request(1))
    run.deferral.end_round()
    assert run.meter.is_idle
    assert run.meter.spent == NOTHING


async def test_a_refusal_is_raised_at_once() -> None:
    run = Run()
    await run.ask(1)
    run.come_back("never")
    with pytest.raises(PermanentModelError):
        await run.model.complete(request(1))
    assert not run.keys


async def test_nothing_is_written_where_nothing_may_be_asked() -> None:
    run = Run()
    with run.meter.refusing(), pytest.raises(OverBudgetError):
        await run.model.complete(request(1))
    assert not run.keys


async def test_a_full_file_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spanjury.orchestration.engine.deferral.MOST_REQUESTS", 2)
    run = Run()
    await run.ask(1, 2, 3)
    assert [len(file.lines) for file in run.files] == [2, 1]
