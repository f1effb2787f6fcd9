"""Metrics side by side: in chunks, in processes and threads, and put together again."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from anyio import create_task_group, move_on_after
from fakes.metrics import Broken, Overlap, Process, Share, Whole, card

from spanjury.judges.core import DataError, Metric, MetricCard, MetricError, Sample
from spanjury.judges.metrics.edits.character import Wer
from spanjury.judges.metrics.named import NamedMetric, Over, check_samples
from spanjury.judges.metrics.scores import (
    MetricScores,
    corpus_intervals,
    measured,
    put_together,
    run_metrics,
)

ANY = card()


def named(metric: Metric, card: MetricCard = ANY) -> NamedMetric:
    return NamedMetric(name="it", metric=metric, card=card)


def texts(count: int) -> list[Sample]:
    return [Sample(output="a" * (index % 7) + "b") for index in range(count)]


async def test_a_corpus_in_chunks_gets_the_scores_of_the_whole() -> None:
    samples = texts(2500)
    (scores,) = await run_metrics([named(Share())], samples, workers=2)
    assert scores.corpus == Share().score_corpus(samples)
    assert scores.segments == tuple(Share().score_segments(samples))


async def test_python_metrics_work_in_other_processes_and_compiled_ones_in_this_one() -> None:
    python, native = await run_metrics(
        [named(Process()), named(Process(), card(runs="native"))], texts(1500), workers=2
    )
    assert python.segments is not None
    assert native.segments is not None
    assert os.getpid() not in map(int, python.segments)
    assert set(native.segments) == {float(os.getpid())}


async def test_results_come_in_the_order_of_the_metrics_and_are_shown_as_they_are_done() -> None:
    shown: list[MetricScores] = []
    asked = [named(Share()), named(Whole())]
    scores = await run_metrics(asked, texts(3), show=shown.append)
    assert ([score.named for score in scores], len(shown), scores[1].corpus) == (asked, 2, 3.0)
    assert scores[1].segments is None


async def test_an_error_of_a_metric_ends_the_run_unchanged() -> None:
    with pytest.raises(MetricError, match="too many"):
        await run_metrics([named(Share()), named(Broken())], texts(3))


async def test_a_run_can_be_cancelled_at_any_time() -> None:
    with move_on_after(0) as scope:
        async with create_task_group() as group:
            group.start_soon(run_metrics, [named(Process())], texts(1500))
    assert scope.cancelled_caught


def test_missing_references_name_the_metric_and_the_row() -> None:
    samples = [Sample(output="x", references=("y",)), Sample(output="x"), Sample(output="z")]
    with pytest.raises(DataError, match=r"'it' needs references, and row 'b' and 1 more have none"):
        check_samples(named(Overlap(), card(references="one")), samples, ids=["a", "b", "c"])
    with pytest.raises(DataError, match="needs a source, and row 'a' and 2 more have none"):
        check_samples(named(Share(), card(needs_source=True)), samples, ids=["a", "b", "c"])
    with pytest.raises(DataError, match="needs a source, and row 'a' has none"):
        check_samples(named(Share(), card(needs_source=True)), samples[:1], ids=["a"])


@pytest.mark.parametrize(("over", "score"), [("best", 1.0), ("mean", 0.5), ("worst", 0.0)])
def test_the_requested_one_of_several_references_counts(over: Over, score: float) -> None:
    metric = NamedMetric(name="it", metric=Overlap(), card=card(references="one"), over_refs=over)
    assert measured(metric, [Sample(output="abc", references=("abc", "xyz"))]).segments == (score,)
    assert metric.signature.endswith(f"|over_refs:{over}")


WER = replace(card(references="one"), direction="lower", high=math.inf)


@pytest.mark.parametrize(("over", "rate"), [("best", 3 / 15), ("mean", 6 / 17), ("worst", 9 / 18)])
def test_a_corpus_with_several_references_is_scored_from_sums(over: Over, rate: float) -> None:
    metric = NamedMetric(name="it", metric=Wer(), card=WER, over_refs=over)
    wrong = ("x y z a b c", "p q r s t u")
    samples = [
        Sample(output="a b c d e f g h i", references=("a b c d e f g h i",)),
        Sample(output="x y z", references=("x y z", *wrong)),
        Sample(output="p q", references=("x y z", "x y z")),
    ]
    for sample in samples[:1], samples[1:]:
        assert measured(metric, sample).statistics is not None
    scores = put_together(metric, [measured(metric, samples)])
    assert scores.corpus == pytest.approx(rate)


def test_a_reference_given_twice_changes_no_score() -> None:
    outputs, references = ["a b c d e f g h i j", "x"], ["a b c d e f g h i k", "y z"]
    metric = NamedMetric(name="it", metric=Wer(), card=WER)
    for copies in (1, 2):
        samples = [
            Sample(output=o, references=(r,) * copies)
            for o, r in zip(outputs, references, strict=True)
        ]
        assert put_together(metric, [measured(metric, samples)]).corpus == 3 / 12


def test_parts_of_a_corpus_are_scored_from_its_sums() -> None:
    scores = put_together(named(Share()), [measured(named(Share()), texts(7))])
    assert scores.corpus_of([6, 6]) == 6 / 7
    whole = put_together(named(Whole()), [measured(named(Whole()), texts(7))])
    assert whole.corpus_of([1]) is None


def test_an_interval_holds_the_corpus_score_and_is_the_same_again() -> None:
    scores = put_together(named(Share()), [measured(named(Share()), texts(200))])
    (interval,) = corpus_intervals([scores], draws=300)
    assert interval is not None
    low, high = interval
    assert low < scores.corpus < high
    few = put_together(named(Share()), [measured(named(Share()), texts(50))])
    beside_others = corpus_intervals([few, scores, scores], draws=300)
    assert beside_others[1:] == [interval, interval]


def test_segments_of_one_source_are_resampled_together() -> None:
    (once,) = corpus_intervals(
        [put_together(named(Share()), [measured(named(Share()), texts(40))])]
    )
    copies = put_together(named(Share()), [measured(named(Share()), [*texts(40)] * 10)])
    sources = [f"{number:02}" for number in range(40)] * 10
    (together,) = corpus_intervals([copies], sources=sources)
    assert together == pytest.approx(once)
    with pytest.raises(ValueError, match="one cluster of each of 400 items"):
        corpus_intervals([copies], sources=["a"])


def test_a_metric_that_takes_a_corpus_as_a_whole_has_no_interval() -> None:
    whole = put_together(named(Whole()), [measured(named(Whole()), texts(7))])
    assert corpus_intervals([whole]) == [None]


def test_undefined_segments_are_not_in_an_interval_but_in_the_score() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Gaps:
        signature: str = "gaps"

        def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
            return [math.nan, *(1.0 for _ in samples[1:])]

    scores = put_together(named(Gaps()), [measured(named(Gaps()), texts(5))])
    assert math.isnan(scores.corpus)
    assert corpus_intervals([scores], draws=50) == [(1.0, 1.0)]
    assert [*scores.remarks()] == ["it is undefined for 1 of 5 texts"]


@pytest.mark.parametrize("score", [math.inf, -math.inf])
def test_an_infinite_score_is_an_error(score: float) -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Unbounded:
        signature: str = "unbounded"

        def score_segments(self, samples: Sequence[Sample], /) -> list[float]:
            return [score for _ in samples]

    with pytest.raises(MetricError, match=f"metric 'it' gave {score}: a score is a finite number"):
        measured(named(Unbounded()), texts(2))


def test_scores_beyond_the_bounds_of_the_card_are_counted() -> None:
    narrow = named(Whole(), replace(ANY, low=0.0, high=2.0))
    whole = put_together(narrow, [measured(narrow, texts(3))])
    assert [*whole.remarks()] == ["it is not within 0 to 2, as its card says, for 1 of 1 corpus"]
    rounded = replace(whole, corpus=2.0 + 1e-12)
    assert not [*rounded.remarks()]
