"""ROUGE: worked values, those of rouge-score, and published correlations."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from fakes.metric_texts import rows_of, varied_samples
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from scipy.stats import kendalltau, spearmanr

from spanjury.judges.core import ConfigError, MergeableMetric, Sample, SegmentMetric
from spanjury.judges.metrics.carburacy import Carburacy
from spanjury.judges.metrics.overlap.rouge import (
    Measure,
    Rouge1,
    Rouge2,
    RougeL,
    RougeLsum,
    RougeS,
    RougeW,
)
from spanjury.judges.metrics.reductions import over_references
from spanjury.orchestration.wiring.metrics import availability, find_card, metric_cards

# rho and tau of each aspect, as published for this data set
AGREEMENT = {
    "coherence": (0.184, 0.139),
    "consistency": (0.187, 0.155),
    "fluency": (0.159, 0.128),
    "relevance": (0.290, 0.219),
}
TEXTS = st.text(alphabet=st.sampled_from("ab cé字.\ud800"), max_size=30)
KILOGRAMS = st.floats(0, 1e6)

LINES = [
    Sample(output=sample.output.replace(". ", ".\n"), references=sample.references)
    for sample in varied_samples(250)
]


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize(
    ("kind", "metric"),
    [("rouge1", Rouge1), ("rouge2", Rouge2), ("rougeL", RougeL), ("rougeLsum", RougeLsum)],
)
def test_values_are_those_of_rouge_score(kind: str, metric: type[Rouge1], *, stem: bool) -> None:
    oracle = RougeScorer([kind], use_stemmer=stem)
    rows = [oracle.score(sample.references[0], sample.output)[kind] for sample in LINES]
    assert metric(stem=stem).score_segments(LINES) == [row.fmeasure for row in rows]
    assert metric(stem=stem, measure="recall").score_segments(LINES) == [row.recall for row in rows]
    precision = metric(stem=stem, measure="precision").score_segments(LINES)
    assert precision == [row.precision for row in rows]


@pytest.mark.parametrize(
    ("kind", "metric", "card"),
    [("rouge1", Rouge1, "rouge-1"), ("rouge2", Rouge2, "rouge-2"), ("rougeL", RougeL, "rouge-l")],
)
def test_the_best_reference_counts_as_in_rouge(kind: str, metric: type[Rouge1], card: str) -> None:
    references = tuple(sample.references[0] for sample in LINES)
    several = [
        replace(sample, references=references[at : at + 3]) for at, sample in enumerate(LINES[:-3])
    ]
    several.append(Sample(output="a b c d e f", references=("a", "a b c d x y")))
    oracle = RougeScorer([kind])
    rows = [oracle.score_multi(sample.references, sample.output)[kind] for sample in several]
    measures: dict[Measure, list[float]] = {
        "recall": [row.recall for row in rows],
        "precision": [row.precision for row in rows],
        "f": [row.fmeasure for row in rows],
    }
    result = metric_cards()[card]
    for measure, values in measures.items():
        sample = metric(measure=measure)
        assert over_references(sample, several, card=result) == values
        assert ("best-f" in sample.signature) == (measure != "f")
    highest = [
        max(
            metric(measure="recall").score_segments([replace(sample, references=(each,))])[0]
            for each in sample.references
        )
        for sample in several
    ]
    assert measures["recall"] != highest  # else nothing was chosen


def test_the_worst_reference_has_the_worst_f_and_the_mean_is_of_all() -> None:
    sample = Sample(output="a b c d e f", references=("a", "a b c d x y"))  # F: 2/7 and 2/3
    result = metric_cards()["rouge-1"]
    recall = Rouge1(measure="recall")
    assert over_references(recall, [sample], card=result, reduction="worst") == [1.0]
    assert over_references(recall, [sample], card=result, reduction="best") == [4 / 6]
    assert over_references(recall, [sample], card=result, reduction="mean") == [(1 + 4 / 6) / 2]


def test_rouge_w_prefers_unbroken_runs_as_in_the_example_of_its_paper() -> None:
    # Lin (2004), section 4: both outputs share ABCD in order; only the first in one run.
    reference = "a b c d e f g"
    outputs = ("a b c d h i k", "a h b k c i d")
    samples = [Sample(output=output, references=(reference,)) for output in outputs]
    ratios = ((4**1.2 / 7**1.2) ** (1 / 1.2), (4 / 7**1.2) ** (1 / 1.2))
    assert RougeW().score_segments(samples) == pytest.approx(list(ratios))


def test_rouge_w_without_weight_is_rouge_l() -> None:
    expected = pytest.approx(RougeL(stem=True).score_segments(LINES))
    assert RougeW(weight=1.0, stem=True).score_segments(LINES) == expected


def test_rouge_w_is_what_the_recurrence_of_its_paper_says() -> None:
    metric = RougeW(measure="recall")
    for sample, score in zip(LINES[:60], metric.score_segments(LINES[:60]), strict=True):
        output, reference = sample.output.lower(), sample.references[0].lower()
        if True:
            words = [
                RougeScorer(["rouge1"])._tokenizer.tokenize(text) for text in (output, reference)
            ]
            length = _weighted_length(*words) ** (1 / 1.2)
            assert score == pytest.approx(length / max(1, len(words[1])))


def _weighted_length(output: list[str], reference: list[str]) -> float:
    score = np.zeros((len(output) + 1, len(reference) + 1))
    run = np.zeros(score.shape, dtype=int)
    for i, ours in enumerate(output, start=1):
        for j, theirs in enumerate(reference, start=1):
            if ours == theirs:
                k = run[i - 1, j - 1]
                score[i, j] = score[i - 1, j - 1] + (k + 1) ** 1.2 - k**1.2
                run[i, j] = k + 1
            else:
                score[i, j] = max(score[i - 1, j], score[i, j - 1])
    return float(score[-1, -1])


def test_rouge_s_of_the_example_of_its_paper() -> None:
    # Lin (2004), section 5: 3, 1 and 2 of 6 pairs are shared.
    reference = "police killed the gunman"
    outputs = ("police kill the gunman", "the gunman kill police", "the gunman police killed")
    samples = [Sample(output=output, references=(reference,)) for output in outputs]
    expected = [3 / 6, 1 / 6, 2 / 6]
    assert RougeS(skip=-1).score_segments(samples) == pytest.approx(expected)


def test_rouge_s_that_skips_nothing_is_rouge_2() -> None:
    assert RougeS(skip=0).score_segments(LINES) == pytest.approx(Rouge2().score_segments(LINES))


def test_single_words_count_where_they_are_wanted() -> None:
    # No pair is shared; one of 2 words and 1 pair is.
    sample = Sample(output="a b", references=("c b",))
    assert RougeS().score_segments([sample]) == [0.0]
    assert RougeS(unigrams=True).score_segments([sample]) == [pytest.approx(1 / 3)]


def test_other_scripts_are_read_where_they_are_named() -> None:
    samples = [Sample(output="今天天气很好", references=("今天天气不错",))]
    assert Rouge1().score_segments(samples) == [0.0]
    assert Rouge1(script="characters").score_segments(samples) == [pytest.approx(4 / 6)]
    assert RougeS(script="unicode").score_segments(samples)[0] > 0.0


@pytest.mark.parametrize("metric", [Rouge1, Rouge2, RougeL, RougeLsum, RougeS, RougeW])
def test_text_that_cannot_be_stemmed_is_refused(metric: type[Rouge1]) -> None:
    with pytest.raises(ValueError, match="stem is for script english only"):
        metric(stem=True, script="unicode")
    with pytest.raises(ValueError, match="measure must be one of precision, recall, f"):
        metric(measure="x")  # type: ignore[arg-type]


def test_a_weight_below_1_and_a_skip_below_minus_1_are_refused() -> None:
    with pytest.raises(ValueError, match="weight must be from 1"):
        RougeW(weight=0.5)
    with pytest.raises(ValueError, match="skip must be at least -1"):
        RougeS(skip=-2)


@pytest.mark.shared_data
def test_rouge_2_agrees_with_people_as_published(shared_data: Path) -> None:
    """SummEval: mean F over 11 references, mean over documents of correlations in each."""
    folder = shared_data / "scores"
    texts = {row["id"]: row["references"] for row in rows_of(folder / "summeval_docs.jsonl.gz")}
    rows = sorted(rows_of(folder / "summeval_scores.jsonl.gz"), key=lambda row: str(row["doc_id"]))
    pairs = [
        Sample(output=row["output"], references=(reference,))
        for row in rows
        for reference in texts[row["doc_id"]]
    ]
    scores = np.reshape(Rouge2(stem=True).score_segments(pairs), (100, 16, 11)).mean(axis=2)
    for aspect, published in AGREEMENT.items():
        people = np.reshape([row["scores"][aspect] for row in rows], (100, 16))
        varied = [(a, b) for a, b in zip(scores, people, strict=True) if len(set(b)) > 1]
        correlations = [(spearmanr(a, b)[0], kendalltau(a, b)[0]) for a, b in varied]
        assert np.mean(correlations, axis=0) == pytest.approx(published, abs=5e-4)


def sample(output: str, reference: str) -> Sample:
    return Sample(output=output, references=(reference,))


def test_the_value_is_that_of_the_paper_s_formula() -> None:
    # ROUGE-1, -2 and -L of these are 2/3, 1/2 and 2/3: mean 11/18, variance 1/162.
    effectiveness = (11 / 18) / (1 + 1 / 162)
    expected = math.exp(math.log10(effectiveness)) / (1 + 100 * 0.002)
    pair = [sample("the cat sat", "the cat slept")]
    assert Carburacy(emissions_kg=0.002).score_segments(pair) == pytest.approx([expected])


def test_the_emissions_of_training_are_taken_by_the_harmonic_mean() -> None:
    # Of the best effectiveness: 1 / (1 + 100 * .01) = .5 in use, 1 / (1 + 3) = .25 in training.
    metric = Carburacy(emissions_kg=0.01, training_emissions_kg=3)
    pair = [sample("a b c", "a b c")]
    assert metric.score_segments(pair) == pytest.approx([2 * 0.5 * 0.25 / 0.75])


def test_a_text_without_a_match_has_nothing_whatever_it_emitted() -> None:
    metric = Carburacy(emissions_kg=0, training_emissions_kg=0)
    assert metric.score_segments([sample("a", "b"), sample("", "b"), sample("a", " ")]) == [0, 0, 0]


def test_two_empty_texts_are_alike() -> None:
    assert Carburacy(emissions_kg=0).score_segments([sample("", "\n")]) == [1]


def test_a_corpus_has_the_value_of_its_mean_rouge() -> None:
    metric = Carburacy(emissions_kg=0)
    pairs = [sample("a b c", "a b c"), sample("x", "y")]
    assert metric.score_corpus(pairs) == pytest.approx(math.exp(math.log10(0.5)))
    assert isinstance(metric, MergeableMetric)
    assert isinstance(metric, SegmentMetric)


@given(TEXTS, TEXTS, KILOGRAMS, KILOGRAMS | st.none())
def test_values_are_from_0_to_1(
    output: str, reference: str, emissions: float, training: float | None
) -> None:
    metric = Carburacy(emissions_kg=emissions, training_emissions_kg=training)
    (score,) = metric.score_segments([sample(output, reference)])
    assert 0 <= score <= 1


@given(st.tuples(KILOGRAMS, KILOGRAMS))
def test_more_emissions_never_raise_it(emissions: tuple[float, float]) -> None:
    pair = [sample("a b c d", "a b d c")]
    less, more = (Carburacy(emissions_kg=kg).score_corpus(pair) for kg in sorted(emissions))
    assert less >= more


def test_emissions_have_to_be_given() -> None:
    with pytest.raises(ConfigError, match="carburacy:emissions_kg="):
        Carburacy()
    assert availability(find_card("carburacy")).startswith("needs the emissions ")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"emissions_kg": -1}, "0 or more kilograms, got -1"),
        ({"emissions_kg": 0, "training_emissions_kg": math.nan}, "got nan"),
        ({"emissions_kg": 0, "alpha": 1}, "alpha must be above 1, got 1"),
        ({"emissions_kg": 0, "beta": 0}, "above 0, got 0"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Carburacy(**options)


def test_the_signature_tells_the_emissions() -> None:
    assert Carburacy(emissions_kg=0.5).signature.startswith(
        "carburacy|emissions_kg:0.5|training_emissions_kg:None|alpha:10.0|beta:100.0|"
    )
