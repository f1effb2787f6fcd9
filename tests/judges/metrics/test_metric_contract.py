"""What every metric promises, whoever wrote it: each that can be run offline is put to it."""

import inspect
import math
from collections.abc import Iterator
from contextlib import suppress
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, CorpusMetric, MergeableMetric, Sample, SegmentMetric
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.scores import measured, put_together
from spanjury.orchestration.wiring.metrics import availability, metric_cards, open_metric
from spanjury.orchestration.wiring.plugins import METRICS

CARDS = metric_cards()
NAMES = sorted(CARDS)
OFFLINE = [name for name in NAMES if not availability(CARDS[name])]
GOOD = "The old bridge was closed on Monday because two of its pillars had cracked."
OTHER = "Nobody knows how many students will attend the lecture about deep-sea fishing."
THIRD = "Three cats chase the yellow ball across my kitchen whenever it rains outside."
SOURCE = (
    "The old bridge over the river was closed on Monday morning. Engineers had found that two "
    "of its five pillars were cracked, and said that repairs would take until the spring."
)
ODD = (
    "",
    "   ",
    "\n",
    "桥梁于周一关闭。",
    "הגשר נסגר ביום שני.",
    "🙂🙃",
    "\ud800",
    "a",
    "!!!",
    "7",
)


def sample(output: str, *references: str, source: str = SOURCE) -> Sample:
    return Sample(output=output, references=references or (GOOD,), source=source)


def corpus() -> list[Sample]:
    mixed = GOOD.replace("Monday", "Friday").replace("two", "three")
    return [sample(text) for text in (GOOD, OTHER, mixed, f"{GOOD} {GOOD}", "The bridge.", GOOD)]


def segment_scores(named: NamedMetric, samples: list[Sample]) -> list[float]:
    part = measured(named, samples)
    assert part.segments is not None
    return list(part.segments)


def scoring_segments() -> Iterator[str]:
    for name in OFFLINE:
        if isinstance(open_metric(name).metric, SegmentMetric):
            yield name


def test_every_plugin_has_a_card_and_every_card_a_plugin() -> None:
    assert METRICS.names() == tuple(NAMES)


def test_the_catalogue_has_the_38_metrics_of_the_paper_and_its_code() -> None:
    assert {CARDS[name].family for name in NAMES} >= {
        *("abstractness", "accuracy", "aun", "bartscore", "bertscore", "bleu", "bleurt", "cer"),
        *("character", "chrf", "cider", "coleman-liau", "comet", "eed", "f1", "flesch"),
        *("gunning-fog", "mauve", "meteor", "moverscore", "nist", "nubia", "perplexity"),
        *("precision", "prism", "repetitiveness", "rouge", "sacrebleu", "ter", "wer", "wmd"),
        *("recall", "coverage", "density", "compression", "nid", "unr", "carburacy"),
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_something_under_every_heading(name: str) -> None:
    card = CARDS[name]
    for heading in ("title", "summary", "formula", "paper", "library", "licence", "limits"):
        assert len(getattr(card, heading).strip()) > 2, heading
    assert len(card.empty.strip()) > 2
    assert bool(card.requires) == bool(card.extra)


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_run_here_says_why(name: str) -> None:
    told = availability(CARDS[name])
    assert name in OFFLINE or len(told) > 5


@pytest.mark.parametrize("name", OFFLINE)
def test_a_metric_scores_on_the_levels_of_its_card(name: str) -> None:
    metric, card = open_metric(name).metric, CARDS[name]
    assert isinstance(metric, SegmentMetric) == ("segment" in card.levels)
    assert isinstance(metric, CorpusMetric | SegmentMetric)
    assert "corpus" in card.levels or not isinstance(metric, CorpusMetric)


def other_values(option: inspect.Parameter) -> Iterator[object]:
    """Yield values that an option may have besides its default."""
    if isinstance(option.default, bool):
        yield not option.default
    elif isinstance(option.default, int | float):
        yield option.default + 1
        yield option.default / 2
    else:
        yield from (value for value in get_args(option.annotation) if value != option.default)


@pytest.mark.parametrize("name", OFFLINE)
def test_a_signature_has_no_version_of_ours_and_changes_with_every_option(name: str) -> None:
    factory = METRICS.get(name)
    usual = open_metric(name).metric.signature
    assert "spanjury" not in usual
    for key, option in inspect.signature(factory, eval_str=True).parameters.items():
        changed = []
        for value in other_values(option):
            with suppress(ValueError, ConfigError):
                changed.append((factory(**{key: value}), value))
        assert all(isinstance(one, SegmentMetric | CorpusMetric) for one, _ in changed)
        usually = option.default
        others = [one for one, value in changed if value != usually]
        assert usual not in [getattr(one, "signature", usual) for one in others], key


@pytest.mark.parametrize("name", list(scoring_segments()))
@pytest.mark.parametrize("output", ODD)
def test_odd_texts_get_finite_scores_within_bounds(name: str, output: str) -> None:
    named = open_metric(name)
    samples = [
        sample(output),
        sample(GOOD, output),
        sample(output, output),
        sample(output, source=""),
        sample(GOOD, source=output),
    ]
    for score in segment_scores(named, samples):
        assert math.isfinite(score)
        assert named.card.low <= score <= named.card.high


@pytest.mark.parametrize("name", list(scoring_segments()))
@given(output=st.text(max_size=60), reference=st.text(max_size=60), source=st.text(max_size=60))
@settings(max_examples=25)
def test_any_text_gets_a_finite_score_within_bounds(
    name: str, output: str, reference: str, source: str
) -> None:
    named = open_metric(name)
    (score,) = segment_scores(named, [sample(output, reference, source=source)])
    assert math.isfinite(score)
    assert named.card.low - 1e-9 <= score <= named.card.high + 1e-9


@pytest.mark.parametrize("name", list(scoring_segments()))
def test_a_copy_of_the_reference_is_no_worse_than_another_text(name: str) -> None:
    named = open_metric(name)
    if named.card.references == "none" or named.card.direction == "neither":
        pytest.skip("it compares with no reference, or judges nothing")
    # The references differ, since words that all references have are worth nothing to CIDEr.
    same, other = segment_scores(named, [sample(GOOD), sample(THIRD, OTHER)])
    assert same > other if named.card.direction == "higher" else same < other


@pytest.mark.parametrize("name", list(scoring_segments()))
def test_a_score_does_not_depend_on_the_samples_beside_it_unless_the_card_says_so(
    name: str,
) -> None:
    named = open_metric(name)
    if named.card.batch_dependent:
        pytest.skip("its card says that it does")
    together = segment_scores(named, corpus())
    alone = [segment_scores(named, [one])[0] for one in corpus()]
    assert together == pytest.approx(alone, abs=1e-12)


@pytest.mark.parametrize("name", OFFLINE)
def test_sums_of_parts_are_the_sums_of_the_whole(name: str) -> None:
    named = open_metric(name)
    if not isinstance(named.metric, MergeableMetric):
        pytest.skip("it has no sums")
    samples = corpus()
    parts = [measured(named, samples[:2]), measured(named, samples[2:])]
    assert put_together(named, parts).corpus == pytest.approx(named.metric.score_corpus(samples))


@pytest.mark.parametrize("name", OFFLINE)
def test_ragged_references_are_taken(name: str) -> None:
    named = open_metric(name)
    samples = [sample(OTHER, GOOD), sample(GOOD, OTHER, GOOD), sample("", "", GOOD, OTHER)]
    scores = put_together(named, [measured(named, samples)])
    assert not math.isnan(scores.corpus)
    assert scores.segments is None or len(scores.segments) == 3


@pytest.mark.parametrize("name", OFFLINE)
def test_the_same_texts_get_the_same_scores_again(name: str) -> None:
    samples = corpus()
    first, second = (
        put_together(named, [measured(named, samples)])
        for named in (open_metric(name), open_metric(name))
    )
    assert (first.corpus, first.segments) == (second.corpus, second.segments)
