"""GGUF files are read as gguf reads them, and once for each load."""

from pathlib import Path

import numpy as np
import pytest

gguf = pytest.importorskip("gguf")

from spanjury.adapters.gguf_files import QuickReader, quick_gguf  # noqa: E402


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(2)
    writer.add_token_list(["<s>", "Zürich", ""])
    writer.add_token_types([3, 1, 1])
    writer.add_tensor("token_embd.weight", np.arange(6, dtype=np.float32).reshape(3, 2))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_a_file_is_read_as_gguf_reads_it(file: Path) -> None:
    ours, theirs = QuickReader(file), gguf.GGUFReader(file)
    assert {name: each.contents() for name, each in ours.fields.items()} == {
        name: each.contents() for name, each in theirs.fields.items()
    }
    assert ours.fields["tokenizer.ggml.tokens"].contents() == ["<s>", "Zürich", ""]
    assert [tensor.name for tensor in ours.tensors] == ["token_embd.weight"]
    assert ours.tensors[0].data.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_a_file_is_read_once_in_the_block_and_as_before_behind_it(file: Path) -> None:
    before = gguf.GGUFReader, gguf.get_tensor_name_map
    with quick_gguf():
        assert gguf.GGUFReader(file) is gguf.GGUFReader(file)
    assert (gguf.GGUFReader, gguf.get_tensor_name_map) == before
