"""The folder of a window reader: its files, and `reader.json`, which says how to run them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spanjury.judges.core import ROOM, ConfigError, Likelihoods, fingerprint
from spanjury.judges.core.lazy import Once, lazily

with lazily():
    import pydantic

CARD, MODEL, TOKENIZER = "reader.json", "model.onnx", "tokenizer.json"

MATRICES = "matrices.npz"
"""The weights that a decoder has learnt: its model is made of these and of a base."""

CLASSES = Likelihoods._fields
"""Classes that a model tells apart, in the order in which spanjury names it."""

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
"""Tensors that a model takes, whole numbers of the shape ``(windows, pieces)``."""

FIRST_PIECES = "first_pieces"
"""Tensor that a slim model takes, too: for how many pieces it gives logits, ``(1,)``."""

OUTPUTS = ("token_logits", "sentence_logits")
"""Tensors that it gives: ``(windows, pieces, classes)`` and ``(windows, classes)``."""

FORMAT = 1
_LEAST = 16  # pieces, below which there is no room for a sentence and its source


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCard:
    """All that `reader.json` has to say; what else stands there is for people.

    Raises `ValueError` if the classes are others, a digest is missing, or the length or the format
    does not fit.

    Parameters
    ----------
    name, version
        Name and version of the model, for people and signatures.
    files
        Name of each file -> its SHA-256, in hexadecimal digits.
    max_length
        The most pieces of a window.
    room
        The most words and marks of a window, on both sides.
    base
        SHA-256 of the file that a decoder's matrices are added to; empty for an encoder.
    classes
        The model's order of `CLASSES`.
    constants
        Constants of the judge that were fitted to the model, by name.
    format
        Format of the folder.
    """

    name: str
    version: str
    files: Mapping[str, str]
    max_length: int = 192
    room: int = ROOM
    base: str = ""
    classes: tuple[str, ...] = CLASSES
    constants: Mapping[str, float] = field(default_factory=dict)
    format: int = FORMAT

    def __post_init__(self) -> None:
        if self.format != FORMAT:
            raise ValueError(f"format {self.format!r} is not {FORMAT}, which this version reads")
        if sorted(self.classes) != sorted(CLASSES):
            raise ValueError(f"classes {self.classes!r} are not {CLASSES!r} in some order")
        needed = {MATRICES} if self.base else {MODEL, TOKENIZER}
        if missing := needed - self.files.keys():
            raise ValueError(f"files lacks the digest of {', '.join(sorted(missing))}")
        if self.max_length < _LEAST:
            raise ValueError(f"max_length must be {_LEAST} or more, got {self.max_length!r}")

    @property
    def identity(self) -> str:
        """Digits that change with whatever can change a likelihood."""
        files = self.files
        made_of = (self.base, files[MATRICES]) if self.base else (files[MODEL], files[TOKENIZER])
        return fingerprint(*made_of, repr((self.max_length, self.classes)))


_CARD = Once(lambda: pydantic.TypeAdapter(ReaderCard))


def is_reader(folder: Path) -> bool:
    """Say whether `folder` holds a window reader."""
    return (folder / CARD).is_file()


def read_card(folder: Path) -> ReaderCard:
    """Read the card in `folder`; raise `ConfigError` if there is none that fits."""
    file = folder / CARD
    try:
        content = file.read_bytes()
        return _plain_card(content) or _CARD.get().validate_json(content)
    except OSError as error:
        raise ConfigError(f"{folder} holds no reader: {error}") from error
    except pydantic.ValidationError as error:
        problem = error.errors(include_url=False)[0]
        entry = ".".join(str(part) for part in problem["loc"])
        raise ConfigError(f"{file} does not fit: {entry}: {problem['msg']}") from error


def _plain_card(content: bytes) -> ReaderCard | None:
    """Return the card if all in it is as it must be, which needs no validator to see."""
    try:
        values: Any = json.loads(content)
        card = ReaderCard(**{**values, "classes": tuple(values["classes"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    texts = (card.name, card.version, card.base, *card.classes, *card.files, *card.files.values())
    numbers = {type(card.max_length), type(card.room), type(card.format)}
    is_plain = all(type(text) is str for text in texts) and numbers == {int}
    constants = all(type(value) is float for value in card.constants.values())
    return card if is_plain and constants else None


def write_card(folder: Path, card: ReaderCard) -> None:
    """Write `card` into `folder`."""
    (folder / CARD).write_bytes(_CARD.get().dump_json(card, indent=2) + b"\n")


def set_constants(folder: Path, constants: Mapping[str, float]) -> None:
    """Write `constants` into the card in `folder`; raise `ConfigError` if there is none."""
    write_card(folder, replace(read_card(folder), constants=dict(constants)))


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits; raise `OSError` if it cannot be read."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
