"""A dry run: what a job would take, estimated from a sample of it.

`reckoned` asks no model: judges build the prompts of the sample, and a stand-in replies, whose
calls are reckoned by their bytes. `measured` judges a sample, which is paid for.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from heapq import nsmallest
from itertools import count

from spanjury.judges.core import (
    USABLE,
    Aspect,
    ChatModel,
    ChatRequest,
    PanelReport,
    Reply,
    Segment,
)
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.spending import NOTHING, Spending, expected_of, most_of, spending
from spanjury.orchestration.services.judging.job import Job, Plan, pairs
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.wiring.models import require_key
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.replay import Recorder, asking_seats
from spanjury.orchestration.wiring.seats import named_seats, seat_prices
from spanjury.stats.estimation import TotalEstimate, estimated_total

SAMPLE = 20
"""Assessments that are made, and paid for, for an estimate, if the job has as many."""
_PROMPTS = 200
"""Assessments whose prompts are built where nothing is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """The calls, tokens and dollars of a whole job, without any of them made.

    The most assumes that each reply is as long as it may be; none is asked for twice. Dollars leave
    out `unpriced` models, and calls of `unforeseen` seats follow from replies: there may be more,
    or fewer.
    """

    expected: Spending
    most: Spending
    unpriced: tuple[str, ...] = ()
    unforeseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The measured cost of a whole job, with 95 % intervals.

    `cost` is in dollars and leaves out `unpriced` models; `seconds` are wall-clock time with as
    many calls under way as may be.
    """

    reports: tuple[PanelReport, ...]
    calls: TotalEstimate
    tokens: TotalEstimate
    cost: TotalEstimate
    seconds: TotalEstimate
    unpriced: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    """The cost of one assessment."""

    report: PanelReport
    calls: int
    tokens: int
    cost: float
    seconds: float


@dataclass(slots=True)
class _Unsent(Recorder):
    """The calls that a panel would make."""

    def model(self, model: ChatModel) -> ChatModel:
        """Return what replies for `model`, with its calls noted."""
        return Recorder.model(self, _StandIn(model.signature))


@dataclass(frozen=True, slots=True)
class _StandIn:
    """Replies for a model what most judges can read, so that they go on as they would."""

    signature: str
    reply: Reply = field(default=Reply(text="No Error\n\nOverall score: 5"))

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the same reply to everything."""
        del request
        return self.reply


async def reckoned(job: Job, *, assessments: int) -> Reckoning:
    """Reckon what so many `assessments` of `job` would take; no model is asked.

    All seats are taken to be asked, and a model that consolidates is left out.

    Calls that batches answer cost half. Raise `ConfigError` as `open_configured_panel` does.
    """
    # Other judges ask no model, and may take their time.
    seats = asking_seats(job.panel)
    if not seats:
        return Reckoning(expected=NOTHING, most=NOTHING)
    asking = replace(job.panel, seats=seats, cascade=None, calibration=None, consolidate="rules")
    sample, unsent = _sample(_asked(job), most=min(_PROMPTS, assessments)), _Unsent()
    async with open_configured_panel(asking, silent=True, recorder=unsent) as panel:
        reports = [await panel.assess(segment, aspect) for segment, aspect in sample]
    named = {
        named_seat.name: named_seat.model.name
        for named_seat in named_seats(asking)
        if named_seat.model
    }
    prices = {
        seat: seat_price.price.in_batch() if job.batch_api else seat_price.price
        for seat, seat_price in seat_prices(asking, named).items()
    }

    def total(spent: Iterable[Spending]) -> Spending:
        whole = sum(spent, NOTHING)
        times = assessments / len(sample)
        return Spending(
            round(times * whole.calls), round(times * whole.tokens), times * whole.dollars
        )

    calls = [(call.request, prices.get(call.seat)) for call in unsent.calls]
    return Reckoning(
        expected=total(spending(expected_of(request), price) for request, price in calls),
        most=total(spending(most_of(request), price) for request, price in calls),
        unpriced=tuple(dict.fromkeys(named[seat] for seat in named if seat not in prices)),
        unforeseen=tuple(sorted(_unread(reports))),
    )


def _unread(reports: Sequence[PanelReport]) -> set[str]:
    """Return the seats that could not read what the stand-in replied."""
    seats = (seat for report in reports for seat in report.seats)
    return {seat.seat for seat in seats if seat.report.outcome not in USABLE}


def require_keys(job: Job) -> None:
    """Raise `RunFailedError` if the key of a model is missing; nothing is loaded for it."""
    for seat in named_seats(job.panel):
        if seat.model is not None:
            require_key(seat.model)


async def measured(job: Job, plan: Plan) -> Estimate:
    """Judge a sample of `job`, one assessment after the other, and estimate the whole.

    Nothing is remembered, so that the same sample costs the same another time.

    Raise `EvaluationError` as in `evaluate.run`.
    """
    # Without a preflight, which would be counted to the first assessment.
    terms = replace(job, memory=None, failures=replace(job.failures, preflight=False))
    with open_session(terms) as session:
        meter = session.meter
        async with session.open_panel(job.panel) as panel:
            taken = [
                await _measured(panel, segment, aspect, meter=meter)
                for segment, aspect in _sample(_asked(job), most=SAMPLE)
            ]
    at_once = job.panel.connections if meter.usage.calls else 1

    def total(values: Iterable[float]) -> TotalEstimate:
        return estimated_total(list(values), population=plan.asked)

    return Estimate(
        reports=tuple(estimate.report for estimate in taken),
        calls=total(estimate.calls for estimate in taken),
        tokens=total(estimate.tokens for estimate in taken),
        cost=total(estimate.cost for estimate in taken),
        seconds=total(estimate.seconds / at_once for estimate in taken),
        unpriced=meter.unpriced,
    )


async def _measured(panel: Panel, segment: Segment, aspect: Aspect, *, meter: Meter) -> _Taken:
    calls, tokens, cost = meter.usage.calls, meter.tokens, meter.cost
    began = time.perf_counter()
    report = await panel.assess(segment, aspect)
    return _Taken(
        report=report,
        calls=meter.usage.calls - calls,
        tokens=meter.tokens - tokens,
        cost=meter.cost - cost,
        seconds=time.perf_counter() - began,
    )


def _asked(job: Job) -> Iterator[tuple[Segment, Aspect]]:
    """Yield the pairs of `job` for which judges are asked: the result of a rubric is computed."""
    return (pair for pair in pairs(job) if not pair[1].criteria)


def _sample(pairs: Iterator[tuple[Segment, Aspect]], *, most: int) -> list[tuple[Segment, Aspect]]:
    """Draw so many pairs as if at random, the same ones every time, in one pass."""
    drawn = nsmallest(most, zip(map(_lot, count()), pairs, strict=False), key=lambda lot: lot[0])
    return [pair for _, pair in drawn]


def _lot(number: int) -> bytes:
    return blake2b(number.to_bytes(8, "big"), digest_size=8).digest()
