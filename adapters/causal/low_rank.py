"""Low-rank adapters [1]: small trainable matrices beside the frozen weights of a model.

References
----------
.. [1] Hu et al. (2022), LoRA: low-rank adaptation of large language models, ICLR
"""

import json
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import PreTrainedModel

from spanjury.adapters.causal.base import Base, find_base, free_of_quantization
from spanjury.adapters.torch_models import quietly
from spanjury.judges.core import ConfigError

ADAPTER = "adapter"
"""The subfolder of a trained model that holds its adapter alone."""

_CONFIG = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"
_BASE = "base.json"
_NEITHER = "{} holds neither a model (config.json) nor an adapter (adapter_config.json)"


def attach(model: PreTrainedModel, *, rank: int, alpha: int, dropout: float) -> PeftModel:
    """Add an adapter to every linear projection, initialised from torch's global generator.

    The adapter's output is scaled by ``alpha / rank``; `dropout` is the share of its inputs that
    is dropped in training. `model` is changed in place: all its own weights are frozen.
    """
    settings = LoraConfig(
        r=rank,
        lora_alpha=alpha,
        lora_dropout=dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    with quietly():
        adapted: Any = get_peft_model(model, settings)
    assert isinstance(adapted, PeftModel)
    return adapted


def merged(adapted: PeftModel) -> PreTrainedModel:
    """Merge the adapter into the weights of its model, and return the plain model."""
    untyped: Any = adapted
    model: PreTrainedModel = untyped.merge_and_unload()
    free_of_quantization(model)
    return model


def save_adapter(adapted: PeftModel, folder: Path, *, base: Base) -> None:
    """Write an adapter, and the name and identity of its base, into a folder."""
    settings: Any = adapted.peft_config["default"]
    settings.base_model_name_or_path = base.name
    # An adapter leaves the embeddings alone; to check that, peft would query the hub.
    adapted.save_pretrained(str(folder), save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)  # peft's model card is an empty form
    record = {"name": base.name, "identity": base.identity}
    (folder / _BASE).write_text(json.dumps(record), encoding="utf-8")


def load_model(name: str, *, device: torch.device, attention: str) -> tuple[Base, PreTrainedModel]:
    """Load a model, or the adapter in the folder `name` merged into its base.

    Returns the base, under the model's name, and the model. Raises `ConfigError` if there is no
    such model, or if the adapter was trained on another version of its base.
    """
    folder = Path(name)
    if not (folder / _CONFIG).is_file():
        if folder.is_dir() and not (folder / "config.json").is_file():
            raise ConfigError(_NEITHER.format(folder))
        plain = find_base(name)
        return plain, plain.load(device=device, attention=attention)
    base = _base_of(folder)
    model = base.load(device=device, attention=attention)
    try:
        with quietly():
            adapted = PeftModel.from_pretrained(model, str(folder), local_files_only=True)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ConfigError(
            f"the adapter in {folder} does not fit its base {base.name!r}: {error}"
        ) from error
    combined = Base(
        name=name,
        identity=f"{folder.resolve().name}+{base.identity}",
        folder=base.folder,
        gguf=base.gguf,
    )
    return combined, merged(adapted)


def _base_of(folder: Path) -> Base:
    """Find the base of an adapter; raise `ConfigError` if its identity differs from the record."""
    if not (folder / _WEIGHTS).is_file():
        raise ConfigError(
            f"the adapter in {folder} has no {_WEIGHTS}; save its weights as safetensors"
        )
    config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    base = find_base(str(config.get("base_model_name_or_path") or ""))
    record = folder / _BASE
    if record.is_file():
        trained_on = json.loads(record.read_text(encoding="utf-8"))["identity"]
        if trained_on != base.identity:
            raise ConfigError(
                f"the adapter in {folder} was trained on {trained_on}, but {base.name!r} is"
                f" {base.identity}: restore that version of the base, or train again"
            )
    return base
