"""Devices of torch, by name."""

import hashlib
from collections.abc import Container
from pathlib import Path

import torch

from spanjury.judges.core import ConfigError

__all__ = ["find_device", "model_digest"]


def find_device(name: str) -> torch.device:
    """Return the device that torch knows by this name; ``"auto"`` is a GPU if there is one.

    Raises
    ------
    ConfigError
        If no number can be put there.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=torch.device(name)).device
    # A build without the device, a driver that is not there, a device that cannot hold numbers.
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise ConfigError(f"torch cannot use the device {name!r} here: {error}") from error


_SAMPLES, _SAMPLE_BYTES = 16, 1 << 16


def model_digest(folder: Path, *, suffixes: Container[str]) -> str:
    """Return digits for the files of a model; of large ones samples are read, spread evenly.

    Parameters
    ----------
    folder
        Where they are.
    suffixes
        Of the files that count.
    """
    digest = hashlib.sha256()
    for file in sorted(one for one in folder.iterdir() if one.suffix in suffixes):
        size = file.stat().st_size
        digest.update(f"{file.name}:{size}:".encode())
        with file.open("rb") as stream:
            if size <= _SAMPLES * _SAMPLE_BYTES:
                digest.update(stream.read())
                continue
            for sample in range(_SAMPLES):
                stream.seek((size - _SAMPLE_BYTES) * sample // (_SAMPLES - 1))
                digest.update(stream.read(_SAMPLE_BYTES))
    return digest.hexdigest()[:12]
