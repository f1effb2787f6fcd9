"""Gamma: hand-worked disorder, every alignment as an oracle, and annotators without a clue."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.stats.spans.gamma import MIN_SAMPLES, disorder, gamma, marks, random_pair, text_edges

Span = tuple[int, int]
Text = list[Span]
LENGTH = 20
SPAN = st.tuples(st.integers(0, 14), st.integers(1, 6)).map(lambda drawn: (drawn[0], sum(drawn)))
TEXT = st.lists(SPAN, max_size=4)
TEXTS = st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4)


def cost(span: Span, other: Span) -> float:
    apart = abs(span[0] - other[0]) + abs(span[1] - other[1])
    return (apart / (span[1] - span[0] + other[1] - other[0])) ** 2


def cheapest(first: Text, second: Text) -> float:
    """Try every alignment; None stands for a span left alone."""
    partners = [*second, *[None] * len(first)]
    ways = (
        sum(1 if to is None else cost(span, to) for span, to in zip(first, pairing, strict=True))
        + len(second)
        - sum(to is not None for to in pairing)
        for pairing in permutations(partners, len(first))
    )
    return min(ways)


def observed(first: list[Text], second: list[Text]) -> float:
    edges = text_edges([LENGTH] * len(first))
    return disorder(marks(first, edges), marks(second, edges))


def random_texts(rng: np.random.Generator, texts: int, length: int) -> list[Text]:
    return [
        [
            (int(start), int(start) + int(rng.integers(3, 20)))
            for start in rng.integers(0, length - 20, size=rng.poisson(3))
        ]
        for _ in range(texts)
    ]


def test_disorder_is_as_worked_by_hand() -> None:
    # 0-4 with 1-5: (1 + 1) / 8 squared is 1/16; 10-12 stays alone: 1. Per span: over 3 / 2.
    assert observed([[(0, 4), (10, 12)]], [[(1, 5)]]) == pytest.approx((1 / 16 + 1) / 1.5)


def test_spans_of_different_texts_are_never_aligned() -> None:
    assert observed([[(16, 20)], []], [[], [(0, 4)]]) == 2


@given(TEXTS)
@settings(max_examples=40)
def test_no_alignment_costs_less(texts: list[tuple[Text, Text]]) -> None:
    first, second = ([*side] for side in zip(*texts, strict=True))
    spans = sum(len(span) + len(other) for span, other in texts)
    cost = observed(first, second)
    if spans:
        assert cost == pytest.approx(sum(cheapest(*pair) for pair in texts) / (spans / 2))
        assert 0 <= cost <= 2
        assert cost == pytest.approx(observed(second, first))
    else:
        assert math.isnan(cost)


def test_other_labels_cost_as_much_as_a_span_left_alone() -> None:
    edges = text_edges([LENGTH])
    span = marks([[(0, 4)]], edges, [[0]])
    assert disorder(span, marks([[(0, 4)]], edges, [[1]])) == 1
    assert disorder(span, marks([[(0, 4)]], edges, [[0]])) == 0


def test_the_same_spans_are_full_agreement() -> None:
    texts = random_texts(np.random.default_rng(3), 20, 100)
    agreement = gamma(texts, texts, lengths=[100] * 20, rng=np.random.default_rng(1))
    assert (agreement.gamma, agreement.observed) == (1, 0)
    assert 0 < agreement.expected < 2
    assert 0 < agreement.precision < 0.02


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_annotators_without_a_clue_agree_as_by_chance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = random_texts(rng, 100, 200), random_texts(rng, 100, 200)
    assert abs(gamma(first, second, lengths=[200] * 100, rng=rng).gamma) < 0.07


@pytest.mark.parametrize(
    ("labelled", "observed", "expected"), [(True, 0.8476, 1.1512), (False, 0.6860, 0.8462)]
)
def test_a_text_agrees_with_a_program(*, labelled: bool, observed: float, expected: float) -> None:
    # pygamma-agreement 0.5.9: CombinedCategoricalDissimilarity(alpha=1, beta=1 or 0), its
    # ShuffleContinuumSampler, 1,000 samples. It lets shifted spans hang over the end.
    first = [(0, 10), (20, 30), (35, 50), (60, 64), (70, 90), (100, 120), (140, 150), (180, 200)]
    second = [(1, 9), (22, 30), (34, 40), (41, 50), (72, 95), (105, 119), (160, 168)]
    labels = ([[0, 1, 0, 1, 0, 1, 0, 1]], [[0, 0, 0, 1, 0, 1, 1]])
    agreement = gamma(
        [first],
        [second],
        lengths=[200],
        rng=np.random.default_rng(1),
        labels=labels if labelled else None,
        samples=1_000,
    )
    assert agreement.observed == pytest.approx(observed, abs=1e-4)
    assert agreement.expected == pytest.approx(expected, rel=0.05)


def test_the_nearer_the_spans_the_higher_gamma() -> None:
    texts = random_texts(np.random.default_rng(5), 30, 100)
    disorders = [
        gamma(
            texts,
            [[(start + by, end + by) for start, end in text] for text in texts],
            lengths=[110] * 30,
            rng=np.random.default_rng(1),
        ).gamma
        for by in (0, 1, 3, 9)
    ]
    assert disorders == sorted(disorders, reverse=True)


def test_the_same_seed_gives_the_same_figures() -> None:
    rng = np.random.default_rng(7)
    first, second = random_texts(rng, 10, 100), random_texts(rng, 10, 100)
    once, again = (
        gamma(first, second, lengths=[100] * 10, rng=np.random.default_rng(2)) for _ in range(2)
    )
    assert once == again


def test_nothing_marked_is_nothing_to_agree_on() -> None:
    agreement = gamma([[]], [[]], lengths=[10], rng=np.random.default_rng(1))
    assert math.isnan(agreement.gamma)
    assert math.isnan(agreement.precision)


def test_texts_that_are_marked_as_a_whole_cannot_be_marked_otherwise_by_chance() -> None:
    agreement = gamma([[(0, 9)]], [[(0, 9)]], lengths=[9], rng=np.random.default_rng(1))
    assert agreement.expected == 0
    assert math.isnan(agreement.gamma)


@given(TEXTS, st.integers(0, 2**32 - 1))
def test_random_spans_lie_within_their_texts(texts: list[tuple[Text, Text]], seed: int) -> None:
    first, second = ([*side] for side in zip(*texts, strict=True))
    edges = text_edges([LENGTH] * len(first))
    both = (marks(first, edges), marks(second, edges))
    for span in random_pair(both, edges, np.random.default_rng(seed)):
        assert np.all(span.starts < span.ends)
        assert np.all(edges[span.texts] <= span.starts)
        assert np.all(span.ends <= edges[span.texts + 1])
        assert np.all(np.diff(span.texts) >= 0)
        assert len(span.starts) in {len(side.starts) for side in both}


def test_too_few_samples_are_refused() -> None:
    with pytest.raises(ValueError, match=str(MIN_SAMPLES)):
        gamma([[]], [[]], lengths=[5], rng=np.random.default_rng(1), samples=30)


@pytest.mark.parametrize(
    ("first", "lengths", "labels"),
    [
        ([[(0, 6)]], [5], None),
        ([[], []], [5], None),
        ([[]], [-5], None),
        ([[]], [0], None),
        ([[]], [2.5], None),
        ([[(0, 3)]], [5], ([[0, 1]], [[]])),
        ([[(0, 3)]], [5], ([], [])),
    ],
)
def test_invalid_input_is_refused(
    first: list[Text], lengths: list[int], labels: tuple[list[list[int]], list[list[int]]] | None
) -> None:
    with pytest.raises(ValueError, match="expected"):
        gamma(first, [[]], lengths=lengths, rng=np.random.default_rng(1), labels=labels)
