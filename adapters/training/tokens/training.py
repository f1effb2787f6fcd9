"""Training from labelled windows and an encoder to a folder that the judge `reader` can use.

During training the folder contains a checkpoint. At the end it gets the model for onnxruntime, the
weights for further training, and a card.

A kill costs only a few steps: the batch and the learning rate of a step follow from its number, and
the rest is in the checkpoint. The weights with the lowest validation loss are kept.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from spanjury.adapters.model_files import finished_files
from spanjury.adapters.torch_models import find_device
from spanjury.adapters.training.card import write_card
from spanjury.adapters.training.checkpoint import RECORD, CheckpointFile, open_checkpoint
from spanjury.adapters.training.job import Progress, Trained
from spanjury.adapters.training.tokens.checker import CheckerBase, find_checker_base
from spanjury.adapters.training.tokens.encoding import (
    EncodedWindow,
    epoch_batches,
    stacked,
    without_kinds,
)
from spanjury.adapters.training.tokens.guardian import ADAPTER, GuardianBase, find_guardian_base
from spanjury.adapters.training.tokens.job import (
    CheckerForm,
    TokenJob,
    TokenOptions,
    windows_digest,
)
from spanjury.adapters.training.tokens.model import TokenModel, find_encoder, window_loss
from spanjury.adapters.training.trainer import fixed_seed
from spanjury.judges.core import VERSION, ConfigError, markdown

_MAX_GRADIENT_NORM = 1.0
_LAST_RATE = 0.03  # share of the peak learning rate at the end of the cosine
_SEEDS_APART = 1_000_003
_VALIDATED_AT_ONCE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTrainer:
    """A training loop: the model, its windows, and callbacks.

    The model is changed in place; there is at least one window. `best` is the file of the best
    weights. `tell` is called after each step, and with a message if there is one. `stopped` is
    called before each step, and ends training if it returns True, leaving a checkpoint.
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
        """Total number of steps."""
        return len(self.batches)

    def run(self) -> tuple[Progress, bool]:
        """Train to the end, or until stopped; the caller seeds torch's generator.

        Raises `ConfigError` if the checkpoint is from another training, and `StoreError` if a
        checkpoint cannot be read or written.

        Returns
        -------
        tuple
            The progress, and whether training is finished; the model then has its best weights.
        """
        optimizer = torch.optim.AdamW(self._parameters(), weight_decay=self.options.weight_decay)
        progress = self.checkpoints.load(model=self.model, optimizer=optimizer)
        if progress is None:
            progress = Progress(micro_batch_size=1)
            self.best.unlink(missing_ok=True)  # of a training killed before its first checkpoint
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
        """Return each trainable weight with its peak rate, in the checkpoint's order."""
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
        """Train one step."""
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
        """Return the share of the peak rate: a linear rise, then a fall along a cosine."""
        rising = (step + 1) / max(1, round(self.steps * self.options.warmup))
        falling = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        return min(1.0, rising) * (_LAST_RATE + (1 - _LAST_RATE) * falling)

    def _is_due(self, step: int) -> bool:
        every = self.options.validate_every
        due = step % every == 0 if every else step in self.epoch_ends
        return due or step == self.steps

    def _validate(self, progress: Progress) -> None:
        """Append the loss on the validation windows, if there are any; save the weights if best."""
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


BEST = "best.safetensors"
_READER, _CHECKER = "reader.json", "config.json"  # written last: it makes the folder a judge's

_LIMITS = (
    "It reads a claim beside the passages of the source that share words with it. What follows from"
    " arithmetic, from many places together or from knowledge of the world it cannot know."
    " `spanjury bench spans` says what it is worth on marked texts."
)


def train(
    job: TokenJob,
    *,
    tell: Callable[[Progress, int, str], None],
    stopped: Callable[[], bool],
) -> Trained:
    """Start or continue a training, and write the result into the job's folder.

    `tell` and `stopped` are as in the generative form's `train`.

    Raises `ConfigError` if there are no windows, the base is not suitable, or the folder contains
    another training or a model. Raises `StoreError` if the folder cannot be written.
    """
    if not job.windows:
        raise ConfigError("there is nothing to learn from: no labelled sentence")
    base, device = _base(job), find_device(job.options.device)
    checkpoints = _checkpoints(job, identity=base.identity)
    limit = job.options.max_length or base.max_length
    if job.options.threads:
        torch.set_num_threads(job.options.threads)
    with fixed_seed(job.options.seed, device=device):
        model = base.load(kinds=job.kinds, device=device)
        trainer = TokenTrainer(
            model=model,
            windows=base.encode(job.windows, limit=limit),
            validation=base.encode(job.validation, limit=limit),
            options=job.options,
            checkpoints=checkpoints,
            best=job.folder / BEST,
            tell=lambda progress, line: tell(progress, trainer.steps, line),
            stopped=stopped,
        )
        progress, finished = trainer.run()
    outcome = Trained(finished=finished, progress=progress, steps=trainer.steps, cut=0, skipped=0)
    if finished:
        _write(job, model, base=base, device=device, progress=progress, max_length=limit)
        (job.folder / BEST).unlink(missing_ok=True)
        checkpoints.remove()
    return outcome


def _base(job: TokenJob) -> Any:  # noqa: ANN401  their methods differ in what they encode
    """Return the `EncoderBase` of a reader, or the `CheckerBase` or `GuardianBase` of a checker."""
    if job.checker is None:
        return find_encoder(job.base)
    return find_pair_base(job.base, job.checker, max_length=job.options.max_length)


def find_pair_base(
    name: str, form: CheckerForm, *, max_length: int | None
) -> CheckerBase | GuardianBase:
    """Find the base of a checker; raise `ConfigError` if there is none, or it is not suitable."""
    if form.question is not None:
        return find_guardian_base(name, form.question, max_length=max_length)
    return find_checker_base(name, form, max_length=max_length)


def _last(job: TokenJob) -> str:
    """Return the name of the file that is written last."""
    if job.checker is None:
        return _READER
    return _CHECKER if job.checker.question is None else ADAPTER


def _checkpoints(job: TokenJob, *, identity: str) -> CheckpointFile:
    """Return the checkpoint file; refuse a folder that contains a model."""
    belongs_to = {
        "base": identity,
        **_form(job),
        "data": windows_digest(job.windows),
        "validation data": windows_digest(job.validation),
    }
    return open_checkpoint(
        job.folder, last=_last(job), belongs_to=belongs_to, options=asdict(job.options)
    )


def _form(job: TokenJob) -> dict[str, object]:
    return {} if job.checker is None else {"checker": asdict(job.checker)}


def _front(form: CheckerForm | None, *, identity: str) -> list[str]:
    """Return the beginning of the card."""
    classifies, made, use = _texts(form)
    return [
        "---",
        *([] if form is None else ["library_name: transformers"]),
        f"pipeline_tag: {classifies}",
        "language: en",
        "tags: [spanjury, error-spans, evaluation]",
        "---",
        "",
        "# A judge that reads each claim beside its source",
        "",
        f"Trained by spanjury {VERSION} from {markdown(identity)}: {made}",
        "",
        use,
        "",
    ]


def _texts(form: CheckerForm | None) -> tuple[str, str, str]:
    """Return a model's task in the hub's terms, a description, and how to use it."""
    if form is None:
        return (
            "token-classification",
            (
                "one head labels each word as supported, contradicted or not in the source, another"
                " the whole sentence."
            ),
            "`--judge reader:weights=FOLDER` judges with it. It knows English.",
        )
    if form.question is not None:
        return (
            "text-generation",
            "matrices for llama.cpp; the model says whether a claim follows from a passage.",
            "`--judge guardian:tuned --model tuned/BASE.gguf+FOLDER/adapter.gguf` judges with it.",
        )
    use = "`--judge checker:FOLDER` judges with it, by the constants in `spanjury.json`."
    if form.head == "token":
        return (
            "token-classification",
            "it labels each token of a text as supported by the passages before it or not.",
            use,
        )
    classes = "supported or not" if form.classes == 2 else "supported, contradicted or not in it"  # noqa: PLR2004
    return (
        "text-classification",
        f"it says whether the claim after a passage is {classes}.",
        use,
    )


def _write(
    job: TokenJob,
    model: Any,  # noqa: ANN401  the base's own
    *,
    base: Any,  # noqa: ANN401  as above
    device: torch.device,
    progress: Progress,
    max_length: int,
) -> None:
    """Write the model, its card, and the card's contents for programs."""
    options = asdict(job.options)
    record = {
        "base": job.base,
        **_form(job),
        "base_identity": base.identity,
        "device": str(device),
        "data": asdict(job.data),
        "options": options,
        "progress": asdict(progress),
    }
    with finished_files(job.folder, last=_last(job)) as aside:
        base.write(model, aside, max_length=max_length)
        write_card(
            aside,
            front=_front(job.checker, identity=base.identity),
            data=job.data,
            rows=[("training", len(job.windows)), ("validation", len(job.validation))],
            device=str(device),
            options=options,
            progress=progress,
            end=("", "## Limits", "", _LIMITS),
        )
        (aside / RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
