"""Reductions: one score of several references, in one call."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, MetricCard, MetricError, Sample
from spanjury.judges.metrics.reductions import over_references

CARD = MetricCard(
    name="shared",
    title="Shared letters",
    family="shared",
    category="n-gram overlap",
    summary="…",
    formula="…",
    low=0,
    high=math.inf,
    direction="higher",
    levels=("segment",),
    references="one",
    paper="",
    library="",
    licence="",
    limits="",
    empty="",
    runs="python",
)
RAGGED = [
    Sample(output="abc", references=("abd", "x", "abc")),
    Sample(output="abc", references=("a",)),
]


@dataclass(frozen=True)
class SharedLetters:
    """Counts letters in common, and its calls."""

    signature = "shared"
    calls: list[int] = field(default_factory=list)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        self.calls.append(len(samples))
        return [
            math.nan
            if "?" in sample.references
            else float(len(set(sample.output) & set("".join(sample.references))))
            for sample in samples
        ]


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [("best", [3, 1]), ("worst", [0, 1]), ("mean", [5 / 3, 1]), (sum, [5, 1])],
)
def test_scores_over_references_become_one(reduction: str, expected: list[float]) -> None:
    metric = SharedLetters()
    scores = over_references(metric, RAGGED, card=CARD, reduction=reduction)  # type: ignore[arg-type]
    assert scores == pytest.approx(expected)
    assert metric.calls == [4]


def test_the_best_of_what_is_better_low_is_the_lowest() -> None:
    lower = replace(CARD, direction="lower")
    assert over_references(SharedLetters(), RAGGED, card=lower) == [0, 1]
    assert over_references(SharedLetters(), RAGGED, card=lower, reduction="worst") == [3, 1]


def test_a_metric_of_many_references_or_of_none_takes_samples_as_they_are() -> None:
    many, none = replace(CARD, references="many"), replace(CARD, references="none")
    metric = SharedLetters()
    assert over_references(metric, RAGGED, card=many) == [3, 1]
    assert over_references(metric, [Sample(output="a")], card=none) == [0]
    assert metric.calls == [2, 1]


@pytest.mark.parametrize("references", ["one", "many"])
def test_a_sample_without_a_reference_is_named(references: str) -> None:
    card = replace(CARD, references=references)  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="sample 1 has no reference, and shared needs one"):
        over_references(SharedLetters(), [RAGGED[0], Sample(output="a")], card=card)


@pytest.mark.parametrize("reduction", ["best", "worst", "mean"])
def test_an_undefined_score_leaves_its_reduction_undefined(reduction: str) -> None:
    sample = Sample(output="a", references=("a", "?", "b"))
    (scores,) = over_references(SharedLetters(), [sample], card=CARD, reduction=reduction)  # type: ignore[arg-type]
    assert math.isnan(scores)


def test_neither_direction_has_a_best() -> None:
    neither = replace(CARD, direction="neither")
    with pytest.raises(ConfigError, match="shared has no best score"):
        over_references(SharedLetters(), RAGGED, card=neither)
    scores = over_references(SharedLetters(), RAGGED, card=neither, reduction="mean")
    assert scores == pytest.approx([5 / 3, 1])


def test_unknown_reductions_are_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="'best', 'mean', 'worst'"):
        over_references(SharedLetters(), RAGGED, card=CARD, reduction="median")  # type: ignore[arg-type]


@given(
    st.lists(
        st.lists(st.text(alphabet="abc", max_size=4), min_size=1, max_size=4),
        min_size=1,
        max_size=6,
    )
)
def test_best_mean_and_worst_stand_in_order(references: list[list[str]]) -> None:
    samples = [Sample(output="abc", references=tuple(texts)) for texts in references]
    worst, mean, best = (
        over_references(SharedLetters(), samples, card=CARD, reduction=reduction)
        for reduction in ("worst", "mean", "best")
    )
    assert all(w <= m <= b for w, m, b in zip(worst, mean, best, strict=True))
