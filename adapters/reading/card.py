"""The folder of a window reader: its files, and `reader.json`, which says how to run them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spanjury.judges.core import ROOM, ConfigError, Likelihoods, fingerprint, first_problem
from spanjury.judges.core.lazy import Once, lazily

with lazily():
    import pydantic

CARD, MODEL, TOKENIZER = "reader.json", "model.onnx", "tokenizer.json"

CLASSES = Likelihoods._fields
"""Classes of a model, in our order."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""Tensors that a model takes: integers of the shape ``(windows, pieces)``."""

FIRST_PIECES = "first_pieces"
"""Additional input of a slim model: for how many pieces it computes logits, ``(1,)``."""

OUTPUTS = ("token_logits", "sentence_logits")
"""Tensors that a model returns: ``(windows, pieces, classes)`` and ``(windows, classes)``."""

FORMAT = 1
_LEAST = 16  # pieces; a smaller window has no room for a sentence and its source


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCard:
    """The contents of `reader.json`; other keys in the file are ignored.

    Raises `ValueError` if the classes are others, a digest is missing, or the length or the format
    is not supported.

    Parameters
    ----------
    name, version
        Name and version of the model, for users and signatures.
    files
        Name of each file -> its SHA-256 in hexadecimal.
    max_length
        Maximum number of pieces per window.
    room
        Maximum number of words and punctuation marks per window, sentence and source together.
    classes
        `CLASSES` in the model's order.
    constants
        The judge's constants fitted to the model, by name.
    format
        Format of the folder.
    """

    name: str
    version: str
    files: Mapping[str, str]
    max_length: int = 192
    room: int = ROOM
    classes: tuple[str, ...] = CLASSES
    constants: Mapping[str, float] = field(default_factory=dict)
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format!r} is not {FORMAT}, which this version reads")
        if sorted(self.classes) != sorted(CLASSES):
            raise ValueError(f"classes {self.classes!r} are not {CLASSES!r} in some order")
        if missing := {MODEL, TOKENIZER} - self.files.keys():
            raise ValueError(f"files lacks the digest of {', '.join(sorted(missing))}")
        if self.max_length < _LEAST:
            raise ValueError(f"max_length must be {_LEAST} or more, got {self.max_length!r}")

    @property
    def identity(self) -> str:
        """Digest of everything that can change a likelihood."""
        settings = repr((self.max_length, self.classes))
        return fingerprint(self.files[MODEL], self.files[TOKENIZER], settings)


_CARD = Once(lambda: pydantic.TypeAdapter(ReaderCard))


def is_reader(folder: Path) -> bool:
    """Return whether `folder` contains a window reader."""
    return (folder / CARD).is_file()


def read_reader_card(folder: Path) -> ReaderCard:
    """Read the card in `folder`; raise `ConfigError` if there is none, or it is invalid."""
    file = folder / CARD
    try:
        content = file.read_bytes()
        return _plain_card(content) or _CARD.get().validate_json(content)
    except OSError as error:
        raise ConfigError(f"{folder} holds no reader: {error}") from error
    except pydantic.ValidationError as error:
        raise ConfigError(f"{file} does not fit: {first_problem(error)}") from error


def _plain_card(content: bytes) -> ReaderCard | None:
    """Return the card if all types are plainly right, which spares pydantic's import; else None."""
    try:
        values: Any = json.loads(content)
        card = ReaderCard(**{**values, "classes": tuple(values["classes"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    texts = (card.name, card.version, *card.classes, *card.files, *card.files.values())
    numbers = {type(card.max_length), type(card.room), type(card.format)}
    is_plain = all(type(text) is str for text in texts) and numbers == {int}
    constants = all(type(value) is float for value in card.constants.values())
    return card if is_plain and constants else None


def write_reader_card(folder: Path, card: ReaderCard) -> None:
    """Write `card` into `folder`."""
    (folder / CARD).write_bytes(_CARD.get().dump_json(card, indent=2) + b"\n")


def set_constants(folder: Path, constants: Mapping[str, float]) -> None:
    """Write `constants` into the card in `folder`; raise `ConfigError` if there is none."""
    write_reader_card(folder, replace(read_reader_card(folder), constants=dict(constants)))


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal; raise `OSError` if it cannot be read."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
