"""Training of an adapter [1] on a base model's answers; a kill costs only a few steps.

Each step depends only on the last one's state: the order of the examples and the learning rate
follow from the step's number, and the rest is in the checkpoint. A step's gradient is that of the
mean over its examples, however they are divided into micro-batches: long and short answers have
the same weight, and explanations weigh less than the verdict.

References
----------
.. [1] Hu et al. (2022), LoRA: low-rank adaptation of large language models, ICLR
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import torch
from peft import PeftModel
from torch.nn.functional import cross_entropy

from spanjury.adapters.causal.base import is_out_of_memory
from spanjury.adapters.training.checkpoint import CheckpointFile
from spanjury.adapters.training.job import Progress, TrainingOptions
from spanjury.adapters.training.rendering import IGNORED, Rendered
from spanjury.judges.core import ConfigError


@dataclass(frozen=True, kw_only=True)  # no slots, because of cached properties
class Plan:
    """The schedule of a training; the batch and rate of any step are computed directly.

    There is at least one example; the seed for their order is in `options`.
    """

    examples: int
    options: TrainingOptions

    @cached_property
    def steps_per_epoch(self) -> int:
        """Number of steps in which every example is seen once; the last batch may be smaller."""
        return -(-self.examples // self.options.batch_size)

    @cached_property
    def steps(self) -> int:
        """Total number of steps."""
        whole = self.steps_per_epoch * self.options.epochs
        return min(whole, self.options.max_steps or whole)

    def batch(self, step: int) -> list[int]:
        """Return the indices of a step's examples; the first step is 0."""
        epoch, position = divmod(step, self.steps_per_epoch)
        order = _order(self.examples, self.options.seed, epoch)
        start = position * self.options.batch_size
        return list(order[start : start + self.options.batch_size])

    def learning_rate(self, step: int) -> float:
        """Return the rate of a step: a linear rise to the peak, then a linear fall to 0."""
        warm = max(1, round(self.steps * self.options.warmup))
        rising = (step + 1) / warm
        falling = (self.steps - step) / max(1, self.steps - warm)
        return self.options.learning_rate * min(1.0, rising, falling)


@dataclass(frozen=True, slots=True, kw_only=True)
class TensorBatch:
    """Examples as tensors ``(batch, length)``, padded on the right.

    `labels` are `IGNORED` where there is no loss. `weights` are the tokens' weights in the loss,
    which sum to 1 for each example. `first` is the smallest index, 1 or more, at which an answer
    begins.
    """

    ids: torch.Tensor
    labels: torch.Tensor
    weights: torch.Tensor
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainer:
    """A training loop: the model, its examples, and callbacks.

    The model has its adapter and is changed in place; there is at least one example, and `padding`
    is the id that pads batches. `tell` is called after each step, and with a message if there is
    one. `stopped` is called before each step, and ends training if it returns True, leaving a
    checkpoint.
    """

    model: PeftModel
    examples: Sequence[Rendered]
    validation: Sequence[Rendered]
    padding: int
    options: TrainingOptions
    checkpoints: CheckpointFile
    tell: Callable[[Progress, str], None]
    stopped: Callable[[], bool]
    plan: Plan = field(init=False)
    device: torch.device = field(init=False)

    def __post_init__(self) -> None:
        plan = Plan(examples=len(self.examples), options=self.options)
        object.__setattr__(self, "plan", plan)  # the dataclass is frozen
        object.__setattr__(self, "device", next(self.model.parameters()).device)

    def run(self) -> Progress:
        """Train to the end, or until stopped; the caller seeds torch's generator.

        If training was stopped, ``step`` of the result is less than ``plan.steps``. Raises
        `ConfigError` if the checkpoint is from another training, or one example does not fit into
        memory. Raises `StoreError` if a checkpoint cannot be read or written.
        """
        optimizer = torch.optim.AdamW(
            [weight for weight in self.model.parameters() if weight.requires_grad],
            lr=self.options.learning_rate,
            weight_decay=self.options.weight_decay,
        )
        progress = self.checkpoints.load(model=self.model, optimizer=optimizer)
        if progress is None:
            progress = Progress(micro_batch_size=self.options.micro_batch_size)
            self._validate(progress)
        else:
            self.tell(progress, f"going on after step {progress.step}")
        self.model.train()
        while progress.step < self.plan.steps:
            if self.stopped():
                self.checkpoints.save(progress, model=self.model, optimizer=optimizer)
                return progress
            self._learn(progress, optimizer)
            if self._is_due(progress.step):
                self._validate(progress)
            if progress.step % self.options.checkpoint_every == 0:
                self.checkpoints.save(progress, model=self.model, optimizer=optimizer)
        self.checkpoints.save(progress, model=self.model, optimizer=optimizer)
        return progress

    def _learn(self, progress: Progress, optimizer: torch.optim.Optimizer) -> None:
        """Train one step."""
        began = time.monotonic()
        examples = [self.examples[index] for index in self.plan.batch(progress.step)]
        loss = self._accumulated(progress, examples)
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.options.max_gradient_norm)
        for group in optimizer.param_groups:
            group["lr"] = self.plan.learning_rate(progress.step)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress.step += 1
        progress.losses.append((progress.step, loss))
        progress.tokens += sum(len(example.ids) for example in examples)
        progress.seconds += time.monotonic() - began
        self.tell(progress, "")

    def _accumulated(self, progress: Progress, examples: Sequence[Rendered]) -> float:
        """Compute a step's gradient; if memory runs out, retry with half the micro-batch."""
        chance = _chance(self.device)
        while True:
            try:
                return self._accumulate(examples, size=progress.micro_batch_size)
            except (torch.OutOfMemoryError, RuntimeError) as error:
                if not is_out_of_memory(error):
                    raise
                if progress.micro_batch_size == 1:
                    raise ConfigError(
                        "one example does not fit into memory: lower the greatest length (it is"
                        f" {max(len(example.ids) for example in examples)} tokens now)"
                    ) from error
            self.model.zero_grad(set_to_none=True)
            if self.device.type == "cuda":
                torch.cuda.empty_cache()
            # So that the retry draws the same dropout.
            _set_chance(chance, self.device)
            progress.micro_batch_size //= 2
            self.tell(
                progress,
                f"out of memory: {progress.micro_batch_size} examples at once from now on",
            )

    def _accumulate(self, examples: Sequence[Rendered], *, size: int) -> float:
        total = 0.0
        for chunk in chunks(examples, size=size):
            loss = answer_loss(self.model, self._stacked(chunk)) / len(examples)
            loss.backward()  # type: ignore[no-untyped-call]  # not annotated
            total += loss.item()
        return total

    def _stacked(self, examples: Sequence[Rendered]) -> TensorBatch:
        return stacked(
            examples,
            padding=self.padding,
            device=self.device,
            explanation_weight=self.options.explanation_weight,
        )

    def _is_due(self, step: int) -> bool:
        every = self.options.validate_every or self.plan.steps_per_epoch
        return step % every == 0 or step == self.plan.steps

    def _validate(self, progress: Progress) -> None:
        """Append the loss on the validation examples, if there are any."""
        if not self.validation:
            return
        total = 0.0
        self.model.eval()
        with torch.inference_mode():
            for chunk in chunks(self.validation, size=progress.micro_batch_size):
                total += answer_loss(self.model, self._stacked(chunk)).item()
        self.model.train()
        loss = total / len(self.validation)
        progress.validations.append((progress.step, loss))
        self.tell(progress, f"step {progress.step}: loss on validation {loss:.4f}")


def answer_loss(model: torch.nn.Module, batch: TensorBatch) -> torch.Tensor:
    """Return the sum over examples of the weighted mean of -log p of the answer's tokens, a scalar.

    Rows are padded on the right, where a causal model's earlier tokens do not attend, so no mask is
    needed. Logits are computed only from the first answer on.
    """
    predicting = batch.ids.shape[1] - batch.first + 1
    logits = model(input_ids=batch.ids, use_cache=False, logits_to_keep=predicting).logits
    losses = cross_entropy(
        logits[:, :-1].flatten(0, 1).float(),
        batch.labels[:, batch.first :].flatten(),
        ignore_index=IGNORED,
        reduction="none",
    )
    return losses @ batch.weights[:, batch.first :].flatten()


@contextmanager
def fixed_seed(seed: int, *, device: torch.device) -> Iterator[None]:
    """Seed torch's generators within the context, and restore their state afterwards."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield


def _chance(device: torch.device) -> tuple[torch.Tensor, torch.Tensor | None]:
    gpu = torch.cuda.get_rng_state(device) if device.type == "cuda" else None
    return torch.get_rng_state(), gpu


def _set_chance(state: tuple[torch.Tensor, torch.Tensor | None], device: torch.device) -> None:
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.cuda.set_rng_state(state[1], device)


def chunks(examples: Sequence[Rendered], *, size: int) -> Iterator[Sequence[Rendered]]:
    """Yield chunks of at most `size`, sorted by length, the longest first to test the memory."""
    ordered = sorted(examples, key=lambda example: -len(example.ids))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


def stacked(
    examples: Sequence[Rendered],
    *,
    padding: int,
    device: torch.device,
    explanation_weight: float = 1.0,
) -> TensorBatch:
    """Stack examples as padded tensors."""

    def rows(values: Iterable[tuple[float, ...]], filler: int) -> torch.Tensor:
        kept = [torch.tensor(row) for row in values]
        return torch.nn.utils.rnn.pad_sequence(kept, batch_first=True, padding_value=filler)

    return TensorBatch(
        ids=rows([example.ids for example in examples], padding).to(device),
        labels=rows([example.labels for example in examples], IGNORED).to(device),
        weights=rows([example.weights(explanation_weight) for example in examples], 0).to(device),
        first=min(example.answer for example in examples),
    )


@lru_cache(maxsize=2)
def _order(examples: int, seed: int, epoch: int) -> tuple[int, ...]:
    chance = torch.Generator().manual_seed(seed * 1_000_003 + epoch)
    return tuple(torch.randperm(examples, generator=chance).tolist())
