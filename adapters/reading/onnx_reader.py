"""A window reader that onnxruntime runs on one core."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path

from spanjury.adapters.reading import onnx_model
from spanjury.adapters.reading.card import ReaderCard, read_card
from spanjury.judges.core import (
    ConfigError,
    JudgeError,
    Window,
    WindowReader,
    WindowReading,
    signature,
)
from spanjury.judges.core.lazy import Once


def open_reader(folder: Path) -> "OnnxReader":
    """Return the reader in `folder`; its model is loaded when it first reads.

    Raises `ConfigError` if `folder` holds none, or one that does not fit.
    """
    card = read_card(folder)
    return OnnxReader(folder=folder, card=card, _model=_shared(folder.resolve(), card.identity))


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxReader(WindowReader):
    """Reads windows one by one: what it says of one depends on no other.

    One model serves all readers of its folder, and all threads. Batches would be slower on one
    core, and, since the numbers inside the model are rounded by the largest in a batch, neighbours
    would change what it says.
    """

    folder: Path
    card: ReaderCard
    _model: "Once[onnx_model.OnnxModel]" = field(repr=False, compare=False)

    @property
    def signature(self) -> str:
        """The model's name and version, and digits for its files and how it is run."""
        return signature("onnx", model=f"{self.card.name}@{self.card.identity}")

    @property
    def constants(self) -> Mapping[str, float]:
        """Constants of the judge that were fitted to this model, by name."""
        return self.card.constants

    def read(self, windows: Sequence[Window]) -> list[WindowReading]:
        """Return one reading a window, in order; blocking.

        Raises
        ------
        JudgeError
            If a file is missing or is not the one that the card says, or the model cannot be
            loaded or run.
        """
        try:
            model = self._model.get()
            return [model.reading(window) for window in windows]
        except (ConfigError, JudgeError):
            raise
        except Exception as error:  # the border to onnxruntime and tokenizers
            raise JudgeError(f"the reader in {self.folder} failed: {error}") from error


@lru_cache(maxsize=4)
def _shared(folder: Path, identity: str) -> "Once[onnx_model.OnnxModel]":
    """Return the model of a folder; another one once other files have come into it."""
    del identity
    return Once(partial(_load, folder))


def _load(folder: Path) -> "onnx_model.OnnxModel":
    return onnx_model.load_model(folder, read_card(folder))
