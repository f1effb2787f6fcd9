"""Files of a tokenizer name the special tokens of its model."""

import json
import struct
from pathlib import Path

import pytest

from spanjury.adapters.models.token_files import read_template_tokens
from spanjury.judges.core import ConfigError


def string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def pair(key: str, kind: int, value: bytes) -> bytes:
    return string(key) + struct.pack("<I", kind) + value


def strings(*texts: str) -> bytes:
    return struct.pack("<IQ", 8, len(texts)) + b"".join(map(string, texts))


TOKENS = strings("<unk>", "a", "<|im_end|>", "<file_sep>", "<0x0A>")
TYPES = struct.pack("<IQ5i", 5, 5, 2, 1, 3, 4, 6)
GGUF = b"GGUF" + struct.pack("<IQQ", 3, 0, 5) + b"".join(
    [
        pair("general.architecture", 8, string("llama")),
        pair("llama.context_length", 4, struct.pack("<I", 8192)),
        pair("nested", 9, struct.pack("<IQ", 9, 1) + struct.pack("<IQ?", 7, 1, True)),
        pair("tokenizer.ggml.tokens", 9, TOKENS),
        pair("tokenizer.ggml.token_type", 9, TYPES),
    ]
)  # fmt: skip


def test_the_metadata_of_gguf_are_read_without_the_weights(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(GGUF)
    tokens = read_template_tokens(file)
    assert tokens.tokens == ("<unk>", "<|im_end|>", "<file_sep>")
    assert str(file) in tokens.source
    assert read_template_tokens(tmp_path).tokens == tokens.tokens


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGML" + GGUF[4:],
        GGUF[:-1],
        GGUF.replace(struct.pack("<IQQ", 3, 0, 5), struct.pack("<IQQ", 1, 0, 5)),
        GGUF.replace(struct.pack("<IQ?", 7, 1, True), struct.pack("<IQ?", 77, 1, True)),
    ],
)
def test_a_file_that_is_no_whole_gguf_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=r"model\.gguf cannot be read"):
        read_template_tokens(file)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", {"added_tokens": [{"id": 1, "content": "[|user|]", "special": True}]}),
        ("special_tokens_map.json", {"eos_token": {"content": "[|user|]"}, "n": 1}),
        ("special_tokens_map.json", {"additional_special_tokens": ["[|user|]"]}),
        ("tokenizer_config.json", {"added_tokens_decoder": {"1": {"content": "[|user|]"}}}),
        ("added_tokens.json", {"[|user|]": 361}),
    ],
)
def test_every_file_of_a_tokenizer_is_read(name: str, content: object, tmp_path: Path) -> None:
    (tmp_path / name).write_text(json.dumps(content))
    assert read_template_tokens(tmp_path / name).tokens == ("[|user|]",)
    assert read_template_tokens(tmp_path).tokens == ("[|user|]",)


def test_a_file_of_tokens_has_one_a_line(tmp_path: Path) -> None:
    file = tmp_path / "tokens.txt"
    file.write_text("<role>\n\n</role>\n", encoding="utf-8")
    assert read_template_tokens(file).tokens == ("<role>", "</role>")


@pytest.mark.parametrize("content", ["", "[]", '{"model": {}}', "{", "\ud800"])
def test_files_that_name_no_token_are_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_bytes(content.encode(errors="surrogatepass"))
    with pytest.raises(ConfigError, match=r"the tokenizer .*tokenizer\.json"):
        read_template_tokens(file)


def test_a_folder_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="names no special token: expected a .gguf file"):
        read_template_tokens(tmp_path)
