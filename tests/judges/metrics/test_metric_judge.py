"""The judge made of a metric: its scale, its reductions of several references, its silence."""

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from fakes.metrics import card
from hypothesis import given
from hypothesis import strategies as st

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    Judge,
    JudgeError,
    MetricError,
    Outcome,
    Report,
    Sample,
    Scale,
    Segment,
    Task,
)
from spanjury.judges.metrics.judge import MetricJudge
from spanjury.judges.metrics.named import sample_of
from spanjury.judges.metrics.reductions import over_references
from spanjury.judges.metrics.reference_free.diversity import SelfBleu

TASK = Task(name="summarization", description="…", input_headers={"Article": (), "Guideline": ()})
ASPECT = Aspect(name="relevance", task=TASK, definition="…", kind="content", inputs=("Article",))
CARD = replace(card(), name="length", title="Length", low=0, high=math.inf)
SEGMENT = Segment(
    segment_id="1",
    output="abcde",
    inputs={"Article": "a source", "Guideline": "be short"},
    references=("abc", "abcd"),
)
REDUCED_CARD = replace(card(references="one"), name="shared", low=0, high=math.inf)
RAGGED = [
    Sample(output="abc", references=("abd", "x", "abc")),
    Sample(output="abc", references=("a",)),
]


@dataclass(frozen=True)
class Length:
    """Measures letters of the output, or how many more they are than the reference's."""

    signature = "length"
    compares: bool = False
    seen: list[Sample] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)

    def score_segments(self, samples: Sequence[Sample], /) -> Sequence[float]:
        self.seen.extend(samples)
        self.threads.append(threading.get_ident())
        return [self._score(sample) for sample in samples]

    def _score(self, sample: Sample) -> float:
        if sample.output == "broken":
            raise MetricError("the model is gone")
        if sample.output == "undefined":
            return math.nan
        return float(len(sample.output) - (len(sample.references[0]) if self.compares else 0))


def judge(*, low: float | None = None, high: float | None = 10, **card: object) -> MetricJudge:
    result = replace(CARD, **card)  # type: ignore[arg-type]
    metric = Length(compares=result.references == "one")
    return MetricJudge(metric=metric, card=result, low=low, high=high)


async def judged(by: MetricJudge, **segment: object) -> Report:
    return await by.assess(replace(SEGMENT, **segment), ASPECT)  # type: ignore[arg-type]


def test_it_is_a_judge_whose_signature_tells_metric_and_ends() -> None:
    assert isinstance(judge(), Judge)
    assert judge().signature.startswith("metric|metric:length|options:")
    assert "|low:0|high:10|" in judge().signature
    assert judge(high=9).signature != judge().signature


async def test_a_value_is_laid_on_the_scale_in_a_straight_line() -> None:
    # 5 of 0 to 10 is the middle of 1 to 5.
    report = await judged(judge())
    assert report == Report(score=3, rationale="Length: 5.")
    three = replace(ASPECT, scale=Scale(labels=("bad", "fair", "good")))
    assert (await judge().assess(SEGMENT, three)).score == 2


async def test_a_metric_where_lower_is_better_is_reversed() -> None:
    assert (await judged(judge(direction="lower"), output="ab")).score == pytest.approx(4.2)


async def test_values_beyond_the_ends_count_as_the_ends() -> None:
    assert (await judged(judge(), output="a" * 99)).score == 5
    assert (await judged(judge(low=7))).score == 1
    assert (await judged(judge(low=7, direction="lower"))).score == 5


async def test_the_bounds_of_the_card_are_the_ends_where_none_are_given() -> None:
    bounded = MetricJudge(metric=Length(), card=replace(CARD, high=20))
    assert (await judged(bounded)).score == 2


@pytest.mark.parametrize("length", [6, 10])
async def test_a_value_that_the_card_excludes_is_a_judge_error(length: int) -> None:
    bounded = MetricJudge(metric=Length(), card=replace(CARD, high=5))
    assert (await judged(bounded, output="a" * 5)).score == 5
    reason = f"length is {length} for this text, but its card says that it is 0 to 5"
    with pytest.raises(JudgeError, match=reason):
        await judged(bounded, output="a" * length)


async def test_rounding_takes_a_value_beyond_the_bounds_of_no_card() -> None:
    ends = replace(CARD, low=1, high=5 - 1e-7)
    assert (await judged(MetricJudge(metric=Length(), card=ends))).score == 5
    assert math.inf not in CARD


async def test_the_best_of_several_references_counts() -> None:
    # 5 letters less 3, or less 4.
    assert (await judged(judge(references="one"))).score == pytest.approx(1 + 4 * 0.2)
    lower = judge(references="one", direction="lower")
    assert (await judged(lower)).score == pytest.approx(5 - 4 * 0.1)


async def test_a_metric_of_many_references_takes_them_together() -> None:
    by = judge(references="many")
    await judged(by)
    assert isinstance(by.metric, Length)
    assert by.metric.seen == [Sample(output="abcde", references=("abc", "abcd"), source="a source")]


async def test_it_abstains_where_something_is_missing_that_it_needs() -> None:
    report = await judged(judge(references="one"), references=())
    assert report.outcome is Outcome.ABSTAINED
    assert report.reason == "length needs a reference, and there is none"
    report = await judged(judge(needs_source=True), inputs={"Guideline": "not to be seen"})
    assert report.outcome is Outcome.ABSTAINED
    assert "needs the source" in report.reason


async def test_it_abstains_where_the_value_is_undefined() -> None:
    report = await judged(judge(), output="undefined")
    assert report.outcome is Outcome.ABSTAINED
    assert report.reason == "length is undefined for this text"


async def test_an_unmeasurable_text_is_a_judge_error() -> None:
    with pytest.raises(JudgeError, match="length: the model is gone"):
        await judged(judge(), output="broken")


async def test_an_empty_output_is_worst_where_no_reference_tells_otherwise() -> None:
    assert (await judged(judge(direction="lower"), output=" \n")).score == 1
    alike = judge(references="one", direction="lower")
    assert (await judged(alike, output="", references=("",))).score == 5


@pytest.mark.parametrize(
    ("output", "runs", "apart"),
    [("short", "python", False), ("short", "model", True), ("a" * 2_001, "native", True)],
)
async def test_long_texts_leave_the_event_loop_alone(output: str, runs: str, apart: bool) -> None:
    by = judge(runs=runs)
    await judged(by, output=output)
    assert isinstance(by.metric, Length)
    assert (by.metric.threads != [threading.get_ident()]) is apart


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ({"direction": "neither"}, "length cannot be a judge: it describes"),
        ({"batch_dependent": True}, "depends on the other texts"),
        ({"levels": ("corpus",)}, "answers at the end of a run"),
    ],
)
def test_metrics_that_cannot_judge_a_text_are_refused(card: dict[str, object], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        judge(**card)  # type: ignore[arg-type]


def test_a_metric_of_corpora_alone_is_refused() -> None:
    with pytest.raises(ConfigError, match="scores a corpus as a whole"):
        MetricJudge(metric=SelfBleu(), card=CARD, high=1)  # type: ignore[arg-type]


def test_ends_have_to_be_finite_and_in_order() -> None:
    with pytest.raises(ConfigError, match="length has values from 0 to inf: set low and high"):
        judge(high=None)
    with pytest.raises(ConfigError, match="got 10 and 10"):
        judge(low=10)


@given(st.floats(-1e9, 1e9), st.sampled_from(["higher", "lower"]))
def test_scores_stay_on_the_scale(value: float, direction: str) -> None:
    assert judge(direction=direction)._score(value, scale=Scale()) in Scale()


def test_a_sample_has_all_inputs_as_its_source() -> None:
    assert sample_of(SEGMENT) == Sample(
        output="abcde", references=("abc", "abcd"), source="a source\n\nbe short"
    )


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
    scores = over_references(metric, RAGGED, card=REDUCED_CARD, reduction=reduction)  # type: ignore[arg-type]
    assert scores == pytest.approx(expected)
    assert metric.calls == [4]


def test_the_best_of_what_is_better_low_is_the_lowest() -> None:
    lower = replace(REDUCED_CARD, direction="lower")
    assert over_references(SharedLetters(), RAGGED, card=lower) == [0, 1]
    assert over_references(SharedLetters(), RAGGED, card=lower, reduction="worst") == [3, 1]


def test_a_metric_of_many_references_or_of_none_takes_samples_as_they_are() -> None:
    many, none = replace(REDUCED_CARD, references="many"), replace(REDUCED_CARD, references="none")
    metric = SharedLetters()
    assert over_references(metric, RAGGED, card=many) == [3, 1]
    assert over_references(metric, [Sample(output="a")], card=none) == [0]
    assert metric.calls == [2, 1]


@pytest.mark.parametrize("references", ["one", "many"])
def test_a_sample_without_a_reference_is_named(references: str) -> None:
    card = replace(REDUCED_CARD, references=references)  # type: ignore[arg-type]
    with pytest.raises(MetricError, match="sample 1 has no reference, and shared needs one"):
        over_references(SharedLetters(), [RAGGED[0], Sample(output="a")], card=card)


@pytest.mark.parametrize("reduction", ["best", "worst", "mean"])
def test_an_undefined_score_leaves_its_reduction_undefined(reduction: str) -> None:
    sample = Sample(output="a", references=("a", "?", "b"))
    (scores,) = over_references(SharedLetters(), [sample], card=REDUCED_CARD, reduction=reduction)  # type: ignore[arg-type]
    assert math.isnan(scores)


def test_neither_direction_has_a_best() -> None:
    neither = replace(REDUCED_CARD, direction="neither")
    with pytest.raises(ConfigError, match="shared has no best score"):
        over_references(SharedLetters(), RAGGED, card=neither)
    scores = over_references(SharedLetters(), RAGGED, card=neither, reduction="mean")
    assert scores == pytest.approx([5 / 3, 1])


def test_unknown_reductions_are_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match="'best', 'mean', 'worst'"):
        over_references(SharedLetters(), RAGGED, card=REDUCED_CARD, reduction="median")  # type: ignore[arg-type]


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
        over_references(SharedLetters(), samples, card=REDUCED_CARD, reduction=reduction)
        for reduction in ("worst", "mean", "best")
    )
    assert all(w <= m <= b for w, m, b in zip(worst, mean, best, strict=True))
