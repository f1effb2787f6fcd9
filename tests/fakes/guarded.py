"""A model behind a circuit, and a server that is well or not as two functions of the time say."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from anyio import create_task_group
from anyio.lowlevel import checkpoint
from fakes.clock import FakeClock

from spanjury.adapters.models.circuit import PROBE, Guard
from spanjury.adapters.models.gateway import Gateway
from spanjury.judges.core import (
    CallAccount,
    ChatModel,
    ChatRequest,
    Message,
    ModelError,
    ModelOptions,
    Reply,
    RunFailedError,
    Usage,
)

REQUEST = ChatRequest(messages=(Message(role="user", content="Judge this."),))


@dataclass(slots=True)
class Server:
    """A model that answers probes and calls as two functions of the time say."""

    calls: Callable[[float], Exception | None]
    probes: Callable[[float], Exception | None]
    clock: FakeClock
    asked: Counter[str] = field(default_factory=Counter)
    signature: str = "server"

    async def complete(self, request: ChatRequest) -> Reply:
        """Count and answer."""
        kind = "probe" if request is PROBE else "call"
        self.asked[kind] += 1
        await checkpoint()
        error = (self.probes if request is PROBE else self.calls)(self.clock())
        if error is not None:
            raise error
        return Reply(text="fine", usage=Usage(calls=1, prompt=9, completion=1))


def fine(now: float) -> None:
    """Answer."""
    del now


def always(error: Exception) -> Callable[[float], Exception]:
    """Return what answers nothing."""
    return lambda _: error


def between(start: float, end: float, error: Exception) -> Callable[[float], Exception | None]:
    """Return what answers nothing for a while."""
    return lambda now: error if start <= now < end else None


def guarded(
    model: ChatModel,
    clock: FakeClock,
    *,
    guard: Guard | None = None,
    preflight: bool = True,
    attempts: int = 4,
    account: CallAccount | None = None,
    name: str = "judge",
) -> Gateway:
    """Put a circuit before `model`."""
    guard = guard or Guard(preflight=preflight, clock=clock, sleep=clock.sleep)
    options = ModelOptions(attempts=attempts, max_connections=8)
    gateway = Gateway(model, options=options, account=account, clock=clock, sleep=clock.sleep)
    gateway.guard(guard.circuit(name, name=name))
    return gateway


async def outcomes(gateway: Gateway, *, calls: int) -> list[Reply | Exception]:
    """Ask so often at once; return replies and errors."""
    ended: list[Reply | Exception] = []

    async def ask() -> None:
        try:
            ended.append(await gateway.complete(REQUEST))
        except (ModelError, RunFailedError) as error:
            ended.append(error)

    async with create_task_group() as group:
        for _ in range(calls):
            group.start_soon(ask)
    return ended
