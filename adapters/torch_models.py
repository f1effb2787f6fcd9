"""PyTorch models: their devices, their files, and loading them offline and silently."""

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import torch
from huggingface_hub import snapshot_download, try_to_load_from_cache
from huggingface_hub.errors import HfHubHTTPError, HFValidationError
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    modeling_gguf_pytorch_utils,
)
from transformers.utils import logging as hf_logging

from spanjury.judges.core import ConfigError

ModelKind: TypeAlias = type[
    AutoModel
    | AutoModelForCausalLM
    | AutoModelForSeq2SeqLM
    | AutoModelForSequenceClassification
    | AutoModelForTokenClassification
]
"""Class that loads a model: without a head, with a language-model head, or as a classifier."""

_LOADING = threading.Lock()  # the libraries' log settings are global to the process
_UNLOADABLE = (OSError, ValueError, ImportError, KeyError, RuntimeError)


def find_device(name: str) -> torch.device:
    """Return the torch device called `name`; ``"auto"`` is a GPU if there is one, else the CPU.

    Raises `ConfigError` if torch cannot allocate a tensor on it.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=torch.device(name)).device
    # A build without the device, a missing driver, or a device that cannot hold tensors.
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(f"torch cannot use the device {name!r} here: {error}") from error


def hub_folder(
    name: str,
    *,
    download: bool,
    absent: str,
    unwanted: list[str] | None = None,
) -> Path:
    """Return the folder of a model of the Hugging Face hub in its cache.

    `absent` is the error message for a model that is not in the cache. `unwanted` are patterns of
    file names not to fetch.

    Raises `ConfigError` if the model is not cached or cannot be fetched.
    """
    try:
        if download:
            with quietly():
                return Path(snapshot_download(name, ignore_patterns=unwanted))
        cached = try_to_load_from_cache(name, "config.json")
    except (OSError, HFValidationError, HfHubHTTPError) as error:
        raise ConfigError(f"the model {name!r} cannot be obtained: {error}") from error
    if not isinstance(cached, str):
        raise ConfigError(absent)
    return Path(cached).parent


def load_tokenizer(name: str, folder: Path, **file: str) -> PreTrainedTokenizerBase:
    """Load the tokenizer of the model `name`; raise `ConfigError` if there is none."""
    try:
        with quietly():
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, **file)
    except _UNLOADABLE as error:
        raise ConfigError(f"{name!r} has no usable tokenizer: {error}") from error
    # If its files are missing, a tokenizer may load all the same, with an empty vocabulary.
    if len(tokenizer) <= len(tokenizer.all_special_tokens):
        raise ConfigError(f"{name!r} has no usable tokenizer: it knows no word")
    return tokenizer


def load_weights(
    name: str, folder: Path, *, kind: ModelKind, **options: object
) -> tuple[PreTrainedModel, list[str]]:
    """Load the model `name`; return it and the names of the weights that its files lack.

    Raises `ConfigError` if it does not load.
    """
    loader: Any = kind
    try:
        # torch initialises missing weights at random; that must not advance the caller's generator.
        with quietly(), torch.random.fork_rng(devices=[]):
            model, info = loader.from_pretrained(
                folder, local_files_only=True, output_loading_info=True, **options
            )
    except _UNLOADABLE as error:
        raise ConfigError(f"{name!r} cannot be loaded: {error}") from error
    return model.eval(), sorted(info["missing_keys"])


@contextmanager
def quietly() -> Iterator[None]:
    """Silence transformers and peft: no progress bars, loading reports or warnings."""
    reader: Any = modeling_gguf_pytorch_utils
    with _LOADING, warnings.catch_warnings():
        # peft reads an attribute that transformers has renamed.
        warnings.filterwarnings("ignore", ".*is_gradient_checkpointing", FutureWarning)
        level, bars = hf_logging.get_verbosity(), hf_logging.is_progress_bar_enabled()
        hf_logging.set_verbosity(logging.CRITICAL)
        hf_logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated
        bar, reader.tqdm = reader.tqdm, partial(reader.tqdm, disable=True)  # no setting mutes it
        try:
            yield
        finally:
            reader.tqdm = bar
            hf_logging.set_verbosity(level)
            if bars:
                hf_logging.enable_progress_bar()  # type: ignore[no-untyped-call]  # not annotated
