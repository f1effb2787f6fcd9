"""Abstractness, coverage, density and compression: an output beside its source."""

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spanjury.judges.core import Sample, SegmentMetric
from spanjury.judges.metrics.reference_free.fragments import (
    Abstractness,
    Compression,
    Coverage,
    Density,
    fragment_lengths,
)

WORDS = st.lists(st.sampled_from("ab"), max_size=14) | st.lists(
    st.sampled_from("abcd"), max_size=30
)
TEXTS = st.text(alphabet=st.sampled_from("ab cé字.\ud800👍"), max_size=60)
METRICS = [Abstractness(), Abstractness(order=3), Coverage(), Density(), Compression()]


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


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.signature)
@given(output=TEXTS, source=TEXTS)
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


def test_wrong_options_are_refused_with_the_choices() -> None:
    for metric in (Abstractness, Coverage, Density, Compression):
        with pytest.raises(ValueError, match="'words-and-marks', 'blanks'"):
            metric(tokens="bytes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="got 0"):
        Abstractness(order=0)


def test_signatures_tell_the_options() -> None:
    assert Abstractness().signature == "abstractness|order:1|tokens:words"
    assert Coverage().signature == "coverage|tokens:words-and-marks"
    assert Density().signature == "density|tokens:words-and-marks"
    assert Compression(tokens="blanks").signature == "compression|tokens:blanks"
