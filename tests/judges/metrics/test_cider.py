"""CIDEr and CIDEr-D: worked values, and the loops of their definition."""

import math
from collections import Counter

import pytest
from fakes.metric_texts import varied_samples

from spanjury.judges.core import Sample
from spanjury.judges.metrics.overlap.cider import Cider, CiderD

SAMPLES = varied_samples(80, references=4)
ORDERS = range(1, 5)


def slow_cider(samples: list[Sample], *, clipped: bool) -> list[float]:
    """Follow Vedantam et al. (2015), section 3 and 8, n-gram by n-gram."""
    held = Counter(
        gram
        for sample in samples
        for gram in {
            gram for reference in sample.references for n in ORDERS for gram in grams(reference, n)
        }
    )

    def vector(text: str, n: int) -> dict[tuple[str, ...], float]:
        return {
            gram: count * math.log(len(samples) / max(1, held[gram]))
            for gram, count in Counter(grams(text, n)).items()
        }

    def similarity(output: str, reference: str, n: int) -> float:
        ours, theirs = vector(output, n), vector(reference, n)
        norms = math.hypot(*ours.values()) * math.hypot(*theirs.values())
        common = ours.keys() & theirs.keys()
        product = sum(
            (min(ours[gram], theirs[gram]) if clipped else ours[gram]) * theirs[gram]
            for gram in common
        )
        apart = len(output.split()) - len(reference.split())
        return (math.exp(-(apart**2) / 72) if clipped else 1.0) * (
            product / norms if norms else 0.0
        )

    return [
        10.0
        * sum(
            similarity(reference.output, other, n) for other in reference.references for n in ORDERS
        )
        / (4 * len(reference.references))
        for reference in samples
    ]


def grams(text: str, n: int) -> list[tuple[str, ...]]:
    words = text.split()
    return [tuple(words[at : at + n]) for at in range(len(words) - n + 1)]


def test_values_are_those_of_the_definition() -> None:
    cider = Cider(tokenize="whitespace").score_segments(SAMPLES)
    assert cider == pytest.approx(slow_cider(SAMPLES, clipped=False), abs=1e-9)
    cider_d = CiderD(tokenize="whitespace").score_segments(SAMPLES)
    assert cider_d == pytest.approx(slow_cider(SAMPLES, clipped=True), abs=1e-9)


def test_values_are_those_of_pycocoevalcap() -> None:
    # pycocoevalcap 1.2, Cider().compute_score of these three samples
    samples = [
        Sample(output="a cat sat on the mat", references=("a cat sat on a mat", "the cat sat")),
        Sample(output="a dog ran", references=("a dog ran away from home",)),
        Sample(output="birds birds sing", references=("birds sing songs", "the birds sing")),
    ]
    expected = [4.132486233369381, 3.921304326980044, 2.6604466894157985]
    assert CiderD(tokenize="whitespace").score_segments(samples) == pytest.approx(
        expected, abs=1e-9
    )


def test_an_output_equal_to_its_reference_has_the_best_score_if_it_is_long_enough() -> None:
    samples = [
        Sample(output="a red fox jumps", references=("a red fox jumps",)),
        Sample(output="a", references=("a",)),
    ]
    assert Cider().score_segments(samples) == pytest.approx([10.0, 0.0])


def test_a_batch_of_one_has_no_rare_words() -> None:
    sample = Sample(output="a cat", references=("a cat",))
    assert Cider().score_segments([sample]) == [0.0]


def test_case_and_punctuation_do_not_count_unless_wanted() -> None:
    samples = [
        Sample(output="A cat!", references=("a cat",)),
        Sample(output="x", references=("y",)),
    ]
    assert CiderD(max_order=2).score_segments(samples)[0] == pytest.approx(10.0)
    assert CiderD(max_order=2, tokenize="whitespace").score_segments(samples)[0] == 0.0


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="tokenize must be one of whitespace, words"):
        Cider(tokenize="x")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sigma must be above 0"):
        CiderD(sigma=0.0)
