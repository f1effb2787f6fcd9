"""A window reader run by onnxruntime on one core."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from spanjury.adapters.reading import onnx_model
from spanjury.adapters.reading.card import ReaderCard, read_reader_card
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
    """Return the reader in `folder`; its model is loaded at the first reading.

    Raises `ConfigError` if `folder` contains no valid reader.
    """
    card = read_reader_card(folder)
    return OnnxReader(folder=folder, card=card, _model=_shared(folder.resolve(), card.identity))


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxReader(WindowReader):
    """Reads windows with an encoder; the reading of a window does not depend on other windows.

    One model serves all readers of its folder, in all threads.
    """

    folder: Path
    card: ReaderCard
    _model: "Once[onnx_model.OnnxModel]" = field(repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[[Path], "OnnxReader"], tuple[Path]]:
        """Pickle only the folder, so that another process loads the model itself."""
        return open_reader, (self.folder,)

    @property
    def signature(self) -> str:
        """The model's name and version, with a digest of its files and settings."""
        return signature("onnx", model=f"{self.card.name}@{self.card.identity}")

    @property
    def room(self) -> int:
        """Maximum number of words and punctuation marks per window, in both its texts."""
        return self.card.room

    @property
    def constants(self) -> Mapping[str, float]:
        """The judge's constants fitted to this model, by name."""
        return self.card.constants

    def read(self, windows: Sequence[Window]) -> list[WindowReading]:
        """Return one reading per window, in order; blocks.

        Raises `JudgeError` if a file is missing or does not match its digest, or the model cannot
        be loaded or run.
        """
        try:
            return self._model.get().readings(windows)
        except (ConfigError, JudgeError):
            raise
        except Exception as error:  # the border to onnxruntime and tokenizers
            raise JudgeError(f"the reader in {self.folder} failed: {error}") from error


@lru_cache(maxsize=4)
def _shared(folder: Path, identity: str) -> "Once[onnx_model.OnnxModel]":
    """Return the model of a folder; `identity` makes a new one once its files have changed."""
    del identity
    return Once(lambda: onnx_model.load_model(folder, read_reader_card(folder)))
