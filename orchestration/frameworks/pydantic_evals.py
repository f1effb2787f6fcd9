"""An evaluator for pydantic-evals, for data sets and live functions (`pydantic_evals.online`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import GetPydanticSchema
from pydantic_core.core_schema import any_schema
from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from spanjury.judges.core import ConfigError, Decision, JudgeError, PanelReport
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.frameworks.wording import in_words, no_verdict, texts_of
from spanjury.orchestration.services.judging.check import Source, acheck

# An open panel cannot be serialized, and pydantic must not inspect it.
_OpenPanel = Annotated[Panel, GetPydanticSchema(lambda _source, _handler: any_schema())]


@dataclass(repr=False)
class SpanjuryEvaluator(Evaluator[object, object, object]):
    """Judges the output of a case against its inputs; its fields are as in `spanjury.acheck`.

    For each aspect it returns a score, on the scale of the aspect, and the assertion
    ``<aspect>_ok`` with the errors as its reason. An aspect without a score has neither, but the
    label ``<aspect>_unscored``; if no aspect has a score, it raises an error, as evaluators do.
    """

    aspects: str | Sequence[str] = ()
    task: str | None = None
    panel: _OpenPanel | str | None = None
    judges: Sequence[str] = ()
    models: Sequence[str] = ()

    def source_of(self, context: EvaluatorContext[object, object, object]) -> Source | None:
        """Return the source of the output; override it for inputs of other types.

        From a mapping, such as the arguments of a live function, it takes texts and lists of texts.
        """
        inputs = context.inputs
        if isinstance(inputs, Mapping):
            return texts_of(inputs)
        if inputs is None or isinstance(inputs, str):
            return inputs
        raise ConfigError(f"no source in inputs of type {type(inputs).__name__}: add a `source_of`")

    async def evaluate(
        self, ctx: EvaluatorContext[object, object, object]
    ) -> dict[str, float | EvaluationReason]:
        """Judge the output, which must be a text, on all aspects concurrently."""
        if not isinstance(ctx.output, str):
            raise ConfigError(f"expected a text to judge, got {type(ctx.output).__name__}")
        expected = ctx.expected_output
        report = await acheck(
            ctx.output,
            source=self.source_of(ctx),
            task=self.task,
            aspects=self.aspects,
            references=(expected,) if isinstance(expected, str) else (),
            panel=self.panel,
            judges=self.judges,
            models=self.models,
        )
        if not report.scores:
            raise JudgeError(no_verdict(report))
        return {
            name: value
            for aspect, judged in report.reports.items()
            for name, value in _values(aspect, judged).items()
        }


def _values(aspect: str, report: PanelReport) -> dict[str, float | EvaluationReason]:
    if report.score is None:
        return {f"{aspect}_unscored": EvaluationReason(report.outcome.value, reason=report.reason)}
    if report.decision is None:
        return {aspect: report.score}
    is_ok = EvaluationReason(report.decision is Decision.OK, reason=in_words(report))
    return {aspect: report.score, f"{aspect}_ok": is_ok}
