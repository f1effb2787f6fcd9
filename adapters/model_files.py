"""Files of models in the form of Hugging Face, and batches of what models read; without torch."""

import hashlib
from collections.abc import Container, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from spanjury.judges.core import ConfigError

OFFSET_POSITIONS = frozenset({"camembert", "data2vec-text", "mpnet", "roberta", "xlm-roberta"})
"""Types of model that count positions from behind the padding's number: the first are never used.
"""

_SAMPLES, _SAMPLE_BYTES = 16, 1 << 16


def packaged_weights(package: str, *, engine: str, install: str) -> Path:
    """Find the weights in their package, without running any of its code.

    Raises `ConfigError`, which says how to `install` them, if package or `engine` is not there.
    """
    spec = find_spec(package)
    if spec is None or find_spec(engine) is None:
        raise ConfigError(install)
    folders = map(Path, spec.submodule_search_locations or ())
    files = sorted(weights for folder in folders for weights in folder.glob("*.gguf"))
    if not files:
        raise ConfigError(f"the package {package} holds no weights; {install}")
    return files[0]


def model_digest(folder: Path, *, suffixes: Container[str]) -> str:
    """Return digits for the files with these suffixes; evenly spread samples of large ones."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.iterdir() if path.suffix in suffixes):
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


def batches(lengths: Sequence[int], *, size: int, tokens: int = 1 << 14) -> Iterator[list[int]]:
    """Yield the places of `lengths`, the longest first, like with like.

    A batch has at most `size` members, and, if it has more than one, at most `tokens` tokens
    when each is as long as its longest. The longest come first, so that what does not fit into
    memory is known at once.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) == size or (len(batch) + 1) * lengths[batch[0]] > tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
