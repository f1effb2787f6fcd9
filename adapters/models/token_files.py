"""Special tokens of a model, from the files of its tokenizer.

It reads GGUF, the files of Hugging Face's tokenizers, a folder with these, and any other file as
text with one token per line. From a GGUF file it reads no weights.
"""

import json
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from spanjury.judges.core import ConfigError, TemplateTokens

_GGUF = ".gguf"
_JSON_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
)
# Keys of such files whose value is a list of tokens, or an object of tokens by id.
_LISTS = frozenset(
    {
        *("added_tokens", "added_tokens_decoder"),
        *("additional_special_tokens", "extra_special_tokens"),
    }
)
_MAGIC = b"GGUF"
_TOKENS, _TYPES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
_SPECIAL = frozenset({2, 3, 4})  # unknown, control and user-defined; others are ordinary or bytes
# Type numbers of values in GGUF's metadata -> formats of `struct`.
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
            12: "d"}  # fmt: skip
_STRING, _ARRAY = 8, 9


def read_template_tokens(path: Path) -> TemplateTokens:
    """Return the special tokens in a file, or in the files of a folder.

    Raises `ConfigError` if a file cannot be read, or there are none.
    """
    files = [path]
    if path.is_dir():
        named = (path / name for name in _JSON_FILES)
        files = [file for file in (*named, *sorted(path.glob(f"*{_GGUF}"))) if file.is_file()]
    try:
        tokens = {token: None for file in files for token in _tokens(file) if token}
    except (OSError, ValueError, struct.error, EOFError) as error:
        raise ConfigError(f"the tokenizer {path} cannot be read: {error}") from error
    if not tokens:
        raise ConfigError(
            f"the tokenizer {path} names no special token: expected a .gguf file, one of"
            f" {', '.join(_JSON_FILES)}, a folder with these, or a file of tokens, one per line"
        )
    return TemplateTokens(tokens=tuple(tokens), source=f"the file {path}")


def _tokens(file: Path) -> Iterable[str]:
    if file.suffix == _GGUF:
        with file.open("rb") as opened:
            return list(_gguf_tokens(opened))
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".json":
        return text.splitlines()
    return named_tokens(json.loads(text))


def named_tokens(value: object) -> Iterator[str]:
    """Yield the special tokens in a tokenizer's JSON file, or in a server's description of it."""
    if not isinstance(value, dict):
        return
    if all(type(part) is int for part in value.values()):  # added_tokens.json maps token to id
        yield from value
    for key, part in value.items():
        if key.endswith("_token"):
            yield from _spelt(part)
        elif key in _LISTS and isinstance(part, dict | list):
            for token in part.values() if isinstance(part, dict) else part:
                yield from _spelt(token)


def _spelt(token: object) -> Iterator[str]:
    content = token.get("content") if isinstance(token, dict) else token
    if isinstance(content, str):
        yield content


def _gguf_tokens(file: BinaryIO) -> Iterator[str]:
    """Yield the special tokens listed in the metadata.

    Raises `ValueError` or `struct.error` if the file is not GGUF, or is truncated.
    """
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin as a GGUF file")
    version, _, count = _numbers(file, "IQQ")
    if version < 2:  # noqa: PLR2004 - version 1 had narrower lengths
        raise ValueError(f"GGUF version {version} is not known")
    fields: dict[str, list[object]] = {}
    for _ in range(count):
        key = _string(file).decode()
        value = _value(file, *_numbers(file, "I"))
        if key in {_TOKENS, _TYPES} and isinstance(value, list):
            fields[key] = value
            if len(fields) == len((_TOKENS, _TYPES)):
                break
    for token, kind in zip(fields.get(_TOKENS, ()), fields.get(_TYPES, ()), strict=True):
        if kind in _SPECIAL and isinstance(token, bytes):
            yield token.decode(errors="replace")


def _value(file: BinaryIO, kind: int) -> object:
    """Read a metadata value: a number, bytes, or a list of values."""
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _numbers(file, _format(kind))[0]
    kind, length = _numbers(file, "IQ")
    if kind == _STRING:
        return [_string(file) for _ in range(length)]
    if kind == _ARRAY:
        return [_value(file, kind) for _ in range(length)]
    return list(_numbers(file, f"{length}{_format(kind)}"))


def _format(kind: int) -> str:
    if kind not in _NUMBERS:
        raise ValueError(f"GGUF has no value of type {kind}")
    return _NUMBERS[kind]


def _string(file: BinaryIO) -> bytes:
    (length,) = _numbers(file, "Q")
    return _exactly(file, length)


def _numbers(file: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(f"<{form}", _exactly(file, struct.calcsize(f"<{form}")))


def _exactly(file: BinaryIO, length: int) -> bytes:
    read = file.read(length)
    if len(read) != length:
        raise ValueError("it ends in the middle of its metadata")
    return read
