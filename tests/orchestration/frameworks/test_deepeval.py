"""The metric of deepeval scores from 0 to 1; without a verdict it has an error and no score."""

import os

import pytest
from fakes.installed import is_absent

if is_absent("deepeval"):
    pytest.skip("deepeval is not installed: just frameworks", allow_module_level=True)

from deepeval import assert_test, evaluate
from deepeval.config.settings import get_settings
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.test_case import LLMTestCase, RetrievedContextData

from spanjury.frameworks import SpanjuryMetric

COPIED = pytest.approx(4.36, abs=0.01)
"""Score of a sentence beside itself, by the rules alone."""

SOURCE = "The bridge opened in 1932."
SOUND = LLMTestCase(input=SOURCE, actual_output=SOURCE)
WRONG = LLMTestCase(input=SOURCE, actual_output="The bridge opened in 1935.")
QUIET = {
    "display_config": DisplayConfig(
        print_results=False, show_indicator=False, inspect_after_run=False
    ),
    "cache_config": CacheConfig(write_cache=False),
}


def metric(aspect: str = "consistency", threshold: float | None = 0.75) -> SpanjuryMetric:
    return SpanjuryMetric(aspect, judges=["grounding"], threshold=threshold)


def test_nothing_is_reported_to_the_makers_of_deepeval() -> None:
    assert get_settings().DEEPEVAL_TELEMETRY_OPT_OUT
    assert "CONFIDENT_API_KEY" not in os.environ


def test_the_best_score_is_1_and_passes() -> None:
    judged = metric()
    assert judged.measure(SOUND) == pytest.approx(0.84, abs=0.01)
    assert judged.is_successful()
    assert judged.score_breakdown == {"consistency": COPIED}


def test_an_error_lowers_the_score_and_the_reason_shows_it() -> None:
    judged = metric()
    score = judged.measure(WRONG)
    assert score is not None
    assert score == pytest.approx((judged.score_breakdown["consistency"] - 1) / 4)
    assert not judged.is_successful()
    assert '"1935" (severity 4)' in str(judged.reason)


def test_the_contexts_are_passages_and_the_evidence_says_which() -> None:
    judged = metric()
    passages = ["The tower is old.", RetrievedContextData(context=SOURCE, source="a guide")]
    question = "When did the bridge open?"
    judged.measure(
        LLMTestCase(input=question, actual_output="In 1935.", retrieval_context=passages)
    )
    assert "Context [2]" in str(judged.reason)


def test_without_a_verdict_there_is_an_error_and_no_score() -> None:
    judged = metric("fluency")
    assert judged.measure(SOUND) is None
    assert judged.score is None
    assert judged.score_breakdown == {}
    assert not judged.is_successful()
    assert "no score (abstained)" in str(judged.error)


def test_a_metric_that_is_used_again_forgets_the_error_before() -> None:
    judged = metric()
    judged.measure(LLMTestCase(input="", actual_output=SOURCE))
    judged.measure(SOUND)
    assert (judged.error, judged.is_successful()) == (None, True)


@pytest.mark.parametrize("run_async", [True, False])
def test_a_run_goes_on_after_a_text_without_a_score(run_async: bool) -> None:
    run = evaluate(
        [SOUND, WRONG],
        [metric(threshold=0.5), metric("fluency", threshold=0.5)],
        async_config=AsyncConfig(run_async=run_async),
        **QUIET,
    )
    by_name = {result.name: result.metrics_data or [] for result in run.test_results}
    assert [
        [(one.score is None, one.success, one.error is None) for one in by_name[name]]
        for name in ("test_case_0", "test_case_1")
    ] == [[(False, True, True), (True, False, False)], [(False, False, True), (True, False, False)]]


def test_deepeval_asserts_by_the_metric() -> None:
    assert_test(SOUND, [metric()])
    with pytest.raises(AssertionError, match="1935"):
        assert_test(WRONG, [metric()])
    with pytest.raises(AssertionError, match="score: None.*abstained"):
        assert_test(SOUND, [metric("fluency")])
