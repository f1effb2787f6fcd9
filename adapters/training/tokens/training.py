"""From labelled windows and an encoder to a folder with a judge that `reader` can read with.

While training is under way the folder holds its checkpoint; at the end it gets the model for
onnxruntime, the weights for training on, and a card.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp

import torch
from safetensors.torch import save_file

from spanjury.adapters.reading.export import export
from spanjury.adapters.torch_models import find_device
from spanjury.adapters.training.checkpoint import CheckpointFile
from spanjury.adapters.training.job import Progress, Trained
from spanjury.adapters.training.tokens.card import TokenCard
from spanjury.adapters.training.tokens.encoding import encode
from spanjury.adapters.training.tokens.job import TokenJob, windows_digest
from spanjury.adapters.training.tokens.model import EncoderBase, TokenModel, find_encoder
from spanjury.adapters.training.tokens.trainer import TokenTrainer
from spanjury.adapters.training.trainer import fixed_seed
from spanjury.judges.core import ConfigError, StoreError

CHECKPOINT = "checkpoint.safetensors"
BEST = "best.safetensors"
RECORD = "training.json"
WEIGHTS = "model.safetensors"
_LAST = "reader.json"  # without it the folder is not a judge
_CHANGES_NO_WEIGHT = {"checkpoint_every", "threads"}


def train(
    job: TokenJob,
    *,
    tell: Callable[[Progress, int, str], None],
    stopped: Callable[[], bool],
) -> Trained:
    """Train, or go on training, and write what was learnt into the job's folder.

    `tell` and `stopped` are as in the generative form's `train`.

    Raises `ConfigError` if there is nothing to learn from, the base is no such encoder, or the
    folder holds another training or a model. Raises `StoreError` if it cannot be written.
    """
    if not job.windows:
        raise ConfigError("there is nothing to learn from: no labelled sentence")
    base, device = find_encoder(job.base), find_device(job.options.device)
    checkpoints = _checkpoints(job, base)
    if job.options.threads:
        torch.set_num_threads(job.options.threads)
    tokenizer = base.tokenizer()
    with fixed_seed(job.options.seed, device=device):
        model = base.load(kinds=job.kinds, device=device)
        trainer = TokenTrainer(
            model=model,
            windows=encode(job.windows, tokenizer, limit=job.options.max_length),
            validation=encode(job.validation, tokenizer, limit=job.options.max_length),
            options=job.options,
            checkpoints=checkpoints,
            best=job.folder / BEST,
            tell=lambda progress, line: tell(progress, trainer.steps, line),
            stopped=stopped,
        )
        progress, finished = trainer.run()
    outcome = Trained(finished=finished, progress=progress, steps=trainer.steps, cut=0, skipped=0)
    if finished:
        card = TokenCard(job=job, base=base.identity, device=str(device), progress=progress)
        _write(job, model, card=card, base=base)
        (job.folder / BEST).unlink(missing_ok=True)
        checkpoints.remove()
    return outcome


def _checkpoints(job: TokenJob, base: EncoderBase) -> CheckpointFile:
    """Return where checkpoints are kept; refuse a folder in which a model is."""
    if (job.folder / _LAST).exists():
        raise ConfigError(f"{job.folder} holds a model already: name another folder")
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{job.folder} cannot be made: {error.strerror}") from error
    options = {
        key: one for key, one in asdict(job.options).items() if key not in _CHANGES_NO_WEIGHT
    }
    digests = {
        "data": windows_digest(job.windows),
        "validation data": windows_digest(job.validation),
    }
    return CheckpointFile(
        path=job.folder / CHECKPOINT, belongs_to={"base": base.identity, **digests, **options}
    )


def _write(job: TokenJob, model: TokenModel, *, card: TokenCard, base: EncoderBase) -> None:
    """Write all files aside, then put them into the folder: that which makes it a judge, last."""
    try:
        aside = Path(mkdtemp(prefix=".unfinished-", dir=job.folder))
        try:
            save_file(model.state_dict(), aside / WEIGHTS)
            length = job.options.max_length
            export(model.cpu().eval(), base.tokenizer(), aside, max_length=length)
            card.write(aside)
            record = json.dumps(_record(card), indent=1)
            (aside / RECORD).write_text(record, encoding="utf-8")
            for file in sorted(aside.iterdir(), key=lambda file: file.name == _LAST):
                file.replace(job.folder / file.name)
        finally:
            shutil.rmtree(aside)
    except OSError as error:
        raise StoreError(f"the model cannot be written into {job.folder}: {error}") from error


def _record(card: TokenCard) -> dict[str, object]:
    """Return what the card says, for programs."""
    return {
        "base": card.job.base,
        "base_identity": card.base,
        "device": card.device,
        "data": asdict(card.job.data),
        "options": asdict(card.job.options),
        "progress": asdict(card.progress),
    }
