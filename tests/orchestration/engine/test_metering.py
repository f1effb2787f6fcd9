"""Calls are counted as they happen, and a limit stops the run at the call that reaches it."""

from dataclasses import dataclass, field

import pytest

from spanjury.judges.core import (
    ChatRequest,
    ConfigError,
    Message,
    ModelError,
    Reply,
    TokenPrice,
    TransientModelError,
    Usage,
)
from spanjury.orchestration.engine.metering import Limits, Meter

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest(messages=(Message(role="user", content="?"),))
PRICE = TokenPrice(prompt=1e-3, completion=1e-2)
REPLY = Reply(text="Good", usage=Usage(calls=1, prompt=100, completion=10, reasoning=4))


@dataclass
class OneLine:
    """A model that gives one reply, or raises, again and again."""

    says: Reply | ModelError = REPLY
    signature: str = "line"
    limit: int = 4
    under_way: int = 3

    async def complete(self, request: ChatRequest) -> Reply:
        assert request == REQUEST
        if isinstance(self.says, ModelError):
            raise self.says
        return self.says


@dataclass
class Stops:
    """Remembers the reason to stop."""

    reasons: list[str] = field(default_factory=list)

    def __call__(self, reason: str) -> None:
        self.reasons.append(reason)


async def test_calls_tokens_and_cost_of_all_models_are_summed() -> None:
    meter = Meter()
    one = meter.on(OneLine(), name="one", price=PRICE)
    two = meter.on(OneLine(), name="two", price=None)
    assert one.signature == "line"
    for model in (one, one, two):
        assert await model.complete(REQUEST) == REPLY
    assert meter.usage == Usage(calls=3, prompt=300, completion=30, reasoning=12)
    assert meter.tokens == 330
    assert meter.cost == pytest.approx(2 * (0.1 + 0.1))
    assert meter.unpriced == ("two",)
    assert (meter.under_way, meter.limit) == (6, 8)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(max_cost=0.4), "$0.4 are spent, and $0.4 is the limit"),
        (Limits(max_tokens=200), "220 tokens are spent, and 200 is the limit"),
    ],
)
async def test_the_call_that_reaches_a_limit_stops_the_run(limits: Limits, reason: str) -> None:
    stop = Stops()
    meter = Meter(limits=limits, stop=stop)
    model = meter.on(OneLine(), name="m", price=PRICE)
    await model.complete(REQUEST)
    assert stop.reasons == []
    await model.complete(REQUEST)
    assert stop.reasons == [reason]


async def test_a_failed_call_counts_nothing() -> None:
    meter = Meter()
    model = meter.on(OneLine(TransientModelError("no")), name="m", price=PRICE)
    with pytest.raises(TransientModelError):
        await model.complete(REQUEST)
    assert meter.usage == Usage()


def test_a_cost_cannot_be_limited_where_no_price_is_known() -> None:
    meter = Meter(limits=Limits(max_cost=1.0))
    with pytest.raises(ConfigError, match="no price is known for model 'local'"):
        meter.on(OneLine(), name="local", price=None)


@pytest.mark.parametrize(
    "limits", [{"max_cost": 0.0}, {"max_tokens": -1}, {"max_seconds": 0.0}], ids=str
)
def test_a_limit_must_be_positive(limits: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="limits must be positive"):
        Limits(**limits)  # type: ignore[arg-type]  # of either number type


def test_a_cached_prompt_costs_what_the_price_says_or_as_much_as_the_rest() -> None:
    usage = Usage(calls=1, prompt=1000, cached=400, completion=100, reasoning=50)
    assert PRICE.cost(usage) == pytest.approx(1.0 + 1.0)
    cheaper = TokenPrice(prompt=1e-3, completion=1e-2, cached=0.0)
    assert cheaper.cost(usage) == pytest.approx(0.6 + 1.0)
