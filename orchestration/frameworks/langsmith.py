"""An evaluator for LangSmith, whose client is a dependency of langchain-core."""

import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from langsmith.evaluation import EvaluationResult, EvaluationResults, RunEvaluator
from langsmith.schemas import Example, Run

from spanjury.judges.core import ConfigError, PanelReport, check_arguments
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.frameworks.wording import in_words, texts_of
from spanjury.orchestration.services.judging.check import acheck
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.synchronous import run_synchronously
from spanjury.orchestration.wiring.config import PanelConfig


class SpanjuryRunEvaluator(RunEvaluator):
    """Judges the output of a run against the inputs of its example, for `langsmith.evaluate`.

    It returns a feedback for each aspect, with the decision as its value and the errors as its
    comment. For an aspect without a score, the feedback has no score, and the outcome as its value.

    Parameters
    ----------
    output
        Key of the text among the outputs of a run; not needed if there is only one.
    aspects, task, panel, judges, models
        As in `spanjury.acheck`.
    """

    def __init__(
        self,
        aspects: str | Sequence[str] = (),
        *,
        output: str | None = None,
        task: str | None = None,
        panel: Panel | PanelConfig | Path | str | None = None,
        judges: Judges = (),
        models: Models = (),
    ) -> None:
        check_arguments(SpanjuryRunEvaluator.__init__, locals())
        self._output = output
        self._check = partial(
            acheck, aspects=aspects, task=task, panel=panel, judges=judges, models=models
        )

    def evaluate_run(
        self, run: Run, example: Example | None = None, evaluator_run_id: uuid.UUID | None = None
    ) -> EvaluationResults:
        """Judge the output of a run."""
        return run_synchronously(lambda: self.aevaluate_run(run, example, evaluator_run_id))

    async def aevaluate_run(
        self, run: Run, example: Example | None = None, evaluator_run_id: uuid.UUID | None = None
    ) -> EvaluationResults:
        """Judge the output of a run, without blocking the event loop."""
        del evaluator_run_id
        source = texts_of((example.inputs if example else None) or run.inputs)
        report = await self._check(self._text(run), source=source)
        results = [_feedback(aspect, judged) for aspect, judged in report.reports.items()]
        return EvaluationResults(results=results)

    def _text(self, run: Run) -> str:
        texts = {key: text for key, text in (run.outputs or {}).items() if isinstance(text, str)}
        key = next(iter(texts)) if self._output is None and len(texts) == 1 else self._output
        if key is None or key not in texts:
            raise ConfigError(f"name the text among the outputs: {', '.join(run.outputs or {})}")
        return texts[key]


def _feedback(aspect: str, report: PanelReport) -> EvaluationResult:
    result = report.outcome if report.score is None else report.decision
    value = None if result is None else result.value
    return EvaluationResult(key=aspect, score=report.score, value=value, comment=in_words(report))
