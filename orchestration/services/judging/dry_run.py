"""A dry run: the cost of a job, estimated from a sample.

`reckoned` calls no model: judges build the prompts of the sample, a stand-in replies, and the cost
of its calls is estimated from their bytes. `measured` judges a sample with real, paid calls.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from heapq import nsmallest
from itertools import count

from spanjury.judges.core import USABLE, Aspect, ChatModel, ChatRequest, PanelReport, Reply, Segment
from spanjury.orchestration.engine.spending import NOTHING, Spending, expected_of, most_of, spending
from spanjury.orchestration.services.judging.job import Job, Plan, pairs
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.wiring.models import require_key
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.replay import Recorder, asking_seats
from spanjury.orchestration.wiring.seats import named_seats, seat_prices
from spanjury.stats.estimation import TotalEstimate, estimated_total

SAMPLE = 20
"""Assessments that are made, and paid for, for a measured estimate, if the job has as many."""
_PROMPTS = 200
"""Assessments whose prompts are built for an estimate without calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reckoning:
    """The estimated calls, tokens and dollars of a whole job, without any call.

    `expected` and `most` assume that no request is sent again, and `most` that each reply has its
    maximum length. Dollars omit `unpriced` models. The calls of `unforeseen` seats depend on
    replies: there may be more, or fewer.
    """

    expected: Spending
    most: Spending
    unpriced: tuple[str, ...] = ()
    unforeseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The measured cost of a whole job, with 95 % intervals.

    `cost` is in dollars and omits `unpriced` models; `seconds` are wall-clock time with the maximum
    number of concurrent calls.
    """

    reports: tuple[PanelReport, ...]
    calls: TotalEstimate
    tokens: TotalEstimate
    cost: TotalEstimate
    seconds: TotalEstimate
    unpriced: tuple[str, ...]


@dataclass(slots=True)
class _Unsent(Recorder):
    """Records the calls that a panel would make."""

    def model(self, model: ChatModel) -> ChatModel:
        """Return a stand-in for `model` whose calls are recorded."""
        return Recorder.model(self, _StandIn(model.signature))


@dataclass(frozen=True, slots=True)
class _StandIn:
    """Returns a reply that most judges can parse, so that they proceed as usual."""

    signature: str
    reply: Reply = field(default=Reply(text="No Error\n\nOverall score: 5"))

    async def complete(self, request: ChatRequest) -> Reply:
        """Return the same reply to every request."""
        del request
        return self.reply


async def reckoned(job: Job, *, assessments: int) -> Reckoning:
    """Estimate the cost of `assessments` of `job` without calling a model.

    All seats are assumed to be asked; a model that consolidates is left out.

    Calls answered by batches cost half. Raise the errors of `open_configured_panel`.
    """
    # Other judges call no model, and may be slow.
    seats = asking_seats(job.panel)
    if not seats:
        return Reckoning(expected=NOTHING, most=NOTHING)
    asking = replace(job.panel, seats=seats, cascade=None, calibration=None, consolidate="rules")
    sample, unsent = _sample(_asked(job), most=min(_PROMPTS, assessments)), _Unsent()
    async with open_configured_panel(asking, silent=True, recorder=unsent) as panel:
        reports = [await panel.assess(segment, aspect) for segment, aspect in sample]
    named = {seat.name: seat.model.name for seat in named_seats(asking) if seat.model}
    prices = {
        seat: seat_price.price.in_batch() if job.batch_api else seat_price.price
        for seat, seat_price in seat_prices(asking, named).items()
    }

    def total(spent: Iterable[Spending]) -> Spending:
        whole = sum(spent, NOTHING)
        times = assessments / max(1, len(sample))  # a shard may be empty
        return Spending(
            round(times * whole.calls), round(times * whole.tokens), times * whole.dollars
        )

    calls = [(call.request, prices.get(call.seat)) for call in unsent.calls]
    seat_reports = (seat for report in reports for seat in report.seats)
    unread = {seat.seat for seat in seat_reports if seat.report.outcome not in USABLE}
    return Reckoning(
        expected=total(spending(expected_of(request), price) for request, price in calls),
        most=total(spending(most_of(request), price) for request, price in calls),
        unpriced=tuple(dict.fromkeys(named[seat] for seat in named if seat not in prices)),
        unforeseen=tuple(sorted(unread)),
    )


def require_keys(job: Job) -> None:
    """Raise `RunFailedError` if the key of a model is missing; no model is loaded."""
    for seat in named_seats(job.panel):
        if seat.model is not None:
            require_key(seat.model)


async def measured(job: Job, plan: Plan) -> Estimate:
    """Judge a sample of `job`, one assessment after the other, and extrapolate to the whole.

    Nothing is remembered, so that repeating the sample costs the same.

    Raise the errors of `evaluate.run`.
    """
    # A preflight would be counted as part of the first assessment.
    terms = replace(job, memory=None, failures=replace(job.failures, preflight=False))
    reports: list[PanelReport] = []
    spent: list[list[float]] = []
    with open_session(terms) as session:
        meter = session.meter

        def so_far() -> tuple[float, ...]:
            return meter.usage.calls, meter.tokens, meter.cost, time.perf_counter()

        async with session.open_panel(job.panel) as panel:
            for segment, aspect in _sample(_asked(job), most=SAMPLE):
                before = so_far()
                reports.append(await panel.assess(segment, aspect))
                spent.append([now - then for now, then in zip(so_far(), before, strict=True)])
    at_once = job.panel.connections if meter.usage.calls else 1
    calls, tokens, cost, seconds = zip(*(spent or [[0.0] * 4]), strict=True)
    total = partial(estimated_total, population=max(1, plan.asked))
    return Estimate(
        reports=tuple(reports),
        calls=total(calls),
        tokens=total(tokens),
        cost=total(cost),
        seconds=total([each / at_once for each in seconds]),
        unpriced=meter.unpriced,
    )


def _asked(job: Job) -> Iterator[tuple[Segment, Aspect]]:
    """Yield the pairs of `job` that judges assess; results of rubrics are computed."""
    return (pair for pair in pairs(job) if not pair[1].criteria)


def _sample(pairs: Iterator[tuple[Segment, Aspect]], *, most: int) -> list[tuple[Segment, Aspect]]:
    """Return a pseudo-random sample of `pairs`, the same in every run, in one pass."""
    lots = (blake2b(number.to_bytes(8, "big"), digest_size=8).digest() for number in count())
    drawn = nsmallest(most, zip(lots, pairs, strict=False), key=lambda lot: lot[0])
    return [pair for _, pair in drawn]
