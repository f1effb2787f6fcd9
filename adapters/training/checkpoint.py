"""Checkpoints: everything that training needs to continue without a difference, in one file.

The file is replaced as a whole, so after a kill it is the last checkpoint or the one before.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from spanjury.adapters.training.job import Progress
from spanjury.judges.core import ConfigError, StoreError

CHECKPOINT = "checkpoint.safetensors"
RECORD = "training.json"
_RECORD = "spanjury"
_CPU = "random/cpu"
_GPU = "random/cuda"
_CHANGE_NO_WEIGHT = {"checkpoint_every", "threads"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFile:
    """The file of a training's checkpoint.

    `belongs_to` must be equal for training to continue: the base, the data, and the options.
    """

    path: Path
    belongs_to: Mapping[str, object]

    def save(
        self, progress: Progress, *, model: torch.nn.Module, optimizer: torch.optim.Optimizer
    ) -> None:
        """Replace the last checkpoint by a new one; raise `StoreError` if that fails."""
        names = _learning(model)
        state = optimizer.state_dict()["state"]
        tensors = {f"weight/{name}": weight.detach() for name, weight in names.items()}
        for index, name in enumerate(names):
            for part, value in state.get(index, {}).items():
                tensors[f"{part}/{name}"] = value
        tensors[_CPU] = torch.get_rng_state()
        if torch.cuda.is_available():
            tensors[_GPU] = torch.cuda.get_rng_state()
        course = {name: getattr(progress, name) for name in Progress.__slots__}
        record = {"belongs_to": dict(self.belongs_to), "progress": course}
        fresh = self.path.with_name(f"{self.path.name}.new")
        try:
            save_file(
                {key: value.contiguous().cpu() for key, value in tensors.items()},
                fresh,
                metadata={_RECORD: json.dumps(record)},
            )
            with fresh.open("rb") as written:
                os.fsync(written.fileno())
            fresh.replace(self.path)
        except (OSError, SafetensorError) as error:
            raise StoreError(f"the checkpoint {self.path} cannot be written: {error}") from error

    def load(self, *, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Progress | None:
        """Load the last checkpoint into model and optimizer; return its progress, or None.

        Raises `ConfigError` if it is from another training; the message names the difference.
        Raises `StoreError` if it cannot be read.
        """
        if not self.path.is_file():
            return None
        try:
            with safe_open(self.path, framework="pt") as file:
                record = json.loads((file.metadata() or {})[_RECORD])
                self._compare(record["belongs_to"])
                tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise StoreError(f"the checkpoint {self.path} cannot be read: {error}") from error
        _restore(tensors, model=model, optimizer=optimizer)
        rows = {
            name: [(int(step), float(loss)) for step, loss in record["progress"][name]]
            for name in ("losses", "validations")
        }
        return Progress(**{**record["progress"], **rows})

    def remove(self) -> None:
        """Delete the last checkpoint."""
        self.path.unlink(missing_ok=True)

    def _compare(self, manifest: Mapping[str, object]) -> None:
        wanted = json.loads(json.dumps(dict(self.belongs_to)))
        for key in [*wanted, *(key for key in manifest if key not in wanted)]:
            if manifest.get(key) != wanted.get(key):
                raise ConfigError(
                    f"{self.path.parent} holds an unfinished training with another {key}:"
                    f" {manifest.get(key)}, not {wanted.get(key)}; name another folder, or remove"
                    f" {self.path.name}"
                )


def open_checkpoint(
    folder: Path, *, last: str, belongs_to: Mapping[str, object], options: Mapping[str, object]
) -> CheckpointFile:
    """Return the checkpoint file of a training into `folder`, which is created.

    `options` that do not affect weights may differ when training continues. Raises `ConfigError`
    if the folder contains the file `last`, which shows that it has a complete model; `StoreError`
    if it cannot be created.
    """
    if (folder / last).exists():
        raise ConfigError(f"{folder} holds a model already: name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be made: {error.strerror}") from error
    kept = {name: value for name, value in options.items() if name not in _CHANGE_NO_WEIGHT}
    return CheckpointFile(path=folder / CHECKPOINT, belongs_to={**belongs_to, **kept})


def _learning(model: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """Return the trainable weights, in the optimizer's order."""
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def _restore(
    tensors: Mapping[str, torch.Tensor],
    *,
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
) -> None:
    state: dict[int, dict[str, torch.Tensor]] = {}
    with torch.no_grad():
        for index, (name, weight) in enumerate(_learning(model).items()):
            weight.copy_(tensors[f"weight/{name}"])
            state[index] = {
                part: tensors[key]
                for part in ("step", "exp_avg", "exp_avg_sq")
                if (key := f"{part}/{name}") in tensors
            }
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    torch.set_rng_state(tensors[_CPU])
    if torch.cuda.is_available() and _GPU in tensors:
        torch.cuda.set_rng_state(tensors[_GPU])
