"""Metrics side by side: compiled ones in threads, Python ones in processes, models one by one."""

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from anyio import CapacityLimiter, create_task_group, to_process, to_thread

from spanjury.judges.core import CorpusMetric, MergeableMetric, Sample, first_error_alone
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.scores import MetricScores, Part, measured_together, put_together

_CHUNK = 250
"""Samples of a chunk: some seconds' work of a slow metric, a millisecond of pickling."""
_CHUNK_OF_MANY = 500
"""Those of a chunk that metrics share: a fifth of a second's work of thirty of them."""
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

    async def run(indices: Sequence[int]) -> None:
        columns = await _run([metrics[index] for index in indices], samples, limiters=limiters)
        for index, scores in zip(indices, columns, strict=True):
            done[index] = scores
            show(scores)

    with first_error_alone():
        async with create_task_group() as group:
            for bundle in _bundles(metrics):
                group.start_soon(run, bundle)
    return [done[index] for index in range(len(metrics))]


def _bundles(metrics: Sequence[NamedMetric]) -> list[list[int]]:
    """Put those together that share what they make of a text; return their places.

    All others stand alone, so that a slow one keeps no other one's scores back.
    """
    bundles: dict[Hashable, list[int]] = {}
    for index, named in enumerate(metrics):
        shared = (named.card.runs, _can_be_cut(named))
        bundles.setdefault(shared if named.card.shares else index, []).append(index)
    return [*bundles.values()]


async def _run(
    bundle: Sequence[NamedMetric], samples: Sequence[Sample], *, limiters: _Limiters
) -> list[MetricScores]:
    """Let metrics measure a corpus, in chunks where they need not see all of it at once."""
    chunk = _CHUNK if len(bundle) == 1 else _CHUNK_OF_MANY
    size = chunk if _can_be_cut(bundle[0]) else len(samples)
    chunks = [samples[start : start + size] for start in range(0, len(samples), size)]
    parts: dict[int, tuple[Part, ...]] = {}

    async def measure(index: int) -> None:
        parts[index] = await _measured(bundle, chunks[index], limiters=limiters)

    async with create_task_group() as group:
        for index in range(len(chunks)):
            group.start_soon(measure, index)
    in_order = [parts[index] for index in range(len(chunks))]
    return [
        put_together(named, of_one)
        for named, of_one in zip(bundle, zip(*in_order, strict=True), strict=True)
    ]


def _can_be_cut(named: NamedMetric) -> bool:
    has_sums = isinstance(named.metric, MergeableMetric)
    takes_all = isinstance(named.metric, CorpusMetric) and not has_sums
    return not takes_all and not named.card.batch_dependent and named.card.runs != "model"


async def _measured(
    bundle: Sequence[NamedMetric], samples: Sequence[Sample], *, limiters: _Limiters
) -> tuple[Part, ...]:
    """Measure where the metrics belong: a process can be ended midway, a thread cannot."""
    runs = bundle[0].card.runs
    if runs == "python" and len(samples) > _FEW:
        return await to_process.run_sync(
            measured_together, bundle, samples, cancellable=True, limiter=limiters.processes
        )
    limiter = limiters.threads if runs in {"native", "python"} else limiters.models
    return await to_thread.run_sync(
        measured_together, bundle, samples, abandon_on_cancel=True, limiter=limiter
    )
