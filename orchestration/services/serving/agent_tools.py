"""Tools for agents: check a text, compare two texts, list the aspects.

No framework is known here: a toolset, an MCP server or a program of one's own calls these
functions and hands on what they return (`agent_reports`), or the same as text (`agent_texts`).
The panel is open already, and who calls cannot change it.

A judge's failure is the outcome of an aspect. `ConfigError` is raised where a task, an aspect or
an input does not exist or does not fit. Whoever cancels a call ends all that it has begun.
"""

from collections.abc import Sequence
from pathlib import Path

from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.check import (
    Progress,
    RubricLike,
    Source,
    judge_at_once,
    request_of,
    unreported,
)
from spanjury.orchestration.services.serving.agent_reports import (
    AspectCard,
    TextCheck,
    TextComparison,
    text_check,
)
from spanjury.orchestration.services.serving.text_comparison import compared


async def check_text(
    panel: Panel,
    output: str,
    *,
    source: Source | None = None,
    task: str | None = None,
    aspects: Sequence[str] = (),
    rubric: RubricLike | None = None,
    aspects_files: Sequence[Path] = (),
    progress: Progress = unreported,
) -> TextCheck:
    """Have `panel` judge a text; without `aspects`, on those that its task is judged by.

    Raises `ConfigError` if the task, an aspect or an input is unknown, or the rubric does not fit.
    """
    request = request_of(
        output,
        source=source,
        task=task,
        aspects=aspects,
        rubric=rubric,
        aspects_files=aspects_files,
    )
    pairs = [(request.segment, aspect) for aspect in request.aspects]
    return text_check(await judge_at_once(panel, pairs, progress=progress))


async def compare_texts(
    panel: Panel,
    a: str,
    b: str,
    /,
    *,
    source: Source | None = None,
    task: str | None = None,
    aspects: Sequence[str] = (),
    aspects_files: Sequence[Path] = (),
    progress: Progress = unreported,
) -> TextComparison:
    """Have `panel` judge two texts of one source, each by itself, and compare what it says.

    Raises `ConfigError` as `check_text`.
    """
    first, second = (
        request_of(text, source=source, task=task, aspects=aspects, aspects_files=aspects_files)
        for text in (a, b)
    )
    pairs = [
        (segment, aspect) for aspect in first.aspects for segment in (first.segment, second.segment)
    ]
    results = await judge_at_once(panel, pairs, progress=progress)
    of_a, of_b = results[::2], results[1::2]
    return TextComparison(
        aspects=tuple(compared(left, right) for left, right in zip(of_a, of_b, strict=True)),
        a=text_check(of_a),
        b=text_check(of_b),
    )


def list_aspects(
    task: str | None = None, *, aspects_files: Sequence[Path] = ()
) -> tuple[AspectCard, ...]:
    """Return the aspects of `task`, or of all tasks; raise `ConfigError` if it is unknown."""
    catalogue = Catalogue.load(*aspects_files)
    tasks = (catalogue.task(task),) if task else catalogue.tasks()
    return tuple(
        AspectCard(
            task=listed.name,
            aspect=aspect.name,
            definition=aspect.definition,
            inputs=aspect.inputs,
            needs=aspect.needs,
            judged_by_default=aspect.name in listed.default_aspects,
        )
        for listed in tasks
        for aspect in catalogue.aspects(listed.name)
    )
