"""Batches: the examples that a step learns from, as tensors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch

from spanjury.adapters.training.job import TrainingOptions
from spanjury.adapters.training.rendering import IGNORED, Rendered


@dataclass(frozen=True, kw_only=True)  # no slots: the steps are reckoned once
class Plan:
    """The examples that each step learns from; those of any step follow without the steps before.

    There is at least one example; `options` have their order's seed.
    """

    examples: int
    options: TrainingOptions

    @cached_property
    def steps_per_epoch(self) -> int:
        """Steps in which every example is seen once; the last one's batch may be small."""
        return -(-self.examples // self.options.batch_size)

    @cached_property
    def steps(self) -> int:
        """Steps in all."""
        whole = self.steps_per_epoch * self.options.epochs
        return min(whole, self.options.max_steps or whole)

    def batch(self, step: int) -> list[int]:
        """Return the places of the examples of a step, 0 for the first."""
        epoch, place = divmod(step, self.steps_per_epoch)
        order = _order(self.examples, self.options.seed, epoch)
        start = place * self.options.batch_size
        return list(order[start : start + self.options.batch_size])

    def learning_rate(self, step: int) -> float:
        """Return the rate of a step: up in a line to the highest, then down to 0."""
        warm = max(1, round(self.steps * self.options.warmup))
        rising = (step + 1) / warm
        falling = (self.steps - step) / max(1, self.steps - warm)
        return self.options.learning_rate * min(1.0, rising, falling)


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorBatch:
    """Examples as tensors ``(batch, length)``, filled up on the right.

    `labels` are `IGNORED` where nothing is learnt; `weights` are those of the tokens in the loss, 1
    in all for each example; `first` is the first place, 1 or more, at which any example's answer
    begins.
    """

    ids: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor
    first: int


def chunks(examples: Sequence[Rendered], *, size: int) -> Iterator[Sequence[Rendered]]:
    """Yield at most `size` at a time, like with like; the longest first, as memory may end."""
    ordered = sorted(examples, key=lambda one: -len(one.ids))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def stacked(
    examples: Sequence[Rendered],
    *,
    padding: int,
    device: torch.device,
    explanation_weight: float = 1.0,
) -> TensorBatch:
    """Make tensors of examples."""

    def rows(values: Iterable[tuple[float, ...]], filler: int) -> torch.Tensor:
        kept = [torch.tensor(row) for row in values]
        return torch.nn.utils.rnn.pad_sequence(kept, batch_first=True, padding_value=filler)

    return TensorBatch(
        ids=rows([one.ids for one in examples], padding).to(device),
        labels=rows([one.labels for one in examples], IGNORED).to(device),
        weights=rows([one.weights(explanation_weight) for one in examples], 0).to(device),
        first=min(one.answer for one in examples),
    )


@lru_cache(maxsize=2)
def _order(examples: int, seed: int, epoch: int) -> tuple[int, ...]:
    chance = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    return tuple(torch.randperm(examples, generator=chance).tolist())
