"""MAUVE: distributions by hand, and heaps of texts."""

import itertools
import math

import numpy as np
import pytest
from fakes.installed import is_absent

if is_absent("torch"):
    pytest.skip("torch is not installed", allow_module_level=True)

from fakes.tiny_models import WINDOW
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from spanjury.adapters.weights.mauve import MAUVE, frontier_area, histograms
from spanjury.judges.core import Sample

ANIMALS = [
    f"the {a} {verb} on a mat ." for a, verb in itertools.product(("cat", "dogs"), ("sat", "ran"))
]
WEATHER = ["it rained all day long", "it rained and rained", "all day it rained", "long day home"]


def _samples(outputs: list[str], references: list[str]) -> list[Sample]:
    return [Sample(output=a, references=(b,)) for a, b in zip(outputs, references, strict=True)]


def test_the_same_texts_are_no_distance_apart(llama: str) -> None:
    samples = _samples(ANIMALS, ANIMALS[::-1])
    assert MAUVE(model=llama, buckets=3).score_corpus(samples) == 1.0


def test_other_texts_are_far_apart_and_mixed_ones_between(minilm: str) -> None:
    metric = MAUVE(model=minilm, pooling="mean", buckets=2)
    mixed = metric.score_corpus(_samples(ANIMALS[:2] + WEATHER[:2], ANIMALS))
    other = metric.score_corpus(_samples(WEATHER, ANIMALS))
    assert 0 <= other < mixed < 1


def test_references_are_one_heap_in_whatever_order_they_come(llama: str) -> None:
    metric = MAUVE(model=llama, buckets=3)
    ragged = [
        Sample(output=WEATHER[0], references=(ANIMALS[0], WEATHER[1], ANIMALS[1])),
        Sample(output=ANIMALS[2], references=(WEATHER[2],)),
        Sample(output=WEATHER[3]),
    ]
    other = [
        Sample(output=ANIMALS[2], references=(ANIMALS[0],)),
        Sample(output=WEATHER[0], references=(WEATHER[1], ANIMALS[1], WEATHER[2])),
        Sample(output=WEATHER[3]),
    ]
    assert metric.score_corpus(ragged) == pytest.approx(metric.score_corpus(other), abs=1e-9)


def test_the_same_seed_gives_the_same_score(llama: str) -> None:
    samples = _samples(WEATHER + ANIMALS, ANIMALS + ANIMALS[::-1])
    assert MAUVE(model=llama).score_corpus(samples) == MAUVE(model=llama).score_corpus(samples)
    assert "|seed:25|" in MAUVE(model=llama).signature


@pytest.mark.parametrize("outputs", [[""], ["", " "], ["cat", ""]])
def test_empty_texts_are_one_point_of_their_own(llama: str, outputs: list[str]) -> None:
    metric = MAUVE(model=llama)
    assert metric.score_corpus(_samples(outputs, [""] * len(outputs))) <= 1
    assert metric.score_corpus(_samples([""], [" "])) == 1.0


def test_long_texts_are_cut_and_counted(llama: str) -> None:
    metric = MAUVE(model=llama)
    assert metric.cut_texts == 0
    metric.score_corpus(_samples(["cat " * WINDOW * 2], ["cat"]))
    assert metric.cut_texts == 1


def test_the_area_is_the_integral_of_the_frontier() -> None:
    p, q, scale = np.array([0.9, 0.1, 0.0]), np.array([0.3, 0.3, 0.4]), 2.0

    def point(weight: float) -> tuple[float, float]:
        mixture = weight * p + (1 - weight) * q
        held = [(d[d > 0] * np.log(d[d > 0] / mixture[d > 0])).sum() for d in (q, p)]
        return math.exp(-scale * held[0]), math.exp(-scale * held[1])

    def slope(weight: float) -> float:
        step = 1e-6
        return point(weight)[1] * (point(weight - step)[0] - point(weight + step)[0]) / (2 * step)

    exact = quad(slope, 1e-5, 1 - 1e-5, limit=500)[0]
    assert frontier_area(p, q, scale=scale) == pytest.approx(exact, abs=0.01)


def test_distributions_that_share_nothing_are_far_apart() -> None:
    # KL(p | w p + (1-w) q) is -log w, so that the frontier is x = (1-w)^c, y = w^c, whose
    # integral for c = 5 is 5 B(6, 5) = 5 * 5! 4! / 10! = 1/252.
    assert frontier_area([1, 0], [0, 1], scale=5) == pytest.approx(1 / 252, abs=2e-3)


@given(
    counts=arrays(int, (2, 4), elements=st.integers(0, 5)).filter(lambda a: a.sum(1).all()),
    scale=st.floats(0.1, 10),
)
def test_the_area_is_bounded_and_the_same_both_ways(counts: np.ndarray, scale: float) -> None:
    p, q = counts / counts.sum(axis=1, keepdims=True)
    area = frontier_area(p, q, scale=scale)
    assert 0 <= area <= 1
    assert area == pytest.approx(frontier_area(q, p, scale=scale), abs=1e-9)
    assert frontier_area(p, p, scale=scale) == 1


def test_similar_texts_share_one_bucket() -> None:
    east = [[5.0, 0.1], [3.0, 0.0], [1.0, 0.02]]
    north = [[0.0, 2.0], [0.1, 7.0]]
    p, q = histograms(east + north, north, buckets=2, seed=1)
    assert sorted(p) == pytest.approx([0.4, 0.6])
    assert sorted(q) == pytest.approx([0, 1])
    assert q[np.argmax(p)] == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"pooling": "first"}, "pooling must be one of"),
        ({"buckets": 1}, "buckets must be 0 or from 2"),
        ({"scale": 0.0}, "scale must be above 0"),
    ],
)
def test_odd_options_are_refused(llama: str, options: dict[str, object], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        MAUVE(model=llama, **options)  # type: ignore[arg-type] # wrong on purpose
