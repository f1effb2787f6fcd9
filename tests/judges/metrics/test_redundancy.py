"""Repetitiveness, AUN, UNR and NID: how often a text says the same again."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from spanjury.judges.core import MergeableMetric, Sample, SegmentMetric
from spanjury.judges.metrics.reference_free.redundancy import Aun, Nid, Repetitiveness, Unr

TEXTS = st.text(alphabet=st.sampled_from("ab cé字.!\n\ud800👍"), max_size=60)
METRICS: list[SegmentMetric] = [
    Repetitiveness(),
    Repetitiveness(order=4),
    Aun(order=2),
    Unr(),
    Nid(),
]


def samples(*outputs: str) -> list[Sample]:
    return [Sample(output=output) for output in outputs]


def test_repetitiveness_is_the_share_of_n_grams_said_before() -> None:
    # peace in the dormitory peace in the world: 5 words of 8 are distinct, and of the pairs
    # peace-in, in-the, the-dormitory, dormitory-peace, the-world: 5 of 7.
    text = samples("Peace in the dormitory, peace in the world.")
    assert Repetitiveness().score_segments(text) == pytest.approx([3 / 8])
    assert Repetitiveness(order=2).score_segments(text) == pytest.approx([2 / 7])


def test_aun_counts_a_corpus_together() -> None:
    # 2 of 4 words, and 2 of 2: 4 of 6 in all.
    texts = samples("a b a b", "c d")
    assert Aun().score_segments(texts) == [0.5, 1.0]
    assert Aun().score_corpus(texts) == pytest.approx(4 / 6)


def test_unr_is_the_mean_over_lengths() -> None:
    # a b a b a: 2 of 5 words, 2 of 4 pairs, 2 of 3 triples; (2/5 + 2/4 + 2/3) / 3 = 47/90.
    assert Unr().score_segments(samples("a b a b a")) == pytest.approx([47 / 90])


def test_nid_is_one_less_the_entropy_of_the_words_over_its_maximum() -> None:
    # a a b c: entropy 1.5 bits, of at most 2.
    scores = Nid().score_segments(samples("a a b c", "a a a", "a b c"))
    assert scores == pytest.approx([0.25, 1.0, 0.0])


@given(st.lists(st.sampled_from("abcde"), min_size=2, max_size=30))
def test_nid_is_what_scipy_makes_of_the_formula(words: list[str]) -> None:
    counts = [words.count(word) for word in set(words)]
    expected = 1 - float(entropy(counts)) / math.log(len(words))
    assert Nid().score_segments(samples(" ".join(words))) == pytest.approx([expected], abs=1e-9)


def test_an_empty_output_has_the_worst_score() -> None:
    empty = samples("", " \n", "?!")
    assert Repetitiveness().score_segments(empty) == [1, 1, 1]
    assert Aun().score_segments(empty) == [0, 0, 0]
    assert Aun().score_corpus([*empty, *samples("a b c")]) == 0.5
    assert Unr().score_segments(empty) == [0, 0, 0]
    assert Nid().score_segments(empty) == [1, 1, 1]


def test_a_text_shorter_than_an_n_gram_repeats_nothing() -> None:
    short = samples("only two")
    assert Repetitiveness(order=4).score_segments(short) == [0]
    assert Aun(order=4).score_segments(short) == [1]
    assert Unr(max_order=9).score_segments(short) == [1]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature)
@given(texts=st.lists(TEXTS, max_size=5))
def test_scores_are_shares(metric: SegmentMetric, texts: list[str]) -> None:
    scores = metric.score_segments(samples(*texts))
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)


@given(st.lists(TEXTS, min_size=2, max_size=8), st.integers(1, 7))
def test_aun_of_shards_is_aun_of_the_whole(texts: list[str], cut: int) -> None:
    metric = Aun(order=2)
    rows = [*metric.statistics(samples(*texts[:cut])), *metric.statistics(samples(*texts[cut:]))]
    total = [sum(column) for column in zip(*rows, strict=True)]
    assert isinstance(metric, MergeableMetric)
    assert metric.score_statistics(total) == metric.score_corpus(samples(*texts))


def test_a_megabyte_is_measured() -> None:
    long = samples("one two three four " * 52_500)
    assert all(0 <= metric.score_segments(long)[0] <= 1 for metric in METRICS)


def test_wrong_options_are_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="order must be 1 or more, got 0"):
        Repetitiveness(order=0)
    with pytest.raises(ValueError, match="max_order must be 1 or more"):
        Unr(max_order=-1)
    with pytest.raises(ValueError, match="'words', 'words-and-marks', 'blanks'"):
        Nid(tokens="bytes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'bytes'"):
        Aun(tokens="bytes")  # type: ignore[arg-type]


def test_signatures_tell_the_options() -> None:
    assert Repetitiveness(order=3).signature == "repetitiveness|order:3|tokens:words"
    assert Aun().signature != Aun(order=2).signature
    assert Unr().signature != Unr(max_order=2).signature
    assert Nid().signature != Nid(tokens="blanks").signature
