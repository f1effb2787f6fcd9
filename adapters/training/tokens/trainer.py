"""Training an encoder on labelled windows, so that a kill costs steps, not weights.

Every step is a function of the last one's weights: its batch and its learning rate follow from its
number, the rest is in the checkpoint. The weights with the lowest loss on validation are kept.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from spanjury.adapters.training.checkpoint import CheckpointFile
from spanjury.adapters.training.job import Progress
from spanjury.adapters.training.tokens.encoding import (
    EncodedWindow,
    epoch_batches,
    stacked,
    without_kinds,
)
from spanjury.adapters.training.tokens.job import TokenOptions
from spanjury.adapters.training.tokens.model import TokenModel, window_loss

_MAX_GRADIENT_NORM = 1.0
_LAST_RATE = 0.03  # share of the highest learning rate that the cosine ends at
_SEEDS_APART = 1_000_003
_VALIDATED_AT_ONCE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTrainer:
    """A training loop: the model, its windows, and the listener.

    The model is changed; there is at least one window. `best` is the file of the best weights.
    `tell` is called after each step, and with a line where something is to be said; `stopped` is
    asked before each step whether to end, and then leaves a checkpoint behind.
    """

    model: TokenModel
    windows: Sequence[EncodedWindow]
    validation: Sequence[EncodedWindow]
    options: TokenOptions
    checkpoints: CheckpointFile
    best: Path
    tell: Callable[[Progress, str], None]
    stopped: Callable[[], bool]
    batches: tuple[tuple[int, ...], ...] = field(init=False)
    epoch_ends: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        epochs = list(self._epochs())
        ends = [sum(map(len, epochs[: index + 1])) for index in range(len(epochs))]
        batches = tuple(
            islice((batch for epoch in epochs for batch in epoch), self.options.max_steps)
        )
        object.__setattr__(self, "batches", batches)  # the dataclass is frozen
        object.__setattr__(self, "epoch_ends", frozenset(ends))

    @property
    def steps(self) -> int:
        """Steps in all."""
        return len(self.batches)

    def run(self) -> tuple[Progress, bool]:
        """Train to the end, or until stopped; torch's own generator must be seeded.

        Returns
        -------
        tuple
            The progress, and whether training is finished; the model then has its best weights.

        Raises
        ------
        ConfigError
            If the checkpoint is of another training.
        StoreError
            If a checkpoint cannot be read or written.
        """
        optimizer = torch.optim.AdamW(self._parameters(), weight_decay=self.options.weight_decay)
        progress = self.checkpoints.load(model=self.model, optimizer=optimizer)
        if progress is None:
            progress = Progress(micro_batch_size=1)
        else:
            self.tell(progress, f"going on after step {progress.step}")
        self.model.train()
        while progress.step < self.steps and not self._is_overtrained(progress):
            if self.stopped():
                self.checkpoints.save(progress, model=self.model, optimizer=optimizer)
                return progress, False
            self._learn(progress, optimizer)
            if self._is_due(progress.step):
                self._validate(progress)
            if progress.step % self.options.checkpoint_every == 0:
                self.checkpoints.save(progress, model=self.model, optimizer=optimizer)
        self.checkpoints.save(progress, model=self.model, optimizer=optimizer)
        if self.best.exists():
            self.model.load_state_dict(load_file(self.best), strict=False)
        return progress, True

    def _epochs(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        lengths = tuple(len(window.ids) for window in self.windows)
        groups = tuple(window.group for window in self.windows)
        for epoch in range(self.options.epochs):
            seed = self.options.seed * _SEEDS_APART + epoch
            yield epoch_batches(lengths, groups, batch_tokens=self.options.batch_tokens, seed=seed)

    def _parameters(self) -> list[dict[str, object]]:
        """Return each weight that learns with its highest rate, in the checkpoint's order."""
        fresh = {id(weight) for weight in self.model.fresh()}
        options = self.options
        return [
            {
                "params": [weight],
                "highest": options.head_learning_rate
                if id(weight) in fresh
                else options.learning_rate,
            }
            for weight in self.model.parameters()
            if weight.requires_grad
        ]

    def _learn(self, progress: Progress, optimizer: torch.optim.Optimizer) -> None:
        """Take one step."""
        began = time.monotonic()
        windows = [self.windows[index] for index in self.batches[progress.step]]
        loss = self._loss(windows, kind_dropout=self.options.kind_dropout)
        loss.backward()  # type: ignore[no-untyped-call]  # not annotated
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), _MAX_GRADIENT_NORM)
        share = self._rate(progress.step)
        for group in optimizer.param_groups:
            group["lr"] = group["highest"] * share
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        progress.step += 1
        progress.losses.append((progress.step, loss.item()))
        progress.tokens += sum(len(window.ids) for window in windows)
        progress.seconds += time.monotonic() - began
        self.tell(progress, "")

    def _loss(self, windows: Sequence[EncodedWindow], *, kind_dropout: float = 0.0) -> torch.Tensor:
        batch = stacked(windows, device=next(self.model.parameters()).device)
        if kind_dropout:
            batch = without_kinds(batch, torch.rand(len(windows)) < kind_dropout)
        lower = self.options.precision == "bfloat16"
        with torch.autocast(batch.ids.device.type, dtype=torch.bfloat16, enabled=lower):
            return window_loss(
                self.model,
                batch,
                error_weight=self.options.error_weight,
                order_weight=self.options.order_weight,
            )

    def _rate(self, step: int) -> float:
        """Return the share of the highest rate: up in a line, then down along a cosine."""
        rising = (step + 1) / max(1, round(self.steps * self.options.warmup))
        falling = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        return min(1.0, rising) * (_LAST_RATE + (1 - _LAST_RATE) * falling)

    def _is_due(self, step: int) -> bool:
        every = self.options.validate_every
        due = step % every == 0 if every else step in self.epoch_ends
        return due or step == self.steps

    def _validate(self, progress: Progress) -> None:
        """Add the loss on validation windows, if there are any, and keep the best weights."""
        if not self.validation:
            return
        ordered = sorted(self.validation, key=lambda window: len(window.ids))
        total = 0.0
        self.model.eval()
        with torch.inference_mode():
            for start in range(0, len(ordered), _VALIDATED_AT_ONCE):
                chunk = ordered[start : start + _VALIDATED_AT_ONCE]
                total += self._loss(chunk).item() * len(chunk)
        self.model.train()
        loss = total / len(ordered)
        is_best = loss < min((value for _, value in progress.validations), default=math.inf)
        progress.validations.append((progress.step, loss))
        if is_best:
            self._keep_best()
        self.tell(progress, f"step {progress.step}: loss on validation {loss:.4f}")

    def _keep_best(self) -> None:
        learnt = {
            name: weight.detach().contiguous().cpu()
            for name, weight in self.model.named_parameters()
            if weight.requires_grad
        }
        fresh = self.best.with_name(f"{self.best.name}.new")
        save_file(learnt, fresh)
        fresh.replace(self.best)

    def _is_overtrained(self, progress: Progress) -> bool:
        losses = [loss for _, loss in progress.validations]
        return bool(losses) and len(losses) - 1 - losses.index(min(losses)) >= self.options.patience
