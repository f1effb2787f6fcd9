"""Checkpoints: a model's folder, found without network access and loaded silently."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
from spanjury.judges.core import ConfigError, signature
from spanjury.judges.core.lazy import Once

_DIGESTED = {".json", ".txt", ".model", ".safetensors", ".bin"}
_NOT_FOR_TORCH = ["*.h5", "*.msgpack", "*.onnx", "*.ot", "*.tflite", "*.gguf", "*/*"]
_DEFAULT_WINDOW = 512  # assumed if neither the model nor its tokenizer has a limit, such as T5


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model in a folder, and the device on which it will run.

    `name` is what the user called it. `identity`, for signatures, is the folder's last name or the
    hub id, with a digest of the files. `config` has its architecture.
    """

    name: str
    identity: str
    folder: Path
    config: PretrainedConfig
    device: torch.device

    @property
    def window(self) -> int:
        """Maximum number of tokens per input."""
        positions = getattr(self.config, "max_position_embeddings", None) or 0
        if self.config.model_type in OFFSET_POSITIONS:
            positions -= (self.config.pad_token_id or 0) + 1
        file = self.folder / "tokenizer_config.json"
        settings = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        limits = (int(positions), int(settings.get("model_max_length") or 0))
        return min((limit for limit in limits if 0 < limit < 1 << 30), default=_DEFAULT_WINDOW)

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load the tokenizer; raise `ConfigError` if there is none."""
        return load_tokenizer(self.name, self.folder)

    def load(self, kind: ModelKind) -> PreTrainedModel:
        """Load the model in 32-bit floats onto its device.

        Raises `ConfigError` if it is not a model of this kind, or lacks weights that such a model
        needs.
        """
        model, lacking = load_weights(self.name, self.folder, kind=kind, dtype=torch.float32)
        # The metrics use no pooler, and many encoders are published without one.
        missing = [key for key in lacking if "pooler" not in key]
        if missing:
            raise ConfigError(
                f"{self.name!r} is not a model for this metric: its files lack {missing[0]!r}"
                f" and {len(missing) - 1} more weights"
            )
        ready: PreTrainedModel = model.to(self.device)  # type: ignore[arg-type]  # transformers hides the signature
        return ready


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointMetric:
    """A metric with a model, which is loaded when first needed.

    Raises `ConfigError` if there is no such model or device, and `ValueError` if an option is out
    of its range.

    Parameters
    ----------
    model
        A folder, or the id of a model on the Hugging Face hub.
    batch_size
        Texts per batch; apart from rounding, it does not affect scores.
    download
        Whether to download a model that is not on this machine.
    device
        A torch device.
    """

    model: str = ""
    batch_size: int = 8
    download: bool = False
    device: str = "cpu"
    _checkpoint: Checkpoint = field(init=False, repr=False, compare=False)
    _engine: Once[Any] = field(init=False, repr=False, compare=False)

    @property
    def cut_texts(self) -> int:
        """Number of texts that exceeded the model's maximum, since the metric was made."""
        engine = self._engine.peek()
        return engine.tokeniser.cut if engine else 0

    def _find(self, name: str, engine: Callable[[Checkpoint], object]) -> Checkpoint:
        """Find the model of the metric called `name`; `engine` will load it when it is needed."""
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be 1 or more, got {self.batch_size!r}")
        checkpoint = find_checkpoint(name, self.model, download=self.download, device=self.device)
        object.__setattr__(self, "_checkpoint", checkpoint)  # the dataclass is frozen
        object.__setattr__(self, "_engine", Once(partial(engine, checkpoint)))
        return checkpoint

    def _signature(self, name: str, *, library: str = "", **options: object) -> str:
        """Return the signature: the model, its `options`, and the versions of libraries."""
        return signature(
            name,
            model=self._checkpoint.identity,
            **options,
            max_tokens=self._checkpoint.window,
            device=self._checkpoint.device,
            **({library: version(library)} if library else {}),
            transformers=version("transformers"),
            torch=version("torch"),
        )


def find_checkpoint(metric: str, model: str, *, download: bool, device: str) -> Checkpoint:
    """Find a model by folder or hub id; with `download`, fetch it if it is not in the cache.

    `device` is a torch device: ``"cpu"``, ``"cuda:1"``, ``"mps"``. Messages name the `metric`.
    Raises `ConfigError`, with advice, if there is no such model or device.
    """
    if not model:
        raise ConfigError(f"{metric} needs a model: --metric {metric}:model=FOLDER_OR_HUB_ID")
    folder = Path(model)
    is_hub_id = not folder.is_dir()
    if is_hub_id:
        absent = (
            f"{metric}: {model!r} is neither a folder nor a model in the Hugging Face cache;"
            f" name a folder, or fetch it: --metric {metric}:model={model},download=true"
        )
        folder = hub_folder(model, download=download, absent=absent, unwanted=_NOT_FOR_TORCH)
    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{model!r} is not a model that transformers knows: {error}") from error
    called = model if is_hub_id else folder.name
    return Checkpoint(
        name=model,
        identity=f"{called}@{model_digest(folder, suffixes=_DIGESTED)}",
        folder=folder,
        config=config,
        device=find_device(device),
    )
