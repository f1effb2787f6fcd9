"""Metrics that share what they make of texts: the words, the counts and the scores are the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import anyio
import numpy as np
import pytest
from fakes.metrics import card
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import MetricCard, Sample
from spanjury.judges.metrics.corpus import Corpus, all_pairs, first_pairs
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.overlap.bleu import bleu_cut
from spanjury.judges.metrics.overlap.chrf import word_cut
from spanjury.judges.metrics.overlap.rouge import RougeOptions
from spanjury.judges.metrics.reference_free.fragments import Coverage, Density, fragment_lengths
from spanjury.judges.metrics.reference_free.readability import READABLE_CUT
from spanjury.judges.metrics.scores import measured, measured_together, run_metrics
from spanjury.judges.metrics.words.cuts import Cut, Side, numbered, word_strings
from spanjury.judges.metrics.words.grams import batch_gram_counts, distinct_grams, words_cut
from spanjury.judges.metrics.words.tokens import ANSWER_CUT, units_cut
from spanjury.judges.text.kept import KeptByWord
from spanjury.orchestration.wiring.metrics import availability, metric_cards, open_metric

CUTS = {
    "13a": bleu_cut("13a"),
    "13a, lower case": bleu_cut("13a", lowercase=True),
    "intl": bleu_cut("intl"),
    "whitespace": bleu_cut("whitespace"),
    "chrF": word_cut(lowercase=False),
    "chrF, lower case": word_cut(lowercase=True),
    "CIDEr": units_cut("words"),
    "answers": ANSWER_CUT,
    "words": words_cut("words"),
    "words and marks": words_cut("words-and-marks"),
    "blanks": words_cut("blanks"),
    "readability": READABLE_CUT,
    "ROUGE": RougeOptions().cut_words,
    "ROUGE, stems": RougeOptions(stem=True).cut_words,
}
HARD = [
    *("a", "The", "AN", "Word.", "running", "don't", "I'll", "'tis", "'t", "x'", "'", "''"),
    *("3.5", "1,200.50", "1.2.3.", "5.", "5,", "5-", "-5", "so-so", "-", "--", "U.S.", "(a)"),
    *("x-\ny", "-<skipped>\n", "<skipped>", "&amp;", "&quot;hi", "..", ".,", "...", "!?", "_x_"),
    *("“quoted”", "l’a", "a’b’c", "naïve", "ΑΣ", "ΣΑΣ", "İs", "ẞ", "ß", "ﬁ", "x²", "\u212a", "🙂"),
    *("東京", "ไทย", "मैं", "\u0301a", "\ud800", "\x00"),
]
BLANKS = [" ", "\n", "\t", "\xa0", "\u3000", "\x1c", "\x85", "\u2028", "  "]
TEXTS = st.lists(
    st.sampled_from(HARD) | st.sampled_from(BLANKS) | st.text(max_size=4), max_size=14
).map("".join)
MANY = 9  # samples, so that texts are cut piece by piece


def words_of(corpus: Corpus, *, side: Side, cut: Cut) -> list[list[str]]:
    texts, strings = corpus.once(numbered, side=side, cut=cut), word_strings(corpus)
    return [[strings[number] for number in text.tolist()] for text in texts.apart]


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3))
def test_texts_cut_piecewise_have_the_words_of_texts_cut_whole(cut: Cut, texts: list[str]) -> None:
    corpus = Corpus([Sample(output=text) for text in texts * MANY])
    assert (
        words_of(corpus, side="outputs", cut=cut) == [[*cut.words(text)] for text in texts] * MANY
    )


def test_equal_words_have_equal_numbers_on_all_sides_and_whatever_cut_them() -> None:
    sample = Sample(output="Two cats.", references=("two dogs", "cats"), source="Cats, two!")
    corpus = Corpus([sample] * MANY)
    assert words_of(corpus, side="compared", cut=CUTS["words"])[:4] == [
        ["two", "cats"],
        ["two", "dogs"],
        ["cats"],
        ["two", "cats"],
    ]
    assert words_of(corpus, side="sources", cut=CUTS["13a"])[0] == ["Cats", ",", "two", "!"]
    outputs = corpus.once(numbered, side="outputs", cut=CUTS["words"])
    sources = corpus.once(numbered, side="sources", cut=CUTS["words"])
    assert outputs.ids[:2].tolist() == sources.ids[:2].tolist()[::-1]


def test_a_corpus_computes_a_value_once_for_the_same_options() -> None:
    made = []

    def lengths(corpus: Corpus, *, times: int) -> list[int]:
        made.append(times)
        return [times * len(sample.output) for sample in corpus]

    corpus = Corpus.of([Sample(output="abc")])
    assert [corpus.once(lengths, times=n) for n in (1, 2, 1)] == [[3], [6], [3]]
    assert made == [1, 2]
    assert Corpus.of(corpus) is corpus


def test_a_corpus_of_single_references_is_that_of_its_pairs() -> None:
    single = Corpus([Sample(output="a", references=("b",))])
    several = Corpus([Sample(output="a", references=("b", "c"))])
    assert first_pairs(single) is single
    assert all_pairs(single) is single
    assert [*first_pairs(several)] == [*single]
    assert [pair.references for pair in all_pairs(several)] == [("b",), ("c",)]
    with pytest.raises(IndexError):
        first_pairs(Corpus([Sample(output="a")]))


@given(
    st.lists(
        st.tuples(st.text("ab ", max_size=30), st.text("ab ", max_size=60)), min_size=1, max_size=5
    )
)
def test_copied_fragments_of_many_outputs_are_those_of_each(pairs: list[tuple[str, str]]) -> None:
    samples = [Sample(output=output, source=source) for output, source in pairs] * MANY
    lengths = [fragment_lengths(output.split(), source.split()) for output, source in pairs]
    sizes = [max(1, len(output.split())) for output, _ in pairs]
    assert (
        Coverage(tokens="blanks").score_segments(samples)
        == [sum(lengths) / size for lengths, size in zip(lengths, sizes, strict=True)] * MANY
    )
    assert (
        Density(tokens="blanks").score_segments(samples)
        == [
            sum(length**2 for length in lengths) / size
            for lengths, size in zip(lengths, sizes, strict=True)
        ]
        * MANY
    )


@pytest.mark.parametrize("alphabet", [3, 1 << 40])
def test_ngrams_are_counted_whatever_the_number_of_different_words(alphabet: int) -> None:
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 40, size=(300, 2))
    tokens = rng.integers(0, alphabet, size=sizes.sum())
    texts = [text.tolist() for text in np.split(tokens, np.cumsum(sizes))[:-1]]
    texts[1] = texts[0]
    sizes[0, 1] = sizes[0, 0]
    tokens = np.array([token for text in texts for token in text], dtype=np.int64)
    runs = [[runs_of(text, order=order) for order in (1, 2, 3, 4)] for text in texts]
    distinct = distinct_grams(tokens, sizes.ravel(), order=4)
    assert distinct.tolist() == [[len(set(of_one)) for of_one in of_text] for of_text in runs]
    shared = batch_gram_counts(tokens, sizes, order=4)[:, :, 2].tolist()
    assert shared == [
        [
            sum(min(left.count(run), other.count(run)) for run in set(left))
            for left, other in zip(ours, theirs, strict=True)
        ]
        for ours, theirs in zip(runs[::2], runs[1::2], strict=True)
    ]


def runs_of(words: Sequence[int], *, order: int) -> list[tuple[int, ...]]:
    return [tuple(words[start : start + order]) for start in range(len(words) - order + 1)]


def test_a_word_that_no_language_has_is_worked_out_and_not_kept() -> None:
    lengths = KeptByWord(len)
    assert ([lengths["x" * 1000], lengths["word"]], [*lengths]) == ([1000, 4], ["word"])


@settings(max_examples=15)  # thirty metrics, each of them twice
@given(texts=st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=3))
def test_scores_are_the_same_alone_and_beside_others(texts: list[tuple[str, str, str]]) -> None:
    samples = [
        Sample(output=output, references=(reference,), source=source)
        for output, reference, source in texts
    ] * MANY
    metrics = [
        open_metric(name)
        for name, card in metric_cards().items()
        if card.shares and not availability(card)
    ]
    assert len(metrics) > 20
    together = measured_together(metrics, samples)
    for named, part in zip(metrics, together, strict=True):
        alone = measured(named, samples)
        for runs, other in ((part.segments, alone.segments), ([part.whole], [alone.whole])):
            same = [
                a == b or (a is not None and b is not None and math.isclose(a, b, abs_tol=1e-12))
                for a, b in zip(runs or (), other or (), strict=True)
            ]
            assert all(same), named.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """1 where the samples came as a corpus that metrics share."""

    signature: str = "shared"

    def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
        return [float(isinstance(samples, Corpus)) for _ in samples]


@pytest.mark.parametrize(("shares", "score"), [(True, 1.0), (False, 0.0)])
def test_only_metrics_that_share_are_measured_together(shares: bool, score: float) -> None:
    own: MetricCard = card(shares=shares)
    metrics = [NamedMetric(name=name, metric=Shared(), card=own) for name in ("one", "two")]
    first, second = anyio.run(partial(run_metrics, metrics, [Sample(output="a")] * 3))
    assert first.segments == second.segments == (score,) * 3
