"""Carburacy: ROUGE, discounted by emissions."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, MergeableMetric, Sample, SegmentMetric
from spanjury.judges.metrics.carburacy import Carburacy

TEXTS = st.text(alphabet=st.sampled_from("ab cé字.\ud800"), max_size=30)
KILOGRAMS = st.floats(0, 1e6)


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
