"""Digits for the files of a model, which tell it from others."""

import hashlib
from collections.abc import Container
from pathlib import Path

__all__ = ["model_digest"]

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
