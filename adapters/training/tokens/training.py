"""From labelled windows and an encoder to a folder with a judge that `reader` can read with.

While training is under way the folder holds its checkpoint; at the end it gets the model for
onnxruntime, the weights for training on, and a card.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol

import torch

from spanjury.adapters.causal.base import EMBEDDED, find_base
from spanjury.adapters.torch_models import find_device
from spanjury.adapters.training.card import (
    CARD,
    data_lines,
    draw,
    option_lines,
    result_lines,
)
from spanjury.adapters.training.checkpoint import CheckpointFile
from spanjury.adapters.training.job import Progress, Trained
from spanjury.adapters.training.tokens.checker import find_checker_base
from spanjury.adapters.training.tokens.decoder import DecoderBase
from spanjury.adapters.training.tokens.encoding import EncodedWindow
from spanjury.adapters.training.tokens.job import CheckerForm, TokenJob, windows_digest
from spanjury.adapters.training.tokens.model import EncoderBase, find_encoder
from spanjury.adapters.training.tokens.trainer import TokenTrainer
from spanjury.adapters.training.trainer import fixed_seed
from spanjury.judges.core import VERSION, ConfigError, StoreError, markdown

CHECKPOINT = "checkpoint.safetensors"

BEST = "best.safetensors"

RECORD = "training.json"

_READER, _CHECKER = "reader.json", "config.json"  # without it the folder is not a judge's

_CHANGES_NO_WEIGHT = {"checkpoint_every", "threads"}

_LIMITS = (
    "It reads a claim beside the passages of the source that share words with it. What follows from"
    " arithmetic, from many places together or from knowledge of the world it cannot know."
    " `spanjury bench spans` says what it is worth on marked texts."
)


class TokenBase(Protocol):
    """A base of the token form: of a reader an encoder or a decoder, of a checker an encoder."""

    @property
    def identity(self) -> str:
        """The model's name and digits that change with its files."""
        ...

    @property
    def max_length(self) -> int:
        """The most pieces of a window, unless the options say otherwise."""
        ...

    def load(self, *, kinds: int, device: torch.device) -> Any:  # noqa: ANN401 - its own model
        """Load the model that learns; raise `ConfigError` if it is no such base."""
        ...

    def encode(self, windows: Any, *, limit: int) -> list[EncodedWindow]:  # noqa: ANN401
        """Cut windows, or pairs, into at most `limit` pieces each."""
        ...

    def write(self, model: Any, folder: Path, *, max_length: int) -> None:  # noqa: ANN401
        """Write the folder that the judge reads with, its card last."""
        ...


def find_token_base(name: str) -> DecoderBase | EncoderBase:
    """Find the base of a reader by its name; raise `ConfigError` if there is none."""
    return DecoderBase(base=find_base(name)) if name == EMBEDDED else find_encoder(name)


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
    base, device = _base(job), find_device(job.options.device)
    checkpoints = _checkpoints(job, base)
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
        card = _TokenCard(job=job, base=base.identity, device=str(device), progress=progress)
        _write(model, card=card, base=base, max_length=limit)
        (job.folder / BEST).unlink(missing_ok=True)
        checkpoints.remove()
    return outcome


def _base(job: TokenJob) -> TokenBase:
    if job.checker is None:
        return find_token_base(job.base)
    return find_checker_base(job.base, job.checker, max_length=job.options.max_length)


def _last(job: TokenJob) -> str:
    """Return the name of the file that is written last."""
    return _READER if job.checker is None else _CHECKER


def _checkpoints(job: TokenJob, base: TokenBase) -> CheckpointFile:
    """Return where checkpoints are kept; refuse a folder in which a model is."""
    if (job.folder / _last(job)).exists():
        raise ConfigError(f"{job.folder} holds a model already: name another folder")
    try:
        job.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{job.folder} cannot be made: {error.strerror}") from error
    options = {
        key: value for key, value in asdict(job.options).items() if key not in _CHANGES_NO_WEIGHT
    }
    digests = {
        "data": windows_digest(job.windows),
        "validation data": windows_digest(job.validation),
    }
    form = {} if job.checker is None else {"checker": asdict(job.checker)}
    return CheckpointFile(
        path=job.folder / CHECKPOINT,
        belongs_to={"base": base.identity, **form, **digests, **options},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _TokenCard:
    """A model card; `base` tells the base encoder from others."""

    job: TokenJob
    base: str
    device: str
    progress: Progress

    def write(self, folder: Path) -> None:
        """Write `CARD` into a folder, and the curves where matplotlib is installed."""
        draw(self.progress, folder)
        rows = [("training", len(self.job.windows)), ("validation", len(self.job.validation))]
        lines = [
            *self._front(),
            *data_lines(self.job.data, rows),
            "## Training",
            "",
            f"On {self.device}.",
            "",
            *option_lines(asdict(self.job.options)),
            *result_lines(self.progress, folder),
            "",
            "## Limits",
            "",
            _LIMITS,
        ]
        (folder / CARD).write_text("\n".join([*lines, ""]), encoding="utf-8")

    def _front(self) -> list[str]:
        classifies, made, use = _texts(self.job.checker)
        return [
            "---",
            *([] if self.job.checker is None else ["library_name: transformers"]),
            f"pipeline_tag: {classifies}",
            "language: en",
            "tags: [spanjury, error-spans, evaluation]",
            "---",
            "",
            "# A judge that reads each claim beside its source",
            "",
            f"Trained by spanjury {VERSION} from {markdown(self.base)}: {made}",
            "",
            use,
            "",
        ]


def _texts(form: CheckerForm | None) -> tuple[str, str, str]:
    """Return the task of a model in the hub's words, what it does, and how it is used."""
    if form is None:
        return (
            "token-classification",
            (
                "one head labels each word as supported, contradicted or not in the source, another"
                " the whole sentence."
            ),
            "`--judge reader:weights=FOLDER` judges with it. It knows English.",
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


def _write(model: Any, *, card: _TokenCard, base: TokenBase, max_length: int) -> None:  # noqa: ANN401
    """Write all files aside, then put them into the folder: that which makes it a judge, last."""
    folder = card.job.folder
    try:
        aside = Path(mkdtemp(prefix=".unfinished-", dir=folder))
        try:
            base.write(model, aside, max_length=max_length)
            card.write(aside)
            record = json.dumps(_record(card), indent=1)
            (aside / RECORD).write_text(record, encoding="utf-8")
            for file in sorted(aside.iterdir(), key=lambda file: file.name == _last(card.job)):
                file.replace(folder / file.name)
        finally:
            shutil.rmtree(aside)
    except OSError as error:
        raise StoreError(f"the model cannot be written into {folder}: {error}") from error


def _record(card: _TokenCard) -> dict[str, object]:
    """Return what the card says, for programs."""
    return {
        "base": card.job.base,
        **({} if card.job.checker is None else {"checker": asdict(card.job.checker)}),
        "base_identity": card.base,
        "device": card.device,
        "data": asdict(card.job.data),
        "options": asdict(card.job.options),
        "progress": asdict(card.progress),
    }
