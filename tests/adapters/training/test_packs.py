"""Texts that begin alike are packed beside one copy of their beginning."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spanjury.adapters.training.tokens.guardian import Ids, Pack, packs

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
        for number in set(pack.texts[pack.texts >= 0].tolist()):
            assert number not in seen
            seen.add(number)
            source, sentence = texts[number]
            (own,) = np.nonzero(pack.texts == number)
            assert tuple(pack.ids[own]) == sentence
            for step, piece in enumerate(own):
                assert tuple(pack.ids[pack.allowed[piece]]) == source + sentence[: step + 1]
                assert pack.positions[piece] == len(source) + step
    assert seen == set(range(len(texts)))


def test_a_source_stands_once_in_a_pack() -> None:
    (pack,) = packed([((7, 8), (1,)), ((9,), (2,)), ((7, 8), (3,))])
    assert pack.ids.tolist() == [7, 8, 1, 3, 9, 2]


def test_no_sentence_makes_no_pack() -> None:
    assert packed([]) == []
