"""Windows become prose, and sentences are packed beside one copy of their source."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.reading.decoder_model import CUE, END, Ids, Pack, ProsePieces, packs, spaced
from spanjury.judges.core import Window
from spanjury.judges.text.tokens import tokens

PIECES = st.integers(1, 99)
SOURCES = st.sampled_from([(1, 2, 3), (4,), tuple(range(400))])
SENTENCES = st.lists(PIECES, min_size=1, max_size=8).map(tuple)
TEXTS = st.lists(st.tuples(SOURCES, SENTENCES), min_size=1, max_size=12)


def packed(texts: list[tuple[Ids, Ids]]) -> list[Pack]:
    return list(packs([source for source, _ in texts], [sentence for _, sentence in texts]))


@given(TEXTS)
def test_each_sentence_sees_its_source_and_itself_in_order(texts: list[tuple[Ids, Ids]]) -> None:
    seen: set[int] = set()
    for pack in packed(texts):
        for number in set(pack.sentences[pack.sentences >= 0].tolist()):
            assert number not in seen
            seen.add(number)
            source, sentence = texts[number]
            (own,) = np.nonzero(pack.sentences == number)
            assert tuple(pack.ids[own]) == sentence
            for step, piece in enumerate(own):
                assert tuple(pack.ids[pack.allowed[piece]]) == source + sentence[: step + 1]
                assert pack.positions[piece] == len(source) + step
    assert seen == set(range(len(texts)))


@given(TEXTS)
def test_a_piece_sees_only_itself_and_the_piece_before(texts: list[tuple[Ids, Ids]]) -> None:
    for pack in packed(texts):
        for piece in np.flatnonzero(pack.sentences >= 0):
            others = [other for other in np.flatnonzero(pack.allowed[piece]) if other != piece]
            assert pack.befores[piece] == others[-1]


def test_a_source_stands_once_in_a_pack() -> None:
    (pack,) = packed([((7, 8), (1,)), ((9,), (2,)), ((7, 8), (3,))])
    assert pack.ids.tolist() == [7, 8, 1, 3, 9, 2]


def test_no_sentence_makes_no_pack() -> None:
    assert packed([]) == []


def window(sentence: str, source: str) -> Window:
    words, beside = ([token.text for token in tokens(text)] for text in (sentence, source))
    kinds, source_kinds = (0,) * len(words), (0,) * len(beside)
    return Window(words=tuple(words), kinds=kinds, source=tuple(beside), source_kinds=source_kinds)


def letters(text: str) -> Sequence[int]:
    """Cut a text into its letters."""
    return [ord(letter) for letter in text]


@pytest.mark.parametrize(
    "text",
    [
        "The roof (of slate) cost $40,000; it wasn't cheap.",
        'She said "no more" and left.',
        "A well-known firm paid 5 % more in 2019/20.",
        "Ida Lund's boat: [sic] 3.5 m long!",
    ],
)
def test_words_are_joined_as_they_are_usually_set(text: str) -> None:
    joined = "".join(spaced([token.text for token in tokens(text)]))
    assert joined.replace(" %", "%") == text.replace(" %", "%")


def test_the_sentence_stands_behind_the_source_and_the_cue() -> None:
    prose = ProsePieces(letters, start=0, max_length=99).prose(window("It is old.", "The house."))
    assert (prose.source[0], "".join(map(chr, prose.source[1:]))) == (0, f"The house.{CUE}")
    assert "".join(map(chr, prose.sentence)) == f" It is old.{END}"
    assert [chr(prose.sentence[last or 0]) for last in prose.lasts] == ["t", "s", "d", "."]


@given(st.integers(40, 80), st.integers(1, 40), st.integers(0, 60))
def test_a_window_never_has_more_pieces_than_it_may(most: int, words: int, beside: int) -> None:
    pieces = ProsePieces(letters, start=0, max_length=most)
    prose = pieces.prose(window("word " * words, "source " * beside))
    assert len(prose.source) + len(prose.sentence) <= most
    assert len(prose.lasts) == words
    kept = [last for last in prose.lasts if last is not None]
    assert (kept, "".join(map(chr, prose.sentence))) == (sorted(kept), " word" * len(kept) + END)
