"""A metric for deepeval."""

from pathlib import Path

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from spanjury.judges.core import ConfigError, Result, check_arguments
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.frameworks.wording import in_words, why_unscored
from spanjury.orchestration.services.judging.check import Source, acheck
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.synchronous import run_synchronously
from spanjury.orchestration.wiring.config import PanelConfig


class SpanjuryMetric(BaseMetric):
    """Scores the actual output of a test case on the aspect of this name, from 0 to 1.

    0 is the worst of the aspect's scale, 1 the best; ``score_breakdown`` has the score on that
    scale, ``reason`` the decision and the errors. If the panel gives no score, ``score`` is None
    and ``error`` says why: the test case does not pass, and the run continues. `threshold` is the
    lowest score that passes; the other parameters are as in `spanjury.acheck`.
    """

    def __init__(
        self,
        aspect: str,
        *,
        threshold: float | None = 0.75,
        task: str | None = None,
        panel: Panel | PanelConfig | Path | str | None = None,
        judges: Judges = (),
        models: Models = (),
    ) -> None:
        check_arguments(SpanjuryMetric.__init__, locals())
        # deepeval copies a metric by the names of these parameters.
        self.aspect, self.threshold, self.task = aspect, threshold, task
        self.panel, self.judges, self.models = panel, judges, models

    @property
    def __name__(self) -> str:
        """The name in reports."""
        return f"{self.aspect} [spanjury]"

    def measure(self, test_case: LLMTestCase, *_: object, **_shown: object) -> float | None:
        """Judge a test case."""
        return run_synchronously(lambda: self.a_measure(test_case))

    async def a_measure(self, test_case: LLMTestCase, *_: object, **_shown: object) -> float | None:
        """Judge a test case; its contexts become passages of the source."""
        if test_case.actual_output is None:
            raise ConfigError("the test case has no actual output")
        report = await acheck(
            test_case.actual_output,
            source=_source(test_case),
            task=self.task,
            aspects=self.aspect,
            references=[test_case.expected_output] if test_case.expected_output else (),
            panel=self.panel,
            judges=self.judges,
            models=self.models,
        )
        return self._take(report.results[0])

    def _take(self, result: Result) -> float | None:
        score, scale = result.report.score, result.aspect.scale
        self.error = why_unscored(result.report) if score is None else None
        self.reason = in_words(result.report)
        self.score = None if score is None else (score - scale.low) / (scale.high - scale.low)
        self.score_breakdown = {} if score is None else {self.aspect: score}
        self.success = self.is_successful()
        return self.score


def _source(test_case: LLMTestCase) -> Source:
    given = test_case.retrieval_context or test_case.context
    if not given:
        return test_case.input
    passages = [passage if isinstance(passage, str) else passage.context for passage in given]
    return {"Question": test_case.input, "Context": passages}
