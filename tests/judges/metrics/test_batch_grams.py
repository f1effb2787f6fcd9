"""N-grams of many pairs at once: the counts that plain counters have."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import MetricError, Sample
from spanjury.judges.metrics.edits.eed import Eed
from spanjury.judges.metrics.overlap.rouge import RougeL, RougeLsum, RougeW
from spanjury.judges.metrics.words.grams import batch_gram_counts
from spanjury.judges.metrics.words.ids import token_ids

SHORT = st.text("ab", max_size=12)
WIDE = st.text(max_size=12)
PAIRS = st.lists(st.tuples(SHORT, SHORT) | st.tuples(WIDE, WIDE), min_size=1, max_size=6)


def grams(text: str, order: int) -> Counter[str]:
    return Counter(text[start : start + order] for start in range(len(text) - order + 1))


def counted(left: str, right: str, order: int) -> list[int]:
    ours, theirs = grams(left, order), grams(right, order)
    return [ours.total(), theirs.total(), (ours & theirs).total()]


def batch(pairs: list[tuple[str, str]], *, order: int) -> list[list[list[int]]]:
    texts = [text for pair in pairs for text in pair]
    sizes = np.array([len(text) for text in texts]).reshape(-1, 2)
    counts: list[list[list[int]]] = batch_gram_counts(
        np.concatenate(token_ids(*texts)), sizes, order=order
    ).tolist()
    return counts


@given(pairs=PAIRS, order=st.integers(1, 7))
def test_a_batch_is_counted_as_its_pairs_are(pairs: list[tuple[str, str]], order: int) -> None:
    expected = [[counted(*pair, n) for n in range(1, order + 1)] for pair in pairs]
    assert batch(pairs, order=order) == expected


def test_alphabets_and_texts_of_any_size_are_counted() -> None:
    rng = np.random.default_rng(1)
    many = "".join(map(chr, rng.integers(0x4E00, 0x9FFF, size=20_000)))
    pairs = [(many, many[5:]), ("abc", "bcd"), (many[:9000], many[8000:]), ("", "")]
    counts = batch(pairs, order=6)
    assert counts == [[counted(*pair, n) for n in range(1, 7)] for pair in pairs]


def long_pair(words: int) -> list[Sample]:
    rng = np.random.default_rng(2)
    output, reference = (" ".join(map(str, rng.integers(0, 99_999, size=words))) for _ in range(2))
    return [Sample(output=output, references=(reference,))]


def test_rouge_l_of_long_texts_is_that_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [*long_pair(500), Sample(output="a b", references=("b c",))]
    usual = RougeL().score_segments(samples)
    monkeypatch.setattr("spanjury.judges.metrics.overlap.rouge._LONG", 1000)
    assert RougeL().score_segments(samples) == usual


@pytest.mark.parametrize("metric", [Eed(), RougeLsum(), RougeW()])
def test_texts_that_would_take_hours_are_refused(metric: Eed | RougeLsum | RougeW) -> None:
    short = Sample(output="a", references=("a",))
    with pytest.raises(MetricError, match=r"cannot compare .* \(sample 1\)"):
        metric.score_segments([short, *long_pair(40_000)])
