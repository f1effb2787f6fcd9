"""A decoder reader: what onnxruntime says of windows is what torch says while it learns."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from platformdirs import user_cache_path
from tokenizers import Tokenizer

from spanjury.adapters.causal.base import EMBEDDED, find_base
from spanjury.adapters.reading import decoder_model
from spanjury.adapters.reading.card import MATRICES, read_reader_card, write_reader_card
from spanjury.adapters.reading.onnx_reader import OnnxReader, open_reader
from spanjury.adapters.training.tokens.decoder import DecoderBase, DecoderModel
from spanjury.adapters.training.tokens.encoding import stacked
from spanjury.adapters.training.trainer import fixed_seed
from spanjury.judges.core import ConfigError, JudgeError, Label, LabelledWindow
from spanjury.judges.reader.windows import sentence_windows

pytestmark = pytest.mark.heavy

CPU = torch.device("cpu")
NEAR = 0.03  # weights and numbers of 8 bits
SOURCES = (
    "The library on Harbour Street stays open. Mayor Ines Carvalho had its roof repaired.",
    "Trains to Lyon leave at nine; those to Nice leave at ten (from platform 4).",
)
SENTENCES = ("The mayor repaired the roof.", "The library was closed, Ines Carvalho said.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A model with drawn matrices, and the reader that was written of it."""

    base: DecoderBase
    model: DecoderModel
    folder: Path
    reader: OnnxReader


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trained]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        base = DecoderBase(base=find_base(EMBEDDED))
        with fixed_seed(3, device=CPU):
            model = base.load(kinds=0, device=CPU)
            for name, weight in model.named_parameters():
                if name.endswith(".up"):
                    torch.nn.init.normal_(weight, std=0.01)
        folder = tmp_path_factory.mktemp("reader")
        base.write(model, folder, max_length=128)
        yield Trained(
            base=base, model=model.float().eval(), folder=folder, reader=open_reader(folder)
        )


def windows(room: int) -> list[LabelledWindow]:
    return [
        LabelledWindow(
            window=labelled.window,
            words=(Label.SUPPORTED,) * len(labelled.window.words),
            sentence=Label.SUPPORTED,
            group=source,
        )
        for source in SOURCES
        for sentence in SENTENCES
        for labelled in sentence_windows(sentence, {"Article": source}, room=room)
    ]


def test_it_says_what_the_trainer_says(trained: Trained) -> None:
    read = windows(trained.reader.room)
    encoded = trained.base.encode(read, limit=128)
    batch = stacked(encoded, device=CPU)
    with torch.inference_mode():
        tokens, sentences = trained.model(batch.ids, batch.mask, batch.kinds)
    by_word, by_sentence = tokens.softmax(-1).numpy(), sentences.softmax(-1).numpy()
    readings = trained.reader.read([window.window for window in read])
    assert [reading.sentence for reading in readings] == pytest.approx(by_sentence, abs=NEAR)
    for row, (reading, window) in enumerate(zip(readings, encoded, strict=True)):
        assert np.array(reading.words) == pytest.approx(
            by_word[row][list(window.positions)], abs=NEAR
        )


def test_it_says_the_same_of_a_window_alone_and_among_others(trained: Trained) -> None:
    read = [encoded_window.window for encoded_window in windows(trained.reader.room)]
    together = trained.reader.read(read)
    for window, reading in zip(read, together, strict=True):
        (alone,) = trained.reader.read([window])
        assert alone.sentence == pytest.approx(reading.sentence, abs=NEAR)
        assert np.array(alone.words) == pytest.approx(np.array(reading.words), abs=NEAR)


def test_its_tokenizer_cuts_as_the_trainer_does(trained: Trained) -> None:
    (made,) = user_cache_path("spanjury").glob("reader-*")
    text = " Ines wasn't in Zürich in 2019, said “someone” – twice!\n\n"
    theirs = trained.base.base.tokenizer().encode(text, add_special_tokens=False)
    ours = Tokenizer.from_file(str(made / "tokenizer.json"))
    assert ours.encode(text, add_special_tokens=False).ids == theirs


def test_another_base_and_other_matrices_are_refused(trained: Trained, tmp_path: Path) -> None:
    card = read_reader_card(trained.folder)
    (tmp_path / MATRICES).write_bytes((trained.folder / MATRICES).read_bytes())
    fields = {name: getattr(card, name) for name in card.__slots__}
    write_reader_card(tmp_path, type(card)(**{**fields, "base": "0" * 64}))
    with pytest.raises(ConfigError, match="is not the base"):
        open_reader(tmp_path).read([windows(99)[0].window])
    write_reader_card(tmp_path, card)
    with (tmp_path / MATRICES).open("ab") as file:
        file.write(b"more")
    with pytest.raises(JudgeError, match="is not the file"):
        decoder_model.load_model(tmp_path, card)
