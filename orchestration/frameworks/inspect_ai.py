"""A scorer for inspect-ai."""

from collections.abc import Sequence
from math import nan
from pathlib import Path

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from spanjury.judges.core import ConfigError, Outcome, check_arguments
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.frameworks.wording import in_words, texts_of
from spanjury.orchestration.services.judging.check import Source, acheck
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import PanelConfig


@scorer(metrics={"*": [mean(), stderr()]})
def spanjury_scorer(
    aspects: str | Sequence[str] = (),
    *,
    source: str | None = None,
    task: str | None = None,
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
) -> Scorer:
    """Return a scorer that judges a completion against its source, with a value for each aspect.

    The sample's target is the reference of judges that compare with one, such as ``metric``.
    An aspect without a score has the value NaN, which inspect counts as unscored and leaves out of
    its metrics. If no aspect has a score, the sample is ``Score.unscored``.

    Parameters
    ----------
    source
        Key of the sample's metadata with the source: a text, a list of texts or documents, or texts
        by header. By default the input of the sample is the source.
    aspects, task, panel, judges, models
        As in `spanjury.acheck`.
    """
    check_arguments(spanjury_scorer, locals())

    async def score(state: TaskState, target: Target) -> Score:
        if not state.output.choices:
            return Score.unscored(reason="no_response", explanation="the model gave no output")
        report = await acheck(
            state.output.completion,
            source=state.input_text if source is None else _source(state, source),
            task=task,
            aspects=aspects,
            references=tuple(filter(None, target)),  # without a target, it is an empty text
            panel=panel,
            judges=judges,
            models=models,
        )
        return _score(report)

    return score


def _source(state: TaskState, key: str) -> Source:
    value = state.metadata.get(key)
    if isinstance(value, dict):
        return texts_of(value)
    if isinstance(value, str | list | tuple):
        return value
    raise ConfigError(f"sample {state.sample_id}: metadata[{key!r}] is no source: {value!r:.80}")


def _score(report: TextReport) -> Score:
    failed = {report[aspect].outcome for aspect in report.unscored}
    reason = "scoring_failed" if failed == {Outcome.ABSTAINED} else "grader_failed"
    values = {
        name: nan if judged.score is None else judged.score
        for name, judged in report.reports.items()
    }
    return Score(
        value=values if report.scores else nan,
        answer=report.text,
        explanation="\n".join(
            f"{name}: {in_words(judged)}" for name, judged in report.reports.items()
        ),
        reason=reason if failed else None,
        metadata=report.to_dict(),
    )
