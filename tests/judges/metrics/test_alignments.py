"""Words that two texts share, and how they are aligned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import MetricError
from spanjury.judges.metrics.overlap.alignments import NgramMatch, lcs_alignment, ngram_matches
from spanjury.judges.metrics.words.grams import Tokens, tokenise

FEW_WORDS = st.lists(st.sampled_from(["a", "b", "cc", "", "97"]), max_size=12)


def longest(left: list[str], right: list[str]) -> int:
    """Return the length of a longest common subsequence by the textbook's table."""
    row = [0] * (len(right) + 1)
    for word in left:
        above = row[:]
        for at, other in enumerate(right):
            row[at + 1] = above[at] + 1 if word == other else max(above[at + 1], row[at])
    return row[-1]


@given(FEW_WORDS, FEW_WORDS)
def test_an_alignment_is_a_longest_common_subsequence(left: list[str], right: list[str]) -> None:
    pairs = lcs_alignment(left, right)
    assert all(left[mine] == right[theirs] for mine, theirs in pairs)
    assert [mine for mine, _ in pairs] == sorted({mine for mine, _ in pairs})
    assert [theirs for _, theirs in pairs] == sorted({theirs for _, theirs in pairs})
    assert len(pairs) == longest(left, right)


@pytest.mark.heavy
def test_long_texts_are_aligned() -> None:
    left = [str(number * 7919 % 211) for number in range(2000)]
    right = [str(number * 104729 % 223) for number in range(2000)]
    assert len(lcs_alignment(left, right)) == longest(left, right)


def test_too_long_texts_are_refused() -> None:
    with pytest.raises(MetricError, match="cannot align 50001 words with 50000"):
        lcs_alignment(["a"] * 50_001, ["a"] * 50_000)


@given(FEW_WORDS, FEW_WORDS, st.integers(min_value=1, max_value=4))
def test_every_shared_ngram_is_found_anywhere(left: list[str], right: list[str], n: int) -> None:
    starts_of = {
        words: tuple(at for at in range(len(left)) if tuple(left[at : at + n]) == words)
        for at in range(len(right) - n + 1)
        if (words := tuple(right[at : at + n]))
    }
    matches = ngram_matches(left, right, n=n)
    assert {match.words: match.output for match in matches} == {
        words: starts for words, starts in starts_of.items() if starts
    }
    swapped = {match.words: match.output for match in ngram_matches(right, left, n=n)}
    assert {match.words: match.reference for match in matches} == swapped
    assert [match.output[0] for match in matches] == sorted(match.output[0] for match in matches)


def test_ngrams_that_overlap_themselves_count_at_each_place() -> None:
    assert ngram_matches(["a"] * 3, ["a"] * 2, n=2) == (
        NgramMatch(words=("a", "a"), output=(0, 1), reference=(0,)),
    )


def test_an_ngram_of_no_words_is_refused() -> None:
    with pytest.raises(ValueError, match="one word or more, got 0"):
        ngram_matches(["a"], ["a"], n=0)


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        ("The cat's 3.5-kg Toy!", "words", ["the", "cat's", "3.5", "kg", "toy"]),
        ("Well… (no)", "words-and-marks", ["well", "…", "(", "no", ")"]),
        ("Well… (no)", "blanks", ["well…", "(no)"]),
        ("L’été à Zürich", "words", ["l’été", "à", "zürich"]),
        ("東京は大きい。", "words-and-marks", ["東", "京", "は", "大", "き", "い", "。"]),
        ("हिन्दी भाषा", "words", ["हिन्दी", "भाषा"]),
        ("שָׁלוֹם עולם", "words", ["שָׁלוֹם", "עולם"]),
        ("ok 👍🏽", "words", ["ok"]),
        ("a_b", "words-and-marks", ["a", "_", "b"]),
        ("\ud800 x", "words-and-marks", ["\ud800", "x"]),
        (" \n\t", "words-and-marks", []),
    ],
)
def test_words_are_found_in_many_scripts(text: str, tokens: Tokens, expected: list[str]) -> None:
    assert list(tokenise(text, tokens)) == expected


@given(st.text(alphabet=st.characters(max_codepoint=127)), st.sampled_from(["é", "字"]))
def test_ascii_is_cut_the_same_beside_other_scripts(text: str, other: str) -> None:
    assert tokenise(f"{text} {other}", "words-and-marks") == (
        *tokenise(text, "words-and-marks"),
        other,
    )


def test_a_long_text_is_cut_as_a_short_one_is() -> None:
    assert tokenise("two words " * 9000, "words") == ("two", "words") * 9000
