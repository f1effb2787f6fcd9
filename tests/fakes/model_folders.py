"""Folders of models as they lie on a machine, without weights that could be run."""

import json
from collections.abc import Mapping
from pathlib import Path

__all__ = ["in_cache", "save_card"]

_CONFIG = {
    "architectures": ["RobertaForSequenceClassification"],
    "model_type": "roberta",
    "max_position_embeddings": 514,
    "pad_token_id": 1,
}


def save_card(
    folder: Path, *, labels: Mapping[int, str] | None = None, weights: str = "model.safetensors"
) -> Path:
    """Write the files of a classifier of pairs; `weights` may name a pickle, or be empty."""
    folder.mkdir(parents=True)
    named = {} if labels is None else {"id2label": labels}
    (folder / "config.json").write_text(json.dumps({**_CONFIG, **named}))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "tokenizer_config.json").write_text('{"eos_token": "</s>"}')
    header = json.dumps({"classifier.weight": {}}).encode()
    if weights:
        (folder / weights).write_bytes(len(header).to_bytes(8, "little") + header)
    return folder


def in_cache(root: Path, repository: str, commit: str, *, ref: str = "main") -> Path:
    """Return the folder of a commit in the layout of the hub's cache; `ref` names it, if any."""
    home = root / f"models--{repository.replace('/', '--')}"
    if ref:
        (home / "refs").mkdir(parents=True, exist_ok=True)
        (home / "refs" / ref).write_text(commit)
    return home / "snapshots" / commit
