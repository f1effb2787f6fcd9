"""BLEU, chrF and NIST: worked values, and those of the libraries that define them."""

import math
import warnings
import zipfile
from pathlib import Path
from statistics import fmean

import nltk.data
import pytest
from fakes.metric_texts import varied_samples
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import SmoothingFunction, corpus_bleu, sentence_bleu
from nltk.translate.meteor_score import meteor_score
from nltk.translate.nist_score import corpus_nist
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from spanjury.judges.core import ConfigError, CorpusMetric, MergeableMetric, Sample, SegmentMetric
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
from spanjury.judges.metrics.overlap.meteor import Meteor, read_wordnet
from spanjury.judges.metrics.reference_free.diversity import DistinctN, SelfBleu

SAMPLES = varied_samples(250, references=3)
ONE_EACH = varied_samples(250)
OUTPUTS = [sample.output for sample in ONE_EACH]
REFERENCES = [[sample.references[0] for sample in ONE_EACH]]
KEPT = pytest.approx
TEXTS = st.lists(st.text(alphabet=st.sampled_from("ab cdé.\ud800"), max_size=30), min_size=1)
WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=12)
# Two synsets in the format of wndb(5WN): car and auto; glad and happy.
CARS = "00000054 06 n 03 car 0 motor_car 0 auto 0 000 | a vehicle\n"
GLAD = "00000054 00 a 02 glad(p) 0 Happy 0 000 | pleased\n"
LICENCE = "  1 This is WordNet 3.0 in five words, made for tests\n"


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


@pytest.fixture(scope="module")
def wordnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "wordnet"
    folder.mkdir()
    for part in ("noun", "verb", "adj", "adv"):
        for name in (f"index.{part}", f"data.{part}", f"{part}.exc"):
            (folder / name).write_text("" if name.endswith("exc") else LICENCE)
    assert len(LICENCE) == 54
    (folder / "data.noun").write_text(LICENCE + CARS)
    (folder / "data.adj").write_text(LICENCE + GLAD)
    lines = [f"{word} n 1 0 1 0 00000054\n" for word in ("auto", "car", "motor_car")]
    (folder / "index.noun").write_text(LICENCE + "".join(lines))
    lines = [f"{word} a 1 1 ! 1 0 00000054\n" for word in ("glad", "happy")]
    (folder / "index.adj").write_text(LICENCE + "".join(lines))
    (folder / "adj.exc").write_text("gladdest glad\n")
    return folder


def test_synonyms_are_the_single_words_of_all_synsets(wordnet: Path) -> None:
    read = read_wordnet(wordnet)
    assert read.version == "3.0"
    assert read.synonyms("car") == {"car", "auto"}
    assert read.synonyms("glad") == {"glad", "Happy"}
    assert read.synonyms("tree") == frozenset()


def test_forms_of_a_word_are_found_by_suffix_and_by_exception(wordnet: Path) -> None:
    read = read_wordnet(wordnet)
    assert read.synonyms("cars") == {"car", "auto"}
    assert read.synonyms("gladdest") == {"glad", "Happy"}
    assert read.synonyms("gladder") == frozenset()


def test_an_archive_of_nltk_is_read_as_it_is(
    wordnet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpora").mkdir()
    with zipfile.ZipFile(tmp_path / "corpora" / "wordnet.zip", "w") as archive:
        for file in wordnet.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    sample = Sample(output="one car", references=("an auto",))
    assert Meteor().score_segments([sample])[0] > 0.0
    assert "|wordnet:3.0|" in Meteor().signature


def test_meteor_of_a_worked_example(wordnet: Path) -> None:
    # "the", "stop" by stem, "cars" by synonym (of its stem, as NLTK looks it up):
    # 3 matches in 1 chunk, of 3 and of 4 words
    precision, recall = 3 / 3, 3 / 4
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    expected = (1 - 0.5 * (1 / 3) ** 3) * mean
    sample = Sample(output="the cars stopped", references=("the auto stops now",))
    assert Meteor(wordnet=str(wordnet)).score_segments([sample]) == [pytest.approx(expected)]


class _NoWordNet:
    def synsets(self, _word: str) -> list[object]:
        return []


def test_without_synonyms_it_is_that_of_nltk_without_wordnet() -> None:
    samples = varied_samples(200, references=3)
    expected = [
        meteor_score(
            [reference.split() for reference in sample.references],
            sample.output.split(),
            wordnet=_NoWordNet(),
        )
        for sample in samples
    ]
    metric = Meteor(synonyms=False, tokenize="whitespace")
    assert metric.score_segments(samples) == pytest.approx(expected, abs=1e-12)
    assert "|wordnet:none|" in metric.signature


def test_a_lack_of_wordnet_says_what_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="apt install wordnet-base.*synonyms=false"):
        Meteor(wordnet=str(tmp_path))
    monkeypatch.setattr(nltk.data, "path", [])
    if not Path("/usr/share/wordnet/data.noun").is_file():
        with pytest.raises(ConfigError, match="needs WordNet, which is not in NLTK's data"):
            Meteor()


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="alpha and gamma are shares"):
        Meteor(alpha=2.0, synonyms=False)
    with pytest.raises(ValueError, match="beta must be at least 0"):
        Meteor(beta=-1.0, synonyms=False)
