"""Files of models in Hugging Face's format, and batching by length; needs no torch."""

import hashlib
import shutil
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

from spanjury.judges.core import ConfigError, StoreError

OFFSET_POSITIONS = frozenset({"camembert", "data2vec-text", "mpnet", "roberta", "xlm-roberta"})
"""Model types that number positions from the padding id plus one, so the first ones stay unused."""

_SAMPLES, _SAMPLE_BYTES = 16, 1 << 16


def packaged_weights(package: str, *, engine: str, install: str, pattern: str = "*.gguf") -> Path:
    """Find the weights in their package, without running any of its code.

    Raises `ConfigError` with the message `install` if the package or `engine` is missing.
    """
    spec = find_spec(package)
    if spec is None or find_spec(engine) is None:
        raise ConfigError(install)
    folders = map(Path, spec.submodule_search_locations or ())
    files = sorted(weights for folder in folders for weights in folder.glob(pattern))
    if not files:
        raise ConfigError(f"the package {package} holds no weights; {install}")
    return files[0]


def model_digest(folder: Path, *, suffixes: Container[str]) -> str:
    """Return a digest of the files with these suffixes, as `files_digest` does."""
    return files_digest(sorted(path for path in folder.iterdir() if path.suffix in suffixes))


def files_digest(files: Iterable[Path]) -> str:
    """Return a digest of names, sizes and contents; large files are sampled at even steps."""
    digest = hashlib.sha256()
    for file in files:
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


@contextmanager
def finished_files(folder: Path, *, last: str) -> Iterator[Path]:
    """Yield a temporary folder for a model; then move its files into `folder`, `last` at the end.

    So a kill never leaves an incomplete model. `folder` is created. Raises `StoreError` if a file
    cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        aside = Path(mkdtemp(prefix=".unfinished-", dir=folder))
        try:
            yield aside
            for file in sorted(aside.iterdir(), key=lambda file: file.name == last):
                if file.is_dir():
                    shutil.rmtree(folder / file.name, ignore_errors=True)
                file.replace(folder / file.name)
        finally:
            shutil.rmtree(aside)
    except OSError as error:
        raise StoreError(f"the model cannot be written into {folder}: {error}") from error


def batches(lengths: Sequence[int], *, size: int, tokens: int = 1 << 14) -> Iterator[list[int]]:
    """Yield batches of indices into `lengths`, sorted by length, the longest first.

    A batch has at most `size` members. If it has more than one, it also has at most `tokens`
    tokens after padding to its longest member. The longest come first so that a batch that
    exceeds the memory fails at the start.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        if batch and (len(batch) == size or (len(batch) + 1) * lengths[batch[0]] > tokens):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch
