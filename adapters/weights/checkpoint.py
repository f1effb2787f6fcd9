"""Checkpoints: a model's folder, found without asking the network, and loaded without a word."""

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch
from huggingface_hub import snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as hf_logging

from spanjury.adapters.torch_models import find_device, model_digest
from spanjury.judges.core import ConfigError

__all__ = ["Checkpoint", "ModelKind", "find_checkpoint"]

_LOADING = threading.Lock()  # what keeps the libraries quiet is theirs, and so the process's
_TOLD_APART_BY = {".json", ".txt", ".model", ".safetensors", ".bin"}
_NOT_FOR_TORCH = ["*.h5", "*.msgpack", "*.onnx", "*.ot", "*.tflite", "*.gguf", "*/*"]
# These count positions from behind the padding's number, so that the first ones are never used.
_OFFSET_POSITIONS = {"camembert", "data2vec-text", "mpnet", "roberta", "xlm-roberta"}
_DEFAULT_WINDOW = 512  # where neither the model nor its tokenizer knows a limit, as T5's


ModelKind: TypeAlias = type[AutoModel | AutoModelForCausalLM | AutoModelForSeq2SeqLM]
"""With which head a model is loaded: none, or one that writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model in a folder.

    Parameters
    ----------
    name
        What the user called it.
    identity
        For signatures: the folder's last name, or hub id, and digits that change with its files.
    folder
        Where its files are.
    config
        Its shape.
    device
        Where it is to run.
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
        try:
            with _quietly():
                tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        except (OSError, ValueError, ImportError) as error:
            raise ConfigError(f"{self.name!r} has no tokenizer that loads: {error}") from error
        # Where its files are missing, some load all the same, and know no word.
        if len(tokenizer) <= len(tokenizer.all_special_tokens):
            raise ConfigError(f"{self.name!r} has no tokenizer that loads: it knows no word")
        return tokenizer

    def load(self, kind: ModelKind) -> PreTrainedModel:
        """Load it, in 32-bit floats, onto its device.

        Raises
        ------
        ConfigError
            If it is not a model of this kind, or lacks weights that such a model needs.
        """
        try:
            # Weights that a file lacks are drawn at random, which is no reason to move a seed.
            with _quietly(), torch.random.fork_rng(devices=[]):
                loaded: Any = kind.from_pretrained(
                    self.folder,
                    local_files_only=True,
                    dtype=torch.float32,
                    output_loading_info=True,
                )
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise ConfigError(f"{self.name!r} cannot be loaded: {error}") from error
        model, info = loaded
        # Nothing here reads a pooler, and many encoders are published without one.
        missing = sorted(key for key in info["missing_keys"] if "pooler" not in key)
        if missing:
            raise ConfigError(
                f"{self.name!r} is not a model for this metric: its files lack {missing[0]!r}"
                f" and {len(missing) - 1} more weights"
            )
        ready: PreTrainedModel = model.eval().to(self.device)
        return ready

    def _positions(self) -> int:
        positions = getattr(self.config, "max_position_embeddings", None) or 0
        if self.config.model_type in _OFFSET_POSITIONS:
            return int(positions) - (self.config.pad_token_id or 0) - 1
        return int(positions)

    def _tokenizer_limit(self) -> int:
        file = self.folder / "tokenizer_config.json"
        settings = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        return int(settings.get("model_max_length") or 0)


def find_checkpoint(metric: str, model: str, *, download: bool, device: str) -> Checkpoint:
    """Find a model.

    Parameters
    ----------
    metric
        Who needs it; for messages.
    model
        A folder, or the id of a model on the Hugging Face hub whose files are in the cache.
    download
        Whether to fetch a hub's model that is not in the cache.
    device
        As torch writes it: ``"cpu"``, ``"cuda:1"``, ``"mps"``.

    Raises
    ------
    ConfigError
        If there is no such model or device; says what to do.
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
        identity=f"{called}@{model_digest(folder, suffixes=_TOLD_APART_BY)}",
        folder=folder,
        config=config,
        device=find_device(device),
    )


def _folder(metric: str, model: str, *, download: bool) -> Path:
    if Path(model).is_dir():
        return Path(model)
    try:
        if download:
            with _quietly():
                return Path(snapshot_download(model, ignore_patterns=_NOT_FOR_TORCH))
        cached = try_to_load_from_cache(model, "config.json")
    except (OSError, HFValidationError, HfHubHTTPError) as error:
        raise ConfigError(f"{metric}: the model {model!r} cannot be had: {error}") from error
    if not isinstance(cached, str):
        raise ConfigError(
            f"{metric}: {model!r} is neither a folder nor a model in the Hugging Face cache;"
            f" name a folder, or fetch it: --metric {metric}:model={model},download=true"
        )
    return Path(cached).parent


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep transformers from drawing bars and telling what it loads."""
    with _LOADING:
        level, bars = hf_logging.get_verbosity(), hf_logging.is_progress_bar_enabled()
        hf_logging.set_verbosity(logging.CRITICAL)
        hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated
        try:
            yield
        finally:
            hf_logging.set_verbosity(level)
            if bars:
                hf_logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated
