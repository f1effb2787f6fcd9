"""Folding makes one string of all spellings of a passage, and knows the way back."""

import string
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.text import fold, fold_with_map

TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "aA bB\u00a0\t\n'\"`“”‘’«»…..--–—ßİıﬁéE\u0301\u0323\u200d\ufe0f½가ᄀ\ud800\0"
        ),
    )
)


def test_two_spellings_of_one_passage_fold_to_the_same() -> None:
    for left, other in [
        ("“Yes,” he said", "'yes,' HE SAID"),
        ("``with al qaeda''", '"with al qaeda"'),
        ("a – b", "a-b"),
        ("a -- b", "a—b"),
        ("wait…", "wait ..."),
        ("one\r\n\t two", "one two"),
        ("£ 70bn , he said .", "£70bn, he said."),
        ("caf\u00e9", "cafe\u0301"),
        ("a\u0323\u0301", "a\u0301\u0323"),
        ("o\u0304 \u0316", "o\u0316\u0304"),
        ("각", "\u1100\u1161\u11a8"),
        ("STRASSE", "Straße"),
        ("eﬃcient", "EFFICIENT"),
        ("İstanbul", "i\u0307stanbul"),
        ("ΟΔΟΣ", "οδος"),
        ("non\u00adsense\ufeff", "nonsense"),
        ("❤\ufe0f", "❤"),
        ("full ｗｉｄｔｈ：", "full width:"),
    ]:
        assert fold(left) == fold(other), (left, other)


@pytest.mark.parametrize(
    ("left", "other"),
    [("resume", "résumé"), ("cat", "cats"), ("a b", "ab"), ("1.5", "15"), ("he's", "hes")],
)
def test_different_words_fold_to_different_strings(left: str, other: str) -> None:
    assert fold(left) != fold(other)


def test_ascii_folds_as_it_does_among_other_characters() -> None:
    for character in map(chr, range(128)):
        assert fold(f"x{character}yб") == fold(f"x{character}y") + "б", repr(character)


def test_folding_a_whole_phrase_in_one_sign_leaves_the_sign() -> None:
    assert fold("\N{ARABIC LIGATURE SALLALLAHOU ALAYHE WASALLAM}") == "\ufdfa"


@given(TEXTS)
def test_a_folded_text_folds_to_itself(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(TEXTS)
def test_folding_with_a_map_folds_the_same(text: str) -> None:
    assert fold_with_map(text).text == fold(text)


@given(TEXTS)
@settings(max_examples=300)
def test_every_part_of_a_folded_text_comes_from_what_folds_to_it(text: str) -> None:
    folded = fold_with_map(text)
    edges = [index for index in range(len(folded.text) + 1) if not folded.splits(index)]
    for start, end in pairwise(edges):
        first, last = folded.origin(start, end=end)
        assert 0 <= first < last <= len(text)
        assert fold(text[first:last]) == folded.text[start:end].strip(" ")
    for start in edges[:-1]:
        first, last = folded.origin(start, end=len(folded.text))
        assert fold(text[first:last]) == folded.text[start:].strip(" ")


def test_the_map_leads_to_the_code_points_of_the_original() -> None:
    text = "İ ‘ﬁne’ …  Straße 😀 end"
    folded = fold_with_map(text)
    begin = folded.text.index("strasse")
    first, last = folded.origin(begin, end=begin + len("strasse"))
    assert text[first:last] == "Straße"
    begin = folded.text.index("end")
    first, last = folded.origin(begin, end=begin + 3)
    assert text[first:last] == "end"


def test_a_cut_through_one_letter_is_known() -> None:
    folded = fold_with_map("ﬁx e\u0301")
    assert folded.text == "fix e\u0301"
    splits = [index for index in range(len(folded.text) + 1) if folded.splits(index)]
    assert splits == [1, 5]


def test_all_that_ascii_has_survives_but_case_and_kinds_of_marks() -> None:
    kept = string.digits + string.ascii_lowercase + "!#$%&()*+,/:;<=>?@[\\]^_{|}~"
    assert fold(kept) == kept
