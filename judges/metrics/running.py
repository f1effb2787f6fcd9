"""Metrics side by side: compiled ones in threads, Python ones in processes, models one by one."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anyio import CapacityLimiter, create_task_group, to_process, to_thread

from spanjury.judges.core import CorpusMetric, MergeableMetric, Sample, first_error_alone
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.scores import MetricScores, Part, measured, put_together

_CHUNK = 250
"""Samples of a chunk: some seconds' work of a slow metric, a millisecond of pickling."""
_FEW = 50
"""Most samples that are not worth a process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limiters:
    """Workers of a run: every model by itself, everything else as there are cores."""

    processes: CapacityLimiter
    threads: CapacityLimiter
    models: CapacityLimiter


async def run_metrics(
    metrics: Sequence[NamedMetric],
    samples: Sequence[Sample],
    *,
    workers: int | None = None,
    show: Callable[[MetricScores], None] = lambda _: None,
) -> list[MetricScores]:
    """Let every metric measure a corpus.

    Raises the first `EvaluationError` that a metric raises. `show` gets the scores of each metric
    as it is done.

    Parameters
    ----------
    metrics
        Their needs have been checked by `check_samples`.
    workers
        How many processes, and threads, may work at once; None for the number of cores.
    """
    count = workers or os.cpu_count() or 1
    limiters = _Limiters(
        processes=CapacityLimiter(count), threads=CapacityLimiter(count), models=CapacityLimiter(1)
    )
    done: dict[int, MetricScores] = {}

    async def run(place: int, named: NamedMetric) -> None:
        done[place] = await _run(named, samples, limiters=limiters)
        show(done[place])

    with first_error_alone():
        async with create_task_group() as group:
            for place, named in enumerate(metrics):
                group.start_soon(run, place, named)
    return [done[place] for place in range(len(metrics))]


async def _run(
    named: NamedMetric, samples: Sequence[Sample], *, limiters: _Limiters
) -> MetricScores:
    """Let one metric measure a corpus, in chunks where it need not see all of it at once."""
    size = _CHUNK if _can_be_cut(named) else len(samples)
    chunks = [samples[start : start + size] for start in range(0, len(samples), size)]
    parts: dict[int, Part] = {}

    async def measure(place: int) -> None:
        parts[place] = await _measured(named, chunks[place], limiters=limiters)

    async with create_task_group() as group:
        for place in range(len(chunks)):
            group.start_soon(measure, place)
    return put_together(named, [parts[place] for place in range(len(chunks))])


def _can_be_cut(named: NamedMetric) -> bool:
    has_sums = isinstance(named.metric, MergeableMetric)
    takes_all = isinstance(named.metric, CorpusMetric) and not has_sums
    return not takes_all and not named.card.batch_dependent and named.card.runs != "model"


async def _measured(named: NamedMetric, samples: Sequence[Sample], *, limiters: _Limiters) -> Part:
    """Measure where the metric belongs: a process can be ended midway, a thread cannot."""
    if named.card.runs == "python" and len(samples) > _FEW:
        return await to_process.run_sync(
            measured, named, samples, cancellable=True, limiter=limiters.processes
        )
    limiter = limiters.threads if named.card.runs in {"native", "python"} else limiters.models
    return await to_thread.run_sync(
        measured, named, samples, abandon_on_cancel=True, limiter=limiter
    )
