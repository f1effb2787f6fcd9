"""Checkpoints: a model's folder, found without asking the network, and loaded without a word."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
from transformers import AutoConfig, PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

from spanjury.adapters.model_files import OFFSET_POSITIONS, model_digest
from spanjury.adapters.torch_models import (
    ModelKind,
    find_device,
    hub_folder,
    load_tokenizer,
    load_weights,
)
from spanjury.judges.core import ConfigError

_DIGESTED = {".json", ".txt", ".model", ".safetensors", ".bin"}
_NOT_FOR_TORCH = ["*.h5", "*.msgpack", "*.onnx", "*.ot", "*.tflite", "*.gguf", "*/*"]
_DEFAULT_WINDOW = 512  # where neither the model nor its tokenizer knows a limit, as T5's


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model in a folder, and the device where it is to run.

    `name` is the user's; `identity`, for signatures, is the folder's last name, or hub id, and
    digits that change with its files; `config` is its shape.
    """

    name: str
    identity: str
    folder: Path
    config: PretrainedConfig
    device: torch.device

    @property
    def window(self) -> int:
        """Tokens that the model takes at once."""
        limits = [self._positions(), self._tokenizer_limit()]
        return min((limit for limit in limits if 0 < limit < 1 << 30), default=_DEFAULT_WINDOW)

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load its tokenizer; raise `ConfigError` if there is none."""
        return load_tokenizer(self.name, self.folder)

    def load(self, kind: ModelKind) -> PreTrainedModel:
        """Load it, in 32-bit floats, onto its device.

        Raises `ConfigError` if it is not a model of this kind, or lacks weights that such a model
        needs.
        """
        model, lacking = load_weights(self.name, self.folder, kind=kind, dtype=torch.float32)
        # Nothing here reads a pooler, and many encoders are published without one.
        missing = [key for key in lacking if "pooler" not in key]
        if missing:
            raise ConfigError(
                f"{self.name!r} is not a model for this metric: its files lack {missing[0]!r}"
                f" and {len(missing) - 1} more weights"
            )
        ready: PreTrainedModel = model.to(self.device)  # type: ignore[arg-type]  # transformers hides the signature
        return ready

    def _positions(self) -> int:
        positions = getattr(self.config, "max_position_embeddings", None) or 0
        if self.config.model_type in OFFSET_POSITIONS:
            return int(positions) - (self.config.pad_token_id or 0) - 1
        return int(positions)

    def _tokenizer_limit(self) -> int:
        file = self.folder / "tokenizer_config.json"
        settings = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        return int(settings.get("model_max_length") or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMetric:
    """A metric that needs a model, which is loaded when it is first needed.

    Raises `ConfigError` if there is no such model or device and `ValueError` if an option is out of
    its range.

    Parameters
    ----------
    model
        A folder, or the id of a model on the Hugging Face hub.
    batch_size
        Texts at once; changes no score, save by rounding.
    download
        Whether to fetch a model that is not here.
    device
        As torch writes it.
    """

    model: str = ""
    batch_size: int = 8
    download: bool = False
    device: str = "cpu"
    _checkpoint: Checkpoint = field(init=False, repr=False, compare=False)

    def _find_checkpoint(self, name: str) -> Checkpoint:
        """Find the model of the metric called `name`, and keep it."""
        checkpoint = find_checkpoint(name, self.model, download=self.download, device=self.device)
        object.__setattr__(self, "_checkpoint", checkpoint)  # the dataclass is frozen
        return checkpoint


def find_checkpoint(metric: str, model: str, *, download: bool, device: str) -> Checkpoint:
    """Find a model, a folder or a hub id; fetch one that is not in the cache only for `download`.

    `device` is as torch writes it: ``"cpu"``, ``"cuda:1"``, ``"mps"``. Messages name the `metric`.
    Raises `ConfigError` if there is no such model or device; says what to do.
    """
    if not model:
        raise ConfigError(f"{metric} needs a model: --metric {metric}:model=FOLDER_OR_HUB_ID")
    folder = _folder(metric, model, download=download)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{model!r} is not a model that transformers knows: {error}") from error
    called = Path(model).name if Path(model).is_dir() else model
    return Checkpoint(
        name=model,
        identity=f"{called}@{model_digest(folder, suffixes=_DIGESTED)}",
        folder=folder,
        config=config,
        device=find_device(device),
    )


def _folder(metric: str, model: str, *, download: bool) -> Path:
    if Path(model).is_dir():
        return Path(model)
    absent = (
        f"{metric}: {model!r} is neither a folder nor a model in the Hugging Face cache;"
        f" name a folder, or fetch it: --metric {metric}:model={model},download=true"
    )
    return hub_folder(model, download=download, absent=absent, unwanted=_NOT_FOR_TORCH)
