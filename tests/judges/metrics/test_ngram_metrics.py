"""BLEU, chrF and NIST: worked values, and those of the libraries that define them."""

import math

import pytest
from fakes.metric_texts import varied_samples
from nltk.translate.bleu_score import corpus_bleu
from nltk.translate.nist_score import corpus_nist
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from spanjury.judges.core import MergeableMetric, Sample, SegmentMetric
from spanjury.judges.metrics.overlap.bleu import (
    SMOOTHINGS,
    TOKENIZERS,
    Bleu,
    Nist,
    SacreBleu,
    Smoothing,
    Tokenizer,
)
from spanjury.judges.metrics.overlap.chrf import Chrf, ChrfPlusPlus

SAMPLES = varied_samples(250, references=3)
ONE_EACH = varied_samples(250)
OUTPUTS = [sample.output for sample in ONE_EACH]
REFERENCES = [[sample.references[0] for sample in ONE_EACH]]
KEPT = pytest.approx


def test_bleu_of_a_worked_example() -> None:
    # 3 of 4 words, 2 of 3 pairs, 1 of 2 triples match; brevity exp(1 - 5/4)
    sample = Sample(output="a b c x", references=("a b c d e",))
    expected = math.exp(-0.25) * (3 / 4 * 2 / 3 * 1 / 2) ** (1 / 3)
    assert Bleu(max_order=3).score_segments([sample]) == [KEPT(expected)]


def test_a_repeated_word_matches_as_often_as_in_the_reference_that_has_it_most() -> None:
    sample = Sample(output="the the the", references=("the cat", "the the mat"))
    assert Bleu(max_order=1).score_segments([sample]) == [KEPT(2 / 3)]


def test_the_shorter_of_two_closest_references_counts() -> None:
    sample = Sample(output="a b c", references=("a b c d", "a b"))
    assert Bleu(max_order=1).statistics([sample]) == [[3, 2, 3, 3]]


def test_bleu_of_a_corpus_is_that_of_nltk() -> None:
    # NLTK counts an n-gram too many for each output that is shorter than n.
    samples = [sample for sample in SAMPLES if len(sample.output.split()) >= 4]
    expected = corpus_bleu(
        [[reference.split() for reference in sample.references] for sample in samples],
        [sample.output.split() for sample in samples],
    )
    assert Bleu(tokenize="whitespace").score_corpus(samples) == KEPT(expected, abs=1e-9)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("tokenize", TOKENIZERS)
def test_all_scores_are_those_of_sacrebleu(smoothing: Smoothing, tokenize: Tokenizer) -> None:
    metric = SacreBleu(smoothing=smoothing, tokenize=tokenize)
    name = "none" if tokenize == "whitespace" else tokenize
    by_segment = BLEU(smooth_method=smoothing, tokenize=name, effective_order=True)
    expected = [
        by_segment.sentence_score(sample.output, list(sample.references)) for sample in SAMPLES
    ]
    assert metric.score_segments(SAMPLES) == KEPT([sample.score for sample in expected], abs=1e-9)
    by_corpus = BLEU(smooth_method=smoothing, tokenize=name, force=True)
    corpus = by_corpus.corpus_score(OUTPUTS, REFERENCES)
    assert metric.score_corpus(ONE_EACH) == KEPT(corpus.score, abs=1e-9)


def test_sacrebleu_can_ignore_case() -> None:
    metric = SacreBleu(lowercase=True)
    expected = BLEU(lowercase=True, force=True).corpus_score(OUTPUTS, REFERENCES).score
    assert metric.score_corpus(ONE_EACH) == KEPT(expected, abs=1e-9)
    assert "|case:lc|" in metric.signature


def test_chrf_of_a_worked_example() -> None:
    # single characters: 2 of 3 and 2 of 2; pairs: 1 of 2 and 1 of 1; F2 of the means
    precision, recall = (2 / 3 + 1 / 2) / 2, 1.0
    expected = 100 * 5 * precision * recall / (4 * precision + recall)
    sample = Sample(output="a b c", references=("ab",))
    assert Chrf(char_order=2).score_segments([sample]) == [KEPT(expected)]


@pytest.mark.parametrize(
    ("metric", "oracle"),
    [
        (Chrf(), CHRF()),
        (ChrfPlusPlus(), CHRF(word_order=2)),
        (
            Chrf(char_order=9, beta=3, lowercase=True, whitespace=True),
            CHRF(char_order=9, beta=3, lowercase=True, whitespace=True),
        ),
        (Chrf(char_order=12, word_order=3), CHRF(char_order=12, word_order=3)),
    ],
)
def test_chrf_is_that_of_sacrebleu(metric: Chrf, oracle: CHRF) -> None:
    expected = [oracle.sentence_score(sample.output, list(sample.references)) for sample in SAMPLES]
    assert metric.score_segments(SAMPLES) == KEPT([sample.score for sample in expected], abs=1e-9)
    corpus = oracle.corpus_score(OUTPUTS, REFERENCES).score
    assert metric.score_corpus(ONE_EACH) == KEPT(corpus, abs=1e-9)


def test_chrf_counts_alphabets_too_large_for_one_number() -> None:
    output = "".join(map(chr, range(0x4E00, 0x4E00 + 3000)))
    sample = Sample(output=output, references=(output[500:] + output[:200],))
    expected = CHRF().sentence_score(sample.output, list(sample.references)).score
    assert Chrf().score_segments([sample]) == [KEPT(expected, abs=1e-9)]


@pytest.mark.parametrize("metric", [Bleu(), SacreBleu(), Chrf(), ChrfPlusPlus()])
def test_rows_of_shards_add_up_to_the_corpus(metric: MergeableMetric) -> None:
    rows = [*metric.statistics(SAMPLES[:100]), *metric.statistics(SAMPLES[100:])]
    total = [sum(column) for column in zip(*rows, strict=True)]
    assert metric.score_statistics(total) == metric.score_corpus(SAMPLES)
    assert isinstance(metric, SegmentMetric)


def test_nist_of_a_worked_example() -> None:
    # "a" is 2 of 4 words: 1 bit; "b" 1 of 4: 2 bits; the pair "a b" is one of 2 "a": 1 bit
    samples = [Sample(output="a b", references=("a b",)), Sample(output="x y", references=("a c",))]
    expected = (1 + 2) / 4 + 1 / 2
    assert Nist(max_order=2).score_corpus(samples) == KEPT(expected)


def test_nist_is_that_of_nltk() -> None:
    expected = corpus_nist(
        [[reference.split() for reference in sample.references] for sample in SAMPLES],
        [sample.output.split() for sample in SAMPLES],
    )
    assert Nist(tokenize="whitespace").score_corpus(SAMPLES) == KEPT(expected, abs=1e-9)


def test_nist_of_nothing_is_0() -> None:
    assert Nist().score_corpus([Sample(output="", references=("",))]) == 0.0


def test_unknown_options_are_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="one of add-k, exp, floor, none; got 'x'"):
        Bleu(smoothing="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tokenize must be one of 13a"):
        Nist(tokenize="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="char_order must be at least 1, got 0"):
        Chrf(char_order=0)
    with pytest.raises(ValueError, match="beta must be above 0"):
        Chrf(beta=0)
