"""The evaluator of pydantic-evals scores data sets and live functions, and never a failure."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from fakes.installed import is_absent

if is_absent("pydantic_evals"):
    pytest.skip("pydantic-evals is not installed: just frameworks", allow_module_level=True)

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EvaluationResult, EvaluatorContext, EvaluatorFailure
from pydantic_evals.online import OnlineEvalConfig, wait_for_evaluations
from pydantic_evals.reporting import EvaluationReport, ReportCase

from spanjury import open_panel
from spanjury.frameworks import SpanjuryEvaluator

COPIED = pytest.approx(4.36, abs=0.01)
"""Score of a sentence beside itself, by the rules alone."""

SOURCE = "The bridge opened in 1932."
Report = EvaluationReport[object, str, object]
Given = Dataset[object, str, object]


async def write(inputs: object) -> str:
    return "The bridge opened in 1935." if inputs != SOURCE else SOURCE


def evaluated(aspects: str | Sequence[str], *inputs: object) -> list[ReportCase]:
    evaluator = SpanjuryEvaluator(aspects=aspects, judges=["grounding"])
    cases = [Case(name=str(number), inputs=one) for number, one in enumerate(inputs)]
    given = Given(name="bridges", cases=cases, evaluators=[evaluator])
    return sorted(given.evaluate_sync(write, progress=False).cases, key=lambda case: case.name)


def test_a_sound_text_has_the_best_score_and_is_ok() -> None:
    (case,) = evaluated("consistency", SOURCE)
    assert case.scores["consistency"].value == COPIED
    assert case.assertions["consistency_ok"].value is True


def test_an_error_is_an_assertion_that_fails_with_the_spans_for_its_reason() -> None:
    (case,) = evaluated("consistency", {"Article": SOURCE, "temperature": 0.3})
    assert case.scores["consistency"].value < 3
    failed = case.assertions["consistency_ok"]
    assert failed.value is False
    assert failed.reason is not None
    assert '"1935" (severity 4)' in failed.reason
    assert f'Article: "{SOURCE}"' in failed.reason


def test_an_aspect_without_a_score_has_a_label_and_neither_score_nor_assertion() -> None:
    (case,) = evaluated(["consistency", "fluency"], SOURCE)
    assert (set(case.scores), set(case.assertions)) == ({"consistency"}, {"consistency_ok"})
    assert case.labels["fluency_unscored"].value == "abstained"
    assert "not about what the inputs support" in str(case.labels["fluency_unscored"].reason)
    assert case.evaluator_failures == []


def test_a_text_without_any_score_is_a_failure_of_the_evaluator() -> None:
    without_source, of_a_number = evaluated("consistency", None, 3)
    assert without_source.scores == of_a_number.scores == {}
    assert without_source.assertions == of_a_number.assertions == {}
    assert (
        "consistency has no score: abstained" in without_source.evaluator_failures[0].error_message
    )
    assert "add a `source_of`" in of_a_number.evaluator_failures[0].error_message


def test_the_average_is_of_the_texts_that_have_a_score() -> None:
    cases = evaluated("consistency", SOURCE, None)
    average = EvaluationReport(name="", cases=cases).averages()
    assert average is not None
    assert average.scores == {"consistency": COPIED}


def test_a_data_set_with_the_evaluator_is_saved_and_loaded(tmp_path: Path) -> None:
    evaluator = SpanjuryEvaluator(aspects="consistency", judges=["grounding"])
    given = Given(name="bridges", cases=[Case(inputs=SOURCE)], evaluators=[evaluator])
    given.to_file(tmp_path / "bridges.yaml", custom_evaluator_types=[SpanjuryEvaluator])
    loaded = Given.from_file(tmp_path / "bridges.yaml", custom_evaluator_types=[SpanjuryEvaluator])
    assert loaded.evaluators == [evaluator]
    assert (
        loaded.evaluate_sync(write, progress=False).cases[0].scores["consistency"].value == COPIED
    )


def test_an_open_panel_is_shared_by_the_cases() -> None:
    async def scores() -> list[object]:
        async with open_panel(judges=["grounding"]) as panel:
            given = Given(
                name="bridges",
                cases=[Case(inputs=SOURCE), Case(inputs=SOURCE)],
                evaluators=[SpanjuryEvaluator(aspects="consistency", panel=panel)],
            )
            report = await given.evaluate(write, progress=False)
        return [case.scores["consistency"].value for case in report.cases]

    assert anyio.run(scores) == [COPIED, COPIED]


def test_a_live_function_is_judged_behind_its_back() -> None:
    taken: list[EvaluationResult] = []

    def take(
        results: Sequence[EvaluationResult],
        failures: Sequence[EvaluatorFailure],
        context: EvaluatorContext,
    ) -> None:
        assert (list(failures), context.output) == ([], "The bridge opened in 1935.")
        taken.extend(results)

    online = OnlineEvalConfig(default_sink=take)

    @online.evaluate(SpanjuryEvaluator(aspects="consistency", judges=["grounding"]))
    async def summarize(article: str, words: int) -> str:
        assert (article, words) == (SOURCE, 5)
        return "The bridge opened in 1935."

    async def serve() -> None:
        await summarize(SOURCE, words=5)
        await wait_for_evaluations()

    anyio.run(serve)
    assert [(one.name, one.value) for one in taken if isinstance(one.value, bool)] == [
        ("consistency_ok", False)
    ]
