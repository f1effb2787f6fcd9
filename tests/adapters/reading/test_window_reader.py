"""Window readers: what is exported runs in onnxruntime, and says the same."""

import json
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from fakes.processes import completed
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing
from transformers import BertConfig, BertModel, PreTrainedTokenizer, PreTrainedTokenizerFast

from spanjury.adapters.reading.card import (
    CARD,
    FIRST_PIECES,
    INPUTS,
    MODEL,
    TOKENIZER,
    ReaderCard,
    file_digest,
    read_reader_card,
    set_constants,
    write_reader_card,
)
from spanjury.adapters.reading.export import export, slim, write_graph
from spanjury.adapters.reading.onnx_model import Pieces, load_model
from spanjury.adapters.reading.onnx_reader import OnnxReader, open_reader
from spanjury.judges.core import ConfigError, JudgeError, Window, WindowReading

LENGTH = 24
PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]"),
    *("the", "library", "will", "not", "close", "in", "may"),
    *("un", "##usu", "##al", "##ly"),
)
WINDOW = Window(
    words=("The", "library", "will", "close", "unusually", "."),
    kinds=(5, 7, 6, 8, 10, 4),
    source=("The", "library", "will", "not", "close", "in", "May"),
    source_kinds=(3, 3, 2, 1, 2, 1, 1),
)
SHORT = Window(words=("May",), kinds=(8,), source=("the",), source_kinds=(1,))


class TinyReader(torch.nn.Module):
    """An encoder of two layers with a head for tokens and a head for sentences."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=len(PIECES),
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=LENGTH,
            type_vocab_size=17,
        )
        self.encoder = BertModel(config, add_pooling_layer=False)
        self.tokens = torch.nn.Linear(32, 3)
        self.sentence = torch.nn.Linear(32, 3)

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        states = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        return self.tokens(states), self.sentence(states[:, 0])


def tiny_tokenizer() -> Tokenizer:
    vocabulary = {piece: number for number, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


@pytest.fixture(scope="module")
def model() -> TinyReader:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        made = TinyReader()
    for head in (made.tokens, made.sentence):
        head.weight.data.mul_(4)  # or all classes are about as likely
    return made.eval()


@pytest.fixture(scope="module")
def folder(model: TinyReader, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("reader")
    export(model, tiny_tokenizer(), made, max_length=LENGTH)
    set_constants(made, {"threshold": 0.4, "slope": 1.5})
    return made


@pytest.fixture
def reader(folder: Path) -> OnnxReader:
    return open_reader(folder)


def by_torch(model: TinyReader, window: Window) -> WindowReading:
    """Read a window whose sentence has one part, with torch."""
    (part,) = Pieces(tiny_tokenizer(), max_length=LENGTH).windows(window)
    ids, kinds = torch.tensor([part.ids]), torch.tensor([part.kinds])
    with torch.inference_mode():
        words, sentence = model(ids, torch.ones_like(ids), kinds)
    shares = words.softmax(-1)[0].tolist()
    return WindowReading(
        words=tuple(shares[position] for position in part.positions if position is not None),
        sentence=sentence.softmax(-1)[0].tolist(),
    )


def difference(left: WindowReading, other: WindowReading) -> float:
    pairs = zip((*left.words, left.sentence), (*other.words, other.sentence), strict=True)
    return max(float(np.abs(np.subtract(a, b)).max()) for a, b in pairs)


def test_pieces_are_laid_out_as_the_trainer_and_the_model_expect() -> None:
    (part,) = Pieces(tiny_tokenizer(), max_length=LENGTH).windows(WINDOW)
    pieces = [PIECES[number] for number in part.ids]
    assert " ".join(pieces) == (
        "[CLS] the library will close un ##usu ##al ##ly [UNK] [SEP]"
        " the library will not close in may [SEP]"
    )
    assert part.kinds == [0, 5, 7, 6, 8, 10, 10, 10, 10, 4, 0, 3, 3, 2, 1, 2, 1, 1, 0]
    assert part.positions == [1, 2, 3, 4, 5, 9]


def test_words_are_cut_as_the_tokenizer_cuts_a_text_that_is_split_already() -> None:
    tokenizer = tiny_tokenizer()
    (part,) = Pieces(tokenizer, max_length=LENGTH).windows(WINDOW)
    whole = tokenizer.encode(list(WINDOW.words), list(WINDOW.source), is_pretokenized=True)
    assert part.ids == whole.ids


def test_the_end_of_the_source_is_cut() -> None:
    long = replace(WINDOW, source=("may",) * 40, source_kinds=(1,) * 40)
    (part,) = Pieces(tiny_tokenizer(), max_length=LENGTH).windows(long)
    assert len(part.ids) == len(part.kinds) == LENGTH
    assert (PIECES[part.ids[-1]], part.positions) == ("[SEP]", [1, 2, 3, 4, 5, 9])


def test_a_sentence_of_very_many_pieces_is_read_in_parts_short_enough(reader: OnnxReader) -> None:
    long = replace(WINDOW, words=("unusually", "will") * 9, kinds=(10, 6) * 9)
    parts = Pieces(tiny_tokenizer(), max_length=LENGTH).windows(long)
    assert sum(len(part.positions) for part in parts) == 18
    assert len(parts) > 1
    assert all(len(part.ids) <= LENGTH for part in parts)
    (reading,) = reader.read([long])
    assert len(reading.words) == 18


def test_a_word_longer_than_a_window_is_cut() -> None:
    tokenizer = tiny_tokenizer()
    wide = replace(SHORT, words=("may", "un" + "usu" * 30, "may"), kinds=(1, 2, 3))
    parts = Pieces(tokenizer, max_length=LENGTH).windows(wide)
    assert [len(part.ids) <= LENGTH for part in parts] == [True] * 3


def test_lone_surrogates_and_words_without_pieces_are_read(reader: OnnxReader) -> None:
    odd = replace(SHORT, words=("\ud800", "\u200b", "May"), kinds=(4, 4, 8))
    (reading,) = reader.read([odd])
    assert (len(reading.words), reading.words[1].supported) == (3, 1.0)


def test_exact_export_says_what_torch_says(model: TinyReader, tmp_path: Path) -> None:
    export(model, tiny_tokenizer(), tmp_path, max_length=LENGTH, quantised=False)
    for window in (WINDOW, SHORT):
        (reading,) = open_reader(tmp_path).read([window])
        assert difference(reading, by_torch(model, window)) < 1e-5


def taken_by(folder: Path) -> set[str]:
    return {tensor.name for tensor in onnx.load(folder / MODEL).graph.input}


@pytest.mark.parametrize("quantised", [True, False])
def test_an_export_takes_no_mask_and_is_asked_about_the_first_pieces(
    model: TinyReader, tmp_path: Path, *, quantised: bool
) -> None:
    export(model, tiny_tokenizer(), tmp_path, max_length=LENGTH, quantised=quantised)
    assert taken_by(tmp_path) == {"input_ids", "token_type_ids", FIRST_PIECES}


class MeanReader(TinyReader):
    """Its sentence is the mean of all pieces, which a graph of the first pieces cannot give."""

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        states = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        return self.tokens(states), self.sentence(states.mean(1))


def test_an_exported_encoder_of_another_form_agrees_with_torch(tmp_path: Path) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        other = MeanReader().eval()
    export(other, tiny_tokenizer(), tmp_path, max_length=LENGTH, quantised=False)
    assert taken_by(tmp_path) == set(INPUTS)
    (reading,) = open_reader(tmp_path).read([WINDOW])
    assert difference(reading, by_torch(other, WINDOW)) < 1e-5


def test_a_model_that_was_exported_by_an_earlier_version_is_read(
    model: TinyReader, folder: Path, tmp_path: Path
) -> None:
    write_graph(model, tmp_path / MODEL)
    (tmp_path / TOKENIZER).write_bytes((folder / TOKENIZER).read_bytes())
    files = {name: file_digest(tmp_path / name) for name in (MODEL, TOKENIZER)}
    write_reader_card(
        tmp_path, ReaderCard(name="early", version="1", files=files, max_length=LENGTH)
    )
    (reading,) = open_reader(tmp_path).read([WINDOW])
    assert difference(reading, by_torch(model, WINDOW)) < 1e-5


def test_a_graph_without_attention_is_refused() -> None:
    with pytest.raises(ValueError, match="no attention"):
        slim(onnx.ModelProto())


def test_equal_windows_are_read_once(folder: Path) -> None:
    model = load_model(folder, read_reader_card(folder))
    first = model.readings([WINDOW])
    assert model.readings([replace(WINDOW)]) == first
    assert model.readings([SHORT]) != first
    counts = model.run.cache_info()
    assert (counts.hits, counts.misses) == (1, 2)


def test_a_fast_tokenizer_of_transformers_is_written_and_a_slow_one_refused(
    model: TinyReader, reader: OnnxReader, tmp_path: Path
) -> None:
    fast = PreTrainedTokenizerFast(tokenizer_object=tiny_tokenizer())  # type: ignore[no-untyped-call]  # not annotated
    card = export(model, fast, tmp_path, max_length=LENGTH)
    assert card.files[TOKENIZER] == reader.card.files[TOKENIZER]
    with pytest.raises(ConfigError, match="not a fast tokenizer"):
        export(model, PreTrainedTokenizer.__new__(PreTrainedTokenizer), tmp_path)


def test_whole_numbers_are_near_the_exact_ones(model: TinyReader, reader: OnnxReader) -> None:
    exact = by_torch(model, WINDOW)
    (reading,) = reader.read([WINDOW])
    assert difference(reading, exact) < 0.08
    likely = [word[1] for word in exact.words]
    assert max(likely) - min(likely) > 0.2  # so that the first line can fail


def test_likelihoods_sum_to_one_and_come_a_word_each(reader: OnnxReader) -> None:
    for window, reading in zip((WINDOW, SHORT), reader.read([WINDOW, SHORT]), strict=True):
        assert len(reading.words) == len(window.words)
        assert all(sum(word) == pytest.approx(1) for word in (*reading.words, reading.sentence))


def test_a_reading_does_not_depend_on_its_neighbours(reader: OnnxReader) -> None:
    assert reader.read([SHORT, WINDOW, SHORT])[1:2] == reader.read([WINDOW])
    assert reader.read([]) == []


def test_the_models_order_of_classes_is_followed(reader: OnnxReader, folder: Path) -> None:
    card = json.loads((folder / CARD).read_text())
    turned = copied(folder, card={**card, "classes": ["absent", "supported", "contradicted"]})
    (usual,), (other,) = reader.read([WINDOW]), open_reader(turned).read([WINDOW])
    assert (other.sentence.absent, other.sentence.supported) == usual.sentence[:2]
    assert other.words[0].contradicted == usual.words[0].absent
    assert open_reader(turned).signature != reader.signature


def copied(folder: Path, *, card: object) -> Path:
    other = folder / "copy"
    other.mkdir(exist_ok=True)
    for name in (MODEL, TOKENIZER):
        (other / name).write_bytes((folder / name).read_bytes())
    (other / CARD).write_text(json.dumps(card))
    return other


def test_the_card_holds_what_the_judge_needs(reader: OnnxReader) -> None:
    assert reader.constants == {"threshold": 0.4, "slope": 1.5}
    assert reader.signature.startswith("onnx|model:reader@")


def test_threads_share_a_model(reader: OnnxReader) -> None:
    (usual,) = reader.read([WINDOW])
    readings: list[list[WindowReading]] = []
    threads = [
        threading.Thread(target=lambda: readings.append(reader.read([WINDOW] * 20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert readings == [[usual] * 20] * 4


def test_readers_of_one_folder_load_it_once(folder: Path) -> None:
    assert open_reader(folder)._model is open_reader(folder)._model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 2 is not 1"),
        ({"classes": ["yes", "no"]}, "classes"),
        ({"files": {}}, "files lacks the digest of model.onnx, tokenizer.json"),
        ({"max_length": 3}, "max_length must be 16 or more"),
        ({"constants": {"threshold": "high"}}, "constants.threshold"),
    ],
)
def test_a_card_that_does_not_fit_is_named(
    folder: Path, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    card = json.loads((folder / CARD).read_text())
    (tmp_path / CARD).write_text(json.dumps({**card, **change}))
    with pytest.raises(ConfigError, match=message):
        open_reader(tmp_path)


def test_a_folder_without_a_card_holds_no_reader(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no reader"):
        open_reader(tmp_path)


@pytest.mark.parametrize("damage", ["cut", "absent"])
def test_another_file_than_the_cards_is_not_run(folder: Path, damage: str) -> None:
    card = json.loads((folder / CARD).read_text())
    other = copied(folder, card={**card, "version": damage, "max_length": 20 + len(damage)})
    if damage == "cut":
        (other / MODEL).write_bytes(b"cut")
    else:
        (other / MODEL).unlink()
    with pytest.raises(JudgeError, match="model.onnx"):
        open_reader(other).read([SHORT])


def test_a_tokenizer_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="does not know"):
        Pieces(Tokenizer(WordPiece({"[UNK]": 0})), max_length=LENGTH)


def test_a_panel_with_a_reader_loads_onnxruntime_only_when_it_reads(folder: Path) -> None:
    script = (
        "import sys; from pathlib import Path;"
        "from spanjury.orchestration.wiring.reading import with_reader;"
        "from spanjury.judges.reader.judge import ReaderJudge;"
        f"made = with_reader(ReaderJudge, {{'weights': {str(folder)!r}}});"
        "heavy = {'onnxruntime', 'tokenizers', 'torch', 'transformers'};"
        "print(sorted(heavy & sys.modules.keys()));"
        "made['encoder'].read([]);"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    out = completed([sys.executable, "-c", script])
    assert out.stdout.split("\n")[:2] == ["[]", "['onnxruntime', 'tokenizers']"]
