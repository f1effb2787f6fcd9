"""Promises of every metric, whoever wrote it: each that can be run offline is put to them.

A law is one test that goes through all metrics, so that a failure names the metric.
"""

import inspect
import math
import pickle
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import get_args

import pytest
from fakes.metric_texts import ODD_TEXTS, varied_samples, wild_samples
from hypothesis import given, settings
from hypothesis import strategies as st

from spanjury.judges.core import ConfigError, CorpusMetric, MergeableMetric, Sample, SegmentMetric
from spanjury.judges.metrics.named import NamedMetric
from spanjury.judges.metrics.overlap.bleu import Nist
from spanjury.judges.metrics.overlap.meteor import Meteor
from spanjury.judges.metrics.overlap.rouge import Rouge1, RougeL, RougeS
from spanjury.judges.metrics.overlap.token_overlap import F1, Accuracy, Precision, Recall
from spanjury.judges.metrics.scores import measured, put_together
from spanjury.orchestration.report.metric_card import card_page, index_page
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
ODD = {*ODD_TEXTS, "   ", "\n", "桥梁于周一关闭。", "הגשר נסגר ביום שני.", "🙂🙃", "a", "!!!", "7"}
SLOW = {"ter", "meteor", "eed"}  # with long texts
PAGES = Path(__file__).parents[3] / "docs" / "metrics"


@cache
def offline() -> tuple[NamedMetric, ...]:
    """Open every metric that can be run here, some with other options besides."""
    others: dict[str, SegmentMetric] = {
        "meteor": Meteor(synonyms=False),
        "rouge-1": Rouge1(stem=True),
        "rouge-l": RougeL(script="unicode"),
        "rouge-s": RougeS(unigrams=True, skip=-1),
    }
    return (
        *map(open_metric, OFFLINE),
        *(
            NamedMetric(name=f"{name}, otherwise", metric=metric, card=CARDS[name])
            for name, metric in others.items()
        ),
    )


def of_segments() -> list[NamedMetric]:
    return [named for named in offline() if isinstance(named.metric, SegmentMetric)]


def comparing() -> list[NamedMetric]:
    return [named for named in of_segments() if named.card.references != "none"]


def sample(output: str, *references: str, source: str = SOURCE) -> Sample:
    return Sample(output=output, references=references or (GOOD,), source=source)


def corpus() -> list[Sample]:
    mixed = GOOD.replace("Monday", "Friday").replace("two", "three")
    return [sample(text) for text in (GOOD, OTHER, mixed, f"{GOOD} {GOOD}", "The bridge.", GOOD)]


def segment_scores(named: NamedMetric, samples: list[Sample]) -> list[float]:
    part = measured(named, samples)
    assert part.segments is not None, named.name
    assert len(part.segments) == len(samples), named.name
    return list(part.segments)


def require_bounds(named: NamedMetric, scores: list[float], *, slack: float = 0.0) -> None:
    for score in scores:
        assert math.isfinite(score), named.name
        assert named.card.low - slack <= score <= named.card.high + slack, named.name


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


def test_a_card_says_something_under_every_heading() -> None:
    for name, card in CARDS.items():
        for heading in ("title", "summary", "formula", "paper", "library", "licence", "limits"):
            assert len(getattr(card, heading).strip()) > 2, (name, heading)
        assert len(card.empty.strip()) > 2, name
        assert bool(card.requires) == bool(card.extra), name


def test_a_metric_that_cannot_be_run_here_says_why() -> None:
    for name in set(NAMES) - set(OFFLINE):
        assert len(availability(CARDS[name])) > 5, name


def test_a_metric_scores_on_the_levels_of_its_card() -> None:
    for named in offline():
        metric, card = named.metric, named.card
        assert isinstance(metric, SegmentMetric) == ("segment" in card.levels), named.name
        assert isinstance(metric, CorpusMetric | SegmentMetric), named.name
        assert "corpus" in card.levels or not isinstance(metric, CorpusMetric), named.name
    for named in comparing():
        assert isinstance(named.metric, MergeableMetric) == ("corpus" in named.card.levels), (
            named.name
        )


def other_values(option: inspect.Parameter) -> Iterator[object]:
    """Yield values that an option may have besides its default."""
    if isinstance(option.default, bool):
        yield not option.default
    elif isinstance(option.default, int | float):
        yield option.default + 1
        yield option.default / 2
    else:
        yield from (value for value in get_args(option.annotation) if value != option.default)


def test_a_signature_has_no_version_of_ours_and_changes_with_every_option() -> None:
    for name in OFFLINE:
        factory = METRICS.get(name)
        usual = open_metric(name).metric.signature
        assert "spanjury" not in usual, name
        for key, option in inspect.signature(factory, eval_str=True).parameters.items():
            changed = []
            for value in other_values(option):
                with suppress(ValueError, ConfigError):
                    changed.append((factory(**{key: value}), value))
            assert all(isinstance(metric, SegmentMetric | CorpusMetric) for metric, _ in changed), (
                name
            )
            others = [metric for metric, value in changed if value != option.default]
            signatures = [getattr(metric, "signature", usual) for metric in others]
            assert usual not in signatures, (name, key)


def test_odd_texts_get_finite_scores_within_bounds() -> None:
    for named in of_segments():
        for text in ODD:
            samples = [
                sample(text),
                sample(GOOD, text),
                sample(text, text),
                sample(text, "a b"),
                sample(text, source=""),
                sample(GOOD, source=text),
            ]
            require_bounds(named, segment_scores(named, samples))


@given(output=st.text(max_size=60), reference=st.text(max_size=60), source=st.text(max_size=60))
@settings(max_examples=25)
def test_any_text_gets_a_score_within_bounds(output: str, reference: str, source: str) -> None:
    for named in of_segments():
        scores = segment_scores(named, [sample(output, reference, source=source)])
        require_bounds(named, scores, slack=1e-9)


@settings(max_examples=40)
@given(single=wild_samples(references=1), several=wild_samples(references=3))
def test_wild_texts_get_scores_within_bounds(single: list[Sample], several: list[Sample]) -> None:
    for named in comparing():
        samples = several if named.card.references == "many" else single
        require_bounds(named, segment_scores(named, samples))
        if isinstance(named.metric, CorpusMetric):
            require_bounds(named, [named.metric.score_corpus(samples)])
    nist = Nist().score_corpus(several)
    assert CARDS["nist"].low <= nist <= CARDS["nist"].high


def test_two_blank_texts_have_the_best_score_and_a_blank_output_a_bad_one() -> None:
    samples = [Sample(output="", references=(" ",)), Sample(output=" ", references=("a b",))]
    for named in comparing():
        card = named.card
        both, output_only = segment_scores(named, samples)
        assert both == card.best, named.name
        worst = {"higher": card.low, "lower": min(card.high, 100.0 if card.name == "ter" else 1.0)}
        assert output_only == worst[card.direction], named.name


def test_a_copy_of_the_reference_is_better_than_another_text() -> None:
    # The references differ, since words that all references have count nothing for CIDEr.
    for named in comparing():
        same, other = segment_scores(named, [sample(GOOD), sample(THIRD, OTHER)])
        assert same > other if named.card.direction == "higher" else same < other, named.name


def test_more_damage_never_looks_better_over_a_corpus() -> None:
    text = "the cat sat on the mat while it was raining outside and nobody came to visit us today"
    words = text.split()
    samples = [
        Sample(output=" ".join([*words[:kept], *["x"] * (len(words) - kept)]), references=(text,))
        for kept in (18, 12, 6, 0)
    ]
    for named in comparing():
        scores = segment_scores(named, [*samples, Sample(output="z", references=("y",))])[:4]
        better = named.card.direction == "higher"
        assert scores == sorted(scores, reverse=better), named.name
        assert scores[0] != scores[3], named.name


@pytest.mark.heavy
def test_a_score_depends_on_the_samples_beside_it_only_where_the_card_says_so() -> None:
    varied = varied_samples(30)
    for named in comparing():
        alone = [segment_scores(named, [metric])[0] for metric in varied]
        assert (segment_scores(named, varied) != alone) == named.card.batch_dependent, named.name
    for named in of_segments():
        if not named.card.batch_dependent:
            alone = [segment_scores(named, [metric])[0] for metric in corpus()]
            assert segment_scores(named, corpus()) == pytest.approx(alone, abs=1e-12), named.name


def test_sums_of_parts_are_the_sums_of_the_whole() -> None:
    samples = corpus()
    mergeable = [named for named in offline() if isinstance(named.metric, MergeableMetric)]
    assert len(mergeable) >= 8
    for named in mergeable:
        assert isinstance(named.metric, MergeableMetric)
        parts = [measured(named, samples[:2]), measured(named, samples[2:])]
        together = put_together(named, parts).corpus
        assert together == pytest.approx(named.metric.score_corpus(samples)), named.name


def test_ragged_references_are_taken() -> None:
    samples = [sample(OTHER, GOOD), sample(GOOD, OTHER, GOOD), sample("", "", GOOD, OTHER)]
    for named in offline():
        scores = put_together(named, [measured(named, samples)])
        assert not math.isnan(scores.corpus), named.name
        assert scores.segments is None or len(scores.segments) == 3, named.name


def test_the_same_texts_get_the_same_scores_again() -> None:
    samples = corpus()
    for name in OFFLINE:
        first, second = (
            put_together(named, [measured(named, samples)])
            for named in (open_metric(name), open_metric(name))
        )
        assert (first.corpus, first.segments) == (second.corpus, second.segments), name


def test_a_metric_can_be_sent_to_another_process() -> None:
    for named in comparing():
        copy = pickle.loads(pickle.dumps(named.metric))
        assert copy.signature == named.metric.signature, named.name
        assert copy.score_segments([]) == [], named.name


def test_long_texts_are_scored() -> None:
    metric = varied_samples(1, seed=1)[0]
    long = Sample(output=metric.output * 40, references=(metric.references[0] * 40,))
    for named in comparing():
        if named.card.name not in SLOW:
            require_bounds(named, segment_scores(named, [long]))


def test_words_of_an_answer_are_compared_as_squad_does() -> None:
    # "cat sat mat" against "cat sat there twice": 2 shared; 2/3, 2/4, 2 * 2 / 7
    answer = Sample(output="The cat sat: a mat.", references=("cat SAT there twice",))
    assert Precision().score_segments([answer]) == [pytest.approx(2 / 3)]
    assert Recall().score_segments([answer]) == [pytest.approx(2 / 4)]
    assert F1().score_segments([answer]) == [pytest.approx(4 / 7)]
    exact = [Sample(output="The  Cat!", references=("a cat",)), answer]
    assert Accuracy().score_segments(exact) == [1.0, 0.0]


def test_every_metric_has_the_page_that_is_made_of_its_card() -> None:
    for name in sorted(CARDS):
        assert (PAGES / f"{name}.md").read_text(encoding="utf-8") == card_page(CARDS[name]), name


def test_there_is_no_page_of_a_metric_that_is_not() -> None:
    assert {page.stem for page in PAGES.glob("*.md")} == {*CARDS, "README"}


def test_the_index_leads_to_every_page() -> None:
    result = (PAGES / "README.md").read_text(encoding="utf-8")
    assert result == index_page(CARDS.values())
    assert all(f"]({name}.md)" in result for name in CARDS)
