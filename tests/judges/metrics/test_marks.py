"""Marks set apart: the words are those of sacrebleu, whichever way they are cut."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spanjury.judges.core import Sample
from spanjury.judges.metrics.edits.ter import Ter
from spanjury.judges.metrics.overlap.bleu import bleu_tokens
from spanjury.judges.metrics.words.grams import set_apart, without_marks, words_13a

CROWDED = st.text("ab 19.,-'’/&<>\n()_%:;é京\x1f\x00")
ASCII = st.text(st.characters(max_codepoint=127))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 1,200.5 (or so).", ["It's", "1,200.5", "(", "or", "so", ")", "."]),
        ("10-20 is well-known, a-1", ["10", "-", "20", "is", "well-known", ",", "a-1"]),
        ("in 2014, v2.b .5", ["in", "2014", ",", "v2", ".", "b", ".", "5"]),
        ("", []),
        ("Wait...", None),
        ("5 &lt; 6", None),
        ("bro-\nken", None),
        ("caf\xe9", None),
    ],
)
def test_plain_texts_are_cut_here(text: str, words: list[str] | None) -> None:
    assert words_13a(text) == words


@given(CROWDED | ASCII)
def test_words_are_those_of_sacrebleu(text: str) -> None:
    expected = Tokenizer13a()(text.rstrip()).split()
    assert [*bleu_tokens(text, "13a")] == expected
    assert words_13a(text) in (None, expected)


@given(ASCII)
def test_only_marks_are_set_apart_or_removed(text: str) -> None:
    words = set_apart(text).split()
    assert "".join(words) == "".join(text.split())
    assert all(word.isalnum() or len(word) == 1 for word in words)
    assert without_marks(text).split() == [word for word in words if word.isalnum()]


def test_every_mark_is_one() -> None:
    assert set_apart(string.punctuation).split() == [*string.punctuation]


@given(output=CROWDED, reference=CROWDED)
def test_crowded_marks_have_the_ter_of_sacrebleu(output: str, reference: str) -> None:
    scores = Ter(normalize=True).score_segments([Sample(output=output, references=(reference,))])
    assert scores == [pytest.approx(TER(normalized=True).sentence_score(output, [reference]).score)]
