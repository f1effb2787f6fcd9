"""An output validator: a panel judges what an agent hands in, and sends back what fails."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic_ai import ModelRetry, RunContext

from spanjury.judges.core import Aspect, ConfigError, check_arguments
from spanjury.orchestration.agents.conditions import (
    FAIL_ON,
    OnUnscored,
    check_conditions,
    feedback_on_unread,
    parsed,
    sure_aspects,
    unread,
)
from spanjury.orchestration.agents.sources import QuestionOf, SourceOf, question_in, source_in
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.agent_reports import feedback_on
from spanjury.orchestration.services.judging.check import acheck
from spanjury.orchestration.services.judging.panels import Judges, Models
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import PanelConfig

D = TypeVar("D")
T = TypeVar("T")


def plain_text(output: object) -> str:
    """Return an output that is a text; raise `ConfigError` for any other."""
    if isinstance(output, str):
        return output
    raise ConfigError(
        f"an output of the type {type(output).__name__} is no text: name the part to judge, as by"
        " text=lambda output: output.body"
    )


def jury_validator(  # noqa: PLR0913  all but the panel have defaults
    panel: Panel | PanelConfig | Path | str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    *,
    judges: Judges = (),
    models: Models = (),
    source: SourceOf[D] = None,
    question: QuestionOf[D] = None,
    fail_on: str | Sequence[str] = FAIL_ON,
    on_unscored: OnUnscored = "raise",
    text: Callable[[T], str] = plain_text,
    task: str | None = None,
    aspects_files: Sequence[Path] = (),
    on_report: Callable[[TextReport], None] | None = None,
) -> Callable[[RunContext[D], T], Awaitable[T]]:
    """Return an output validator that has a panel judge each output of an agent.

    How often an output is sent back is the agent's ``retries``; when they are used up,
    pydantic-ai raises `UnexpectedModelBehavior`.

    Parameters
    ----------
    panel
        An open panel, which is quicker, or a description of one that is opened for each output;
        None for the offline judges.
    aspects, judges, models, task, aspects_files
        As in `check`.
    source
        What the output must agree with, or a function of the `RunContext` that returns it.
    question
        The question that the output answers, or a function of the `RunContext` that returns it.
    fail_on
        Conditions as of ``--fail-on``; an output that meets one is sent back with all errors
        of the aspects that fail.
    on_unscored
        For an output that meets none, of which an aspect has no score: ``raise`` a `JudgeError`,
        since what no judge has read must not pass for checked; ``retry`` to have it written
        again, which costs a retry and may help where a judge read the reply wrongly; ``accept``
        to let it pass. Judges may abstain on aspects that you did not name.
    text
        Returns the part of a structured output that is judged.
    on_report
        Called with each report, as to keep or to show it.

    Raises
    ------
    ConfigError
        If a name is unknown, a condition cannot be read or is about an aspect that the output is
        not judged on, or an argument has another type. In the run, if the source decides on the
        task and a condition is about an aspect that this task lacks.
    """
    check_arguments(jury_validator, locals())
    conditions = parsed(fail_on)
    if sure := sure_aspects(task=task, aspects=aspects, aspects_files=aspects_files):
        check_conditions(conditions, sure)

    async def validate(context: RunContext[D], output: T) -> T:
        if context.partial_output:  # more of it is to come
            return output
        report = await acheck(
            text(output),
            source=await source_in(context, source),
            question=await question_in(context, question),
            task=task,
            aspects=aspects,
            panel=panel,
            judges=judges,
            models=models,
            aspects_files=aspects_files,
        )
        check_conditions(conditions, [result.aspect for result in report.results])
        if on_report is not None:
            on_report(report)
        lacking = unread(report, are_named=bool(aspects))
        feedback = feedback_on(report, conditions) or feedback_on_unread(lacking, on_unscored)
        if feedback:
            raise ModelRetry(feedback)
        return output

    return validate
