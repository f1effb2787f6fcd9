"""Repetitiveness, AUN, UNR and NID: how often a text says the same again."""

import gzip
import json
import math
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import entropy

from spanjury.judges.core import MergeableMetric, Sample, SegmentMetric
from spanjury.judges.metrics.reference_free.fragments import (
    Abstractness,
    Compression,
    Coverage,
    Density,
    fragment_lengths,
)
from spanjury.judges.metrics.reference_free.redundancy import Aun, Nid, Repetitiveness, Unr

TEXTS = st.text(alphabet=st.sampled_from("ab cé字.!\n\ud800👍"), max_size=60)
METRICS: list[SegmentMetric] = [
    Repetitiveness(),
    Repetitiveness(order=4),
    Aun(order=2),
    Unr(),
    Nid(),
]
WORDS = st.lists(st.sampled_from("ab"), max_size=14) | st.lists(
    st.sampled_from("abcd"), max_size=30
)
OVERLAPPING = st.text(alphabet=st.sampled_from("ab cé字.\ud800👍"), max_size=60)
OVERLAPS = [Abstractness(), Abstractness(order=3), Coverage(), Density(), Compression()]


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


def sample(output: str, source: str) -> Sample:
    return Sample(output=output, source=source)


def figure_3(output: list[str], source: list[str]) -> list[int]:
    """Find the fragments as the figure of the paper does, step by step."""
    lengths = []
    i = 0
    while i < len(output):
        longest = j = 0
        while j < len(source):
            if output[i] != source[j]:
                j += 1
                continue
            k = 0
            while i + k < len(output) and j + k < len(source) and output[i + k] == source[j + k]:
                k += 1
            longest = max(longest, k)
            j += k
        if longest:
            lengths.append(longest)
        i += max(longest, 1)
    return lengths


def test_abstractness_is_the_share_of_new_n_grams() -> None:
    # Of the, cat, slept only "slept" is new; of the-cat, cat-slept the latter.
    text = [sample("The cat slept.", "A dog saw the cat.")]
    assert Abstractness().score_segments(text) == pytest.approx([1 / 3])
    assert Abstractness(order=2).score_segments(text) == pytest.approx([1 / 2])


def test_abstractness_of_texts_that_are_too_short_or_empty() -> None:
    texts = [sample("", "a"), sample("", ""), sample("a", ""), sample("a b", "c a b")]
    assert Abstractness(order=3).score_segments(texts) == [0, 0, 1, 0]


def test_a_source_shorter_than_an_n_gram_has_none() -> None:
    assert Abstractness(order=3).score_segments([sample("a b c", "a b")]) == [1]


def test_fragments_by_hand() -> None:
    # "the cat" and "sat" are copied, "black" and "there" are not, of 5 words and a stop.
    text = [sample("The cat sat black there.", "Here the cat, it sat.")]
    assert Coverage().score_segments(text) == pytest.approx([4 / 6])
    assert Density().score_segments(text) == pytest.approx([(4 + 1 + 1) / 6])
    assert Compression().score_segments(text) == pytest.approx([7 / 6])


@given(WORDS, WORDS)
@example(list("aab"), list("aaab"))  # a longer match hidden within a shorter one
def test_fragments_are_those_of_the_figure(output: list[str], source: list[str]) -> None:
    assert fragment_lengths(output, source) == figure_3(output, source)


def test_a_copy_is_one_fragment() -> None:
    text = [sample("one two three four", "one two three four")]
    assert Coverage().score_segments(text) == [1]
    assert Density().score_segments(text) == [4]
    assert Compression().score_segments(text) == [1]


def test_empty_texts_on_either_side() -> None:
    texts = [sample("", "a b"), sample("a b", " "), sample("\n", "")]
    assert Coverage().score_segments(texts) == [0, 0, 0]
    assert Density().score_segments(texts) == [0, 0, 0]
    assert Compression().score_segments(texts) == [2, 0, 0]


@pytest.mark.parametrize("metric", OVERLAPS, ids=lambda metric: metric.signature)
@given(output=OVERLAPPING, source=OVERLAPPING)
def test_scores_are_within_their_bounds(metric: SegmentMetric, output: str, source: str) -> None:
    (score,) = metric.score_segments([sample(output, source)])
    assert 0 <= score <= (1 if isinstance(metric, Abstractness | Coverage) else 60)


def test_long_texts_are_measured() -> None:
    book = " ".join(f"word{n * n % 997}" for n in range(100_000))
    text = [sample(book, f"{book[5:]} {book}")]
    assert Coverage().score_segments(text) == [1]
    assert Abstractness(order=2).score_segments(text) == [0]


@pytest.mark.shared_data
def test_fragments_of_real_summaries_are_those_of_the_figure(shared_data: Path) -> None:
    with gzip.open(shared_data / "scores/newsroom_scores.jsonl.gz", "rt", encoding="utf-8") as rows:
        texts = [json.loads(row) for row in islice(rows, 140)]
    for text in texts:
        output, source = text["output"].split(), text["source"]["article"].split()
        assert fragment_lengths(output, source) == figure_3(output, source)
    # The system called "fragments" writes nothing else.
    copied = [
        Sample(output=text["output"], source=text["source"]["article"])
        for text in texts
        if text["system"] == "fragments"
    ]
    assert min(Coverage().score_segments(copied)) > 0.9


def test_wrong_options_of_overlaps_are_refused() -> None:
    for metric in (Abstractness, Coverage, Density, Compression):
        with pytest.raises(ValueError, match="'words-and-marks', 'blanks'"):
            metric(tokens="bytes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got 0"):
        Abstractness(order=0)


def test_signatures_of_overlaps_tell_the_options() -> None:
    assert Abstractness().signature == "abstractness|order:1|tokens:words"
    assert Coverage().signature == "coverage|tokens:words-and-marks"
    assert Density().signature == "density|tokens:words-and-marks"
    assert Compression(tokens="blanks").signature == "compression|tokens:blanks"
