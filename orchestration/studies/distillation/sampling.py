"""Balanced sampling: the least drawn is drawn next, by lot among equals."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

from numpy.random import Generator

from spanjury.judges.core import Aspect
from spanjury.orchestration.studies.distillation.rows import Row
from spanjury.perturbations.perturbation import generator_for

T = TypeVar("T")


def least_used(
    choices: Sequence[T],
    used: Counter[Hashable],
    rng: Generator,
    *,
    k: int,
    key: Callable[[T], Hashable],
) -> list[T]:
    """Draw up to `k` of `choices`, those with the least used keys first, and count them in.

    Within one draw a key comes again only when every other one was drawn as often.
    """
    lots = rng.random(len(choices)).tolist()
    before: Counter[Hashable] = Counter()
    ranked: list[tuple[int, int, float, int]] = []
    for index in sorted(range(len(choices)), key=lots.__getitem__):
        group = key(choices[index])
        ranked.append((before[group], used[group], lots[index], index))
        before[group] += 1
    drawn = [choices[index] for *_, index in sorted(ranked)[:k]]
    used.update(map(key, drawn))
    return drawn


def sampled(
    rows: Sequence[Row],
    aspects: Mapping[str, Sequence[Aspect]],
    *,
    systems: int,
    per_output: int,
    seed: int,
) -> Iterator[tuple[Row, Aspect]]:
    """Draw outputs for each input, and aspects for each output.

    Source: Kartáč et al. (2025), OpeNLGauge, section 5.1.

    Parameters
    ----------
    rows
        The outputs; those of one input need not stand together.
    aspects
        Task -> what may be judged in it; what needs an input that a row lacks is skipped.
    systems
        How many systems are drawn for each input, balanced over all of them.
    per_output
        How many aspects are drawn for each output, balanced over all of the task.

    Yields
    ------
    Row and Aspect
        Input by input, in the order of the data.
    """
    rng = generator_for(seed, "sampling", "")
    used: Counter[Hashable] = Counter()
    by_input: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_input[row.input_id].append(row)
    for outputs in by_input.values():
        for row in least_used(outputs, used, rng, k=systems, key=_system):
            fit = [a for a in aspects[row.segment.task] if not a.lacking(row.segment.inputs)]
            for aspect in least_used(fit, used, rng, k=per_output, key=_aspect):
                yield row, aspect


def _system(row: Row) -> Hashable:
    return "system", row.dataset, row.segment.system


def _aspect(aspect: Aspect) -> Hashable:
    return "aspect", aspect.task.name, aspect.name
