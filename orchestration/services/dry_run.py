"""A dry run: what a job would take, estimated from a sample of it."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from heapq import nsmallest
from itertools import count

from spanjury.judges.core import Aspect, PanelReport, Segment
from spanjury.orchestration.engine.metering import Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.job import Job, Plan, pairs
from spanjury.orchestration.services.session import open_session
from spanjury.stats.estimation import TotalEstimate, estimated_total

SAMPLE = 20
"""Assessments that are made for an estimate, if the job has as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The estimated cost of a whole job, with 95 % intervals.

    Parameters
    ----------
    calls, tokens, cost
        Of models; `cost` in dollars, without that of `unpriced` models.
    seconds
        Wall-clock time, were as many calls under way as may be.
    """

    reports: tuple[PanelReport, ...]
    assessments: int
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


async def estimated(job: Job, plan: Plan) -> Estimate:
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
                for segment, aspect in _sample(pairs(job))
            ]
    at_once = job.panel.connections if meter.usage.calls else 1

    def total(values: Iterable[float]) -> TotalEstimate:
        return estimated_total(list(values), population=plan.assessments)

    return Estimate(
        reports=tuple(one.report for one in taken),
        assessments=plan.assessments,
        calls=total(one.calls for one in taken),
        tokens=total(one.tokens for one in taken),
        cost=total(one.cost for one in taken),
        seconds=total(one.seconds / at_once for one in taken),
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


def _sample(pairs: Iterator[tuple[Segment, Aspect]]) -> list[tuple[Segment, Aspect]]:
    """Draw `SAMPLE` pairs as if at random, the same ones every time, in one pass."""
    drawn = nsmallest(SAMPLE, zip(map(_lot, count()), pairs, strict=False), key=lambda lot: lot[0])
    return [pair for _, pair in drawn]


def _lot(number: int) -> bytes:
    return blake2b(number.to_bytes(8, "big"), digest_size=8).digest()
