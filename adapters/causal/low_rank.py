"""Low-rank adapters [1]: little matrices beside a model's own, which learn in its place.

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
"""The folder, in that of a trained model, where its adapter is by itself."""

_CONFIG = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"
_BASE = "base.json"
_NEITHER = "{} holds neither a model (config.json) nor an adapter (adapter_config.json)"


def attach(model: PreTrainedModel, *, rank: int, alpha: int, dropout: float) -> PeftModel:
    """Put an adapter beside every linear projection, drawn by torch's own generator.

    It counts ``alpha / rank`` times, and `dropout` is the share of its inputs that is dropped in
    training. `model` is changed: of its own weights none learns any more.
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
    """Add the adapter to the weights that it stands beside; the model is plain again."""
    loose: Any = adapted
    model: PreTrainedModel = loose.merge_and_unload()
    free_of_quantization(model)
    return model


def save_adapter(adapted: PeftModel, folder: Path, *, base: Base) -> None:
    """Write an adapter, and what it belongs to, into a folder."""
    settings: Any = adapted.peft_config["default"]
    settings.base_model_name_or_path = base.name
    # Their vocabulary is the base's own; to look whether it is, peft would ask the hub.
    adapted.save_pretrained(str(folder), save_embedding_layers=False)
    (folder / "README.md").unlink(missing_ok=True)  # peft's card has nothing but blanks
    record = {"name": base.name, "identity": base.identity}
    (folder / _BASE).write_text(json.dumps(record), encoding="utf-8")


def load_model(name: str, *, device: torch.device, attention: str) -> tuple[Base, PreTrainedModel]:
    """Load a model, or the adapter in the folder `name` into its base, as one plain model.

    Returns where its tokenizer and its name are, and the model. Raises `ConfigError` if there is
    none, or the adapter belongs to another base than is found.
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
    both = Base(
        name=name,
        identity=f"{folder.resolve().name}+{base.identity}",
        folder=base.folder,
        gguf=base.gguf,
    )
    return both, merged(adapted)


def _base_of(folder: Path) -> Base:
    """Find the base of an adapter; refuse any other."""
    if not (folder / _WEIGHTS).is_file():
        raise ConfigError(
            f"the adapter in {folder} has no {_WEIGHTS}; weights of another kind are not read"
        )
    config = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    base = find_base(str(config.get("base_model_name_or_path") or ""))
    record = folder / _BASE
    if record.is_file():
        was = json.loads(record.read_text(encoding="utf-8"))["identity"]
        if was != base.identity:
            raise ConfigError(
                f"the adapter in {folder} belongs to {was}, and {base.name!r} is {base.identity}"
            )
    return base
