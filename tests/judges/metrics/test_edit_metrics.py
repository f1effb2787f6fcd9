"""Error rates, TER, CharacTER and EED: worked values, and those of other programs."""

import jiwer
import pytest
from fakes.metric_texts import varied_samples
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein
from sacrebleu.metrics.lib_ter import BeamEditDistance, translation_edit_rate
from sacrebleu.metrics.ter import TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from spanjury.judges.core import MergeableMetric, Sample
from spanjury.judges.metrics.edits import character, eed
from spanjury.judges.metrics.edits.character import (
    Cer,
    Character,
    Wer,
    moved_phrases,
    phrases_cost,
    reordered,
)
from spanjury.judges.metrics.edits.eed import Eed, _spaced
from spanjury.judges.metrics.edits.ter import Ter, band_alignment, fewest_edits
from spanjury.judges.metrics.overlap.bleu import bleu_tokens

SAMPLES = varied_samples(250)
SEVERAL = varied_samples(60, references=3)
both_roads = pytest.mark.usefixtures("_both_roads")
FEW = st.lists(st.sampled_from("abcde"), max_size=20)
LONG = st.lists(st.sampled_from("abcdefghijkl"), min_size=30, max_size=60)
CROWDED = st.text("ab 19.,-'’/&<>\n()_%:;é京\x1f\x00")
ASCII = st.text(st.characters(max_codepoint=127))


@pytest.fixture(params=["compiled, if there was a compiler", "in Python"])
def _both_roads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in Python":
        monkeypatch.setattr(eed, "KERNELS", None)
        monkeypatch.setattr(character, "KERNELS", None)


def pair(output: str, reference: str) -> list[Sample]:
    return [Sample(output=output, references=(reference,))]


def test_error_rates_of_worked_examples() -> None:
    # one word replaced and one added, of three; "ca" for "cat" is one character of three
    assert Wer().score_segments(pair("a x c d", "a b c")) == [pytest.approx(2 / 3)]
    assert Cer().score_segments(pair("ca", "cat")) == [pytest.approx(1 / 3)]
    assert Wer(lowercase=True).score_segments(pair("A B", "a b")) == [0.0]
    assert Cer(lowercase=True).score_segments(pair("A B", "a b")) == [0.0]


def test_error_rates_are_those_of_jiwer() -> None:
    outputs = [sample.output for sample in SAMPLES]
    wanted = [sample.references[0] for sample in SAMPLES]
    each = list(zip(wanted, outputs, strict=True))
    assert Wer().score_segments(SAMPLES) == pytest.approx([jiwer.wer(*sample) for sample in each])
    assert Cer().score_segments(SAMPLES) == pytest.approx([jiwer.cer(*sample) for sample in each])
    assert Wer().score_corpus(SAMPLES) == pytest.approx(jiwer.wer(wanted, outputs))
    assert Cer().score_corpus(SAMPLES) == pytest.approx(jiwer.cer(wanted, outputs))


def test_a_blank_reference_counts_as_one_word_or_character() -> None:
    assert Wer().score_segments(pair("a b", " ")) == [2.0]
    assert Cer().score_segments(pair("ab", "")) == [2.0]


def test_ter_of_a_worked_example() -> None:
    # the phrase "c d" moves (one edit), x is deleted: two edits for four words
    assert Ter().score_segments(pair("c d a b x", "a b c d")) == [pytest.approx(50.0)]


@pytest.mark.parametrize(
    ("metric", "oracle"),
    [
        (Ter(), TER()),
        (Ter(case_sensitive=True, normalize=True), TER(case_sensitive=True, normalized=True)),
        (
            Ter(no_punctuation=True, normalize=True, asian_support=True),
            TER(no_punct=True, normalized=True, asian_support=True),
        ),
    ],
)
def test_ter_is_that_of_sacrebleu(metric: Ter, oracle: TER) -> None:
    expected = [oracle.sentence_score(sample.output, list(sample.references)) for sample in SEVERAL]
    assert metric.score_segments(SEVERAL) == pytest.approx([sample.score for sample in expected])
    outputs, first = (
        [sample.output for sample in SAMPLES],
        [sample.references[0] for sample in SAMPLES],
    )
    corpus = oracle.corpus_score(outputs[:60], [first[:60]]).score
    assert metric.score_corpus(SAMPLES[:60]) == pytest.approx(corpus)


@pytest.mark.parametrize("metric", [Wer(), Cer(), Ter()])
def test_rows_of_shards_add_up_to_the_corpus(metric: MergeableMetric) -> None:
    rows = [*metric.statistics(SAMPLES[:20]), *metric.statistics(SAMPLES[20:60])]
    total = [sum(column) for column in zip(*rows, strict=True)]
    assert metric.score_statistics(total) == metric.score_corpus(SAMPLES[:60])


@both_roads
@pytest.mark.parametrize(
    ("output", "reference", "rate"),
    [
        # "d" moves before "c": one character long, nothing left to edit, seven characters
        ("a b d c", "a b c d", 1 / 7),
        # "a" moves before the second "c"; then there is nothing left, whatever else could move
        ("c c a", "c a c", 1 / 5),
        # nothing to move, one character to replace
        ("abc", "abd", 1 / 3),
        ("same", "same", 0.0),
        # five characters to add, but one is the most
        ("a", "abcdef", 1.0),
        ("", "abc", 1.0),
        ("abc", "", 1.0),
        ("", " ", 0.0),
    ],
)
def test_character_of_worked_examples(output: str, reference: str, rate: float) -> None:
    assert Character().score_segments(pair(output, reference)) == [pytest.approx(rate)]


@both_roads
@pytest.mark.parametrize(
    ("output", "reference", "rate"),
    [
        # The examples that are published with the metric at Hugging Face.
        (
            "this week the saudis denied information published in the new york times",
            "saudi arabia denied this week information published in the american new york times",
            0.36619718309859156,
        ),
        ("this is in fact an estimate", "this is actually an estimate", 0.25925925925925924),
        # Worked by the package cer 1.2.0.
        ("d a b c e a", "a b c d a e", 0.18181818181818182),
        ("the cat and the dog and the bird", "the dog and the cat", 0.59375),
    ],
)
def test_character_has_the_values_of_the_authors_program(
    output: str, reference: str, rate: float
) -> None:
    assert Character().score_segments(pair(output, reference)) == [pytest.approx(rate)]


@both_roads
def test_words_that_are_alike_are_moved() -> None:
    output, reference = ["threes", "a", "b"], ["a", "b", "three"]
    assert reordered(output, reference, likeness=0.0) == ["a", "b", "threes"]  # "a b" moves
    assert reordered(["threes", "a"], ["b", "three"], likeness=0.0) == ["threes", "a"]
    with pytest.raises(ValueError, match="likeness must be from 0 to 1"):
        Character(likeness=2.0)


def test_a_phrase_that_goes_back_costs_the_mean_length_of_its_words() -> None:
    before = ["one", "three", "x", "y"]
    assert phrases_cost(moved_phrases(before, ["x", "y", "one", "three"])) == 4
    assert phrases_cost(moved_phrases(before, before)) == 0
    assert (
        phrases_cost(moved_phrases(["a", "b", "a"], ["a", "b", "a"])) == 0
    )  # what comes again was not moved


def test_every_shift_leaves_fewer_words_to_edit() -> None:
    for sample in SAMPLES:
        output, reference = sample.output.split(), sample.references[0].split()
        after = reordered(output, reference, likeness=0.0)
        assert sorted(after) == sorted(output)
        edits = Levenshtein.distance(output, reference)
        assert Levenshtein.distance(after, reference) < edits or after == output


@both_roads
def test_long_texts_are_shifted_too_and_very_long_ones_are_not() -> None:
    for count, moves in ((300, True), (2_100, False)):
        words = [f"w{number}" for number in range(count)]
        late = [*words[20:], *words[:20]]
        assert (reordered(late, words, likeness=0.0) == words) or not moves
        (rate,) = Character().score_segments(pair(" ".join(late), " ".join(words)))
        assert (rate < 0.01) == moves


def slow_eed(output: str, reference: str) -> float:
    """Work EED out cell by cell, in fifths."""
    output, reference = f" {output} ", f" {reference} "
    visits = [-1] * (len(output) + 1)
    above = [0] + [5] * len(output)
    for sign in reference:
        row: list[int] = []
        for at, cost in enumerate(above):
            same = at and output[at - 1] == sign
            ways = [cost + 5] if not at else [row[-1] + 1, above[at - 1] + 5 * (not same), cost + 5]
            row.append(min(ways))
        nearest = row.index(min(row))
        visits[nearest] += 1
        above = [min(cost, row[nearest] + 10) for cost in row] if sign == " " else row
    coverage = 0.3 * sum(abs(visit) for visit in visits)
    return min(1.0, (above[-1] / 5 + coverage) / (len(reference) + coverage))


@both_roads
def test_eed_is_what_its_recurrence_says_for_pairs_of_all_lengths_at_once() -> None:
    samples = [
        Sample(output=_plain(sample.output), references=(_plain(sample.references[0]),))
        for sample in SAMPLES[:60]
    ]
    expected = [slow_eed(sample.output, sample.references[0]) for sample in samples]
    assert Eed().score_segments(samples) == pytest.approx(expected, abs=1e-12)


def _plain(text: str) -> str:
    kept = "".join(sign for sign in text if sign.isalnum() or sign == " ")
    return " ".join(kept.split()) or "x"


def test_eed_sets_punctuation_apart_but_not_in_numbers_titles_and_abbreviations() -> None:
    expected = " Mr. Li , of the U.S. has 3.5 cats ! Really ? "
    assert _spaced(" Mr. Li, of the U . S . has 3 . 5 cats!  Really ?\n") == expected


def test_eed_refuses_negative_costs() -> None:
    with pytest.raises(ValueError, match="rho must be at least 0"):
        Eed(rho=-0.1)


@both_roads
@pytest.mark.parametrize(
    ("output", "reference", "score"), [("", "", 0.0), ("a", " ", 1.0), ("", "a", 1.0)]
)
def test_eed_of_blank_texts(output: str, reference: str, score: float) -> None:
    assert Eed().score_segments(pair(output, reference)) == [score]


def edits(output: list[str], reference: list[str]) -> int:
    return translation_edit_rate(output, reference)[0]


@given(output=FEW, references=st.lists(FEW, min_size=1, max_size=3))
def test_edits_are_those_of_sacrebleu(output: list[str], references: list[list[str]]) -> None:
    assert fewest_edits(output, references) == min(
        edits(output, reference) for reference in references
    )


@pytest.mark.heavy
@given(output=LONG, reference=LONG)
@settings(max_examples=5)
def test_edits_of_long_texts_agree_with_sacrebleu(output: list[str], reference: list[str]) -> None:
    assert fewest_edits(output, [reference]) == edits(output, reference)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("output", "reference"),
    [
        # thirty words further on than the band is wide: only within it, nothing is alike
        ([*"abcdefghij" * 4], [*"0123456789" * 4, *"abcdefghij" * 4]),
        ([*"0123456789" * 4, *"abcdefghij" * 4], [*"abcdefghij" * 4, *"9876543210" * 4]),
        # more words than sixty times as many
        (["a", "b"], [*"abcdefghij" * 13]),
        ([*"abcdefghij" * 13], ["b", "a"]),
        # each word is everywhere: the search ends with its thousandth shift
        (["a", "b"] * 30, ["b", "a", "a"] * 20),
    ],
)
def test_edits_at_the_borders_agree_with_sacrebleu(output: list[str], reference: list[str]) -> None:
    assert fewest_edits(output, [reference]) == edits(output, reference)


@given(
    output=st.text("abcdef", min_size=1, max_size=80),
    reference=st.text("abcdef", min_size=1, max_size=80),
)
@settings(max_examples=50)
def test_an_alignment_is_that_of_sacrebleu(output: str, reference: str) -> None:
    distance, trace = BeamEditDistance([*reference])([*output])
    alignment = band_alignment(output, reference)
    assert alignment.edits == distance
    # the steps that take a word of the output, and those that take one of the reference
    assert alignment.wrong == [step != " " for step in trace if step != "i"]
    assert alignment.missed == [step != " " for step in trace if step != "d"]


@given(CROWDED | ASCII)
def test_words_are_those_of_sacrebleu(text: str) -> None:
    expected = Tokenizer13a()(text.rstrip()).split()
    assert [*bleu_tokens(text, "13a")] == expected


@given(output=CROWDED, reference=CROWDED)
def test_crowded_marks_have_the_ter_of_sacrebleu(output: str, reference: str) -> None:
    scores = Ter(normalize=True).score_segments([Sample(output=output, references=(reference,))])
    assert scores == [pytest.approx(TER(normalized=True).sentence_score(output, [reference]).score)]
