"""Distinct-n and self-BLEU: how much the texts of a corpus differ."""

import warnings
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from spanjury.judges.core import CorpusMetric, Sample, SegmentMetric
from spanjury.judges.metrics.reference_free.diversity import DistinctN, SelfBleu

TEXTS = st.lists(st.text(alphabet=st.sampled_from("ab cdé.\ud800"), max_size=30), min_size=1)
WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=12)


def samples(*outputs: str) -> list[Sample]:
    return [Sample(output=output) for output in outputs]


def test_distinct_n_counts_n_grams_of_the_whole_corpus() -> None:
    # a-b, b-a, a-b and b-c: 3 distinct pairs of 4, in 6 words.
    texts = samples("a b a", "a b c")
    assert DistinctN().score_corpus(texts) == pytest.approx(3 / 4)
    assert DistinctN(divisor="words").score_corpus(texts) == pytest.approx(3 / 6)
    assert DistinctN(order=1).score_segments(texts) == pytest.approx([2 / 3, 1])


def test_an_output_without_words_has_no_distinct_n_grams() -> None:
    assert DistinctN().score_segments(samples("", "…")) == [0, 0]
    assert DistinctN().score_corpus(samples("", "a b")) == 1


def test_distinct_n_scores_both_segments_and_a_corpus() -> None:
    assert isinstance(DistinctN(), SegmentMetric)
    assert isinstance(DistinctN(), CorpusMetric)
    assert not isinstance(SelfBleu(), SegmentMetric)


def test_self_bleu_by_hand() -> None:
    # Each pair of "a b c" and "a b d": 2 of 3 words, 1 of 2 pairs match; no brevity penalty.
    texts = samples("a b c", "a b d")
    assert SelfBleu(max_order=2).score_corpus(texts) == pytest.approx((2 / 3 * 1 / 2) ** 0.5)


def test_self_bleu_knows_alike_from_different() -> None:
    assert SelfBleu().score_corpus(samples("a b c d e", "a b c d e")) == 1
    assert SelfBleu().score_corpus(samples("a b c d", "e f g h")) == 0
    assert SelfBleu().score_corpus(samples("all alone here")) == 0
    assert SelfBleu().score_corpus(samples("", "a b c d")) == 0.5


@given(st.lists(WORDS, min_size=2, max_size=6), st.integers(1, 4))
def test_self_bleu_is_the_mean_of_nltk_s_bleu(texts: list[list[str]], max_order: int) -> None:
    smoothed = SmoothingFunction().method1
    with warnings.catch_warnings(action="ignore"):
        expected = fmean(
            sentence_bleu(
                texts[:index] + texts[index + 1 :],
                text,
                weights=(1 / max_order,) * max_order,
                smoothing_function=smoothed,
            )
            for index, text in enumerate(texts)
        )
    scores = SelfBleu(max_order=max_order).score_corpus(samples(*map(" ".join, texts)))
    assert scores == pytest.approx(expected, abs=1e-9)


@given(TEXTS)
def test_scores_are_shares(texts: list[str]) -> None:
    assert 0 <= DistinctN().score_corpus(samples(*texts)) <= 1
    assert 0 <= SelfBleu().score_corpus(samples(*texts)) <= 1
    assert all(0 <= score <= 1 for score in DistinctN().score_segments(samples(*texts)))


@given(TEXTS)
def test_the_order_of_the_texts_does_not_matter(texts: list[str]) -> None:
    forwards = SelfBleu().score_corpus(samples(*texts))
    assert SelfBleu().score_corpus(samples(*reversed(texts))) == pytest.approx(forwards)


def test_wrong_options_are_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="'grams', 'words'"):
        DistinctN(divisor="texts")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got 0"):
        SelfBleu(max_order=0)


def test_signatures_tell_the_options() -> None:
    assert DistinctN().signature == "distinct-n|order:2|divisor:grams|tokens:words"
    assert SelfBleu().signature == "self-bleu|max_order:4|tokens:words-and-marks"
