"""One text at a time: take it with its source, and have a panel report on it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anyio import create_task_group, move_on_after

from spanjury.judges.core import (
    Aspect,
    ConfigError,
    Result,
    RunStoppedError,
    Segment,
    Task,
    Trajectory,
    check_arguments,
    first_error_alone,
    repeatable,
)
from spanjury.judges.core.passages import passages_apart
from spanjury.judges.core.transcript import segment_of
from spanjury.judges.tasks import Catalogue, Rubric
from spanjury.orchestration.engine.batch import pair
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rubric import concluded
from spanjury.orchestration.services.judging.panels import (
    Judges,
    Models,
    entered,
    require_model,
)
from spanjury.orchestration.services.judging.synchronous import synchronous
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.panels import open_configured_panel
from spanjury.orchestration.wiring.sources import AGENT, as_trajectory

RubricLike = Rubric | Path | str | Mapping[str, object]
"""A rubric, the path of its file, or the content of such a file."""

Document = Mapping[str, object]
"""A passage: its `text`, and optionally an `id` by which evidence names it.

Other keys are ignored.
"""
Source = str | Sequence[str | Document] | Mapping[str, str | Sequence[str]]
"""A source; passages, which stay separate; or inputs by header, each a text or passages."""
Output = str | Trajectory | Sequence[object] | Mapping[str, object]
"""A text to judge, or an agent's messages as its library writes them."""

_QUESTION = "Question"

Progress = Callable[[int, int, str], Awaitable[None]]
"""Called when an aspect is done, with the numbers of done and of all aspects, and its name."""


async def unreported(done: int, total: int, aspect: str) -> None:
    """Report no progress."""
    del done, total, aspect


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A text and the aspects to judge it on, all of one task."""

    segment: Segment
    aspects: tuple[Aspect, ...]


async def acheck(  # noqa: PLR0913  all but the text have defaults
    output: Output,
    *,
    source: Source | None = None,
    question: str | None = None,
    tools: Sequence[object] = (),
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    rubric: RubricLike | None = None,
    references: str | Sequence[str] = (),
    segment_id: str = "",
    system: str = "",
    panel: Panel | PanelConfig | Path | str | None = None,
    judges: Judges = (),
    models: Models = (),
    aspects_files: Sequence[Path] = (),
) -> TextReport:
    """Judge one text on one or more aspects at once.

    Parameters
    ----------
    output
        The text to judge; or the messages of an agent, in the format of OpenAI, Anthropic,
        pydantic-ai, LangChain and others.
    source, question, tools, task, aspects, rubric, references, segment_id, system, aspects_files
        As in `request_of`.
    panel
        An open panel, which stays open; a whole panel, or the TOML file that describes one.
    judges, models
        As in `open_panel`, instead of a panel.

    Returns
    -------
    TextReport
        If a judge fails, the aspect has no score; no exception is raised.

    Raises
    ------
    ConfigError
        If a name is unknown, parameters contradict each other, or a criterion is to be judged
        without a model.
    """
    request = request_of(
        output,
        source=source,
        question=question,
        tools=tools,
        task=task,
        aspects=aspects,
        rubric=rubric,
        references=references,
        segment_id=segment_id,
        system=system,
        aspects_files=aspects_files,
    )
    asked = [aspect.name for aspect in request.aspects]
    require_model(asked, panel=panel, judges=judges, models=models)
    async with entered(panel, judges=judges, models=models) as opened:
        return await judge(opened, request)


check = synchronous(
    acheck,
    name="check",
    doc="""Judge one text, from code that is not asynchronous; `acheck` explains the parameters.

    It runs an event loop of its own, also where one runs already. Judges are opened for the call:
    for many texts, `evaluate` is faster.

    Examples
    --------
    >>> report = check("It opened in 1935.", source="It opened in 1932.", judges=["grounding"],
    ...                aspects="consistency")
    >>> report.decision.value, report.spans[0].text
    ('faulty', '1935')
    """,
)


def request_of(  # noqa: PLR0913  all but the text have defaults
    output: Output,
    *,
    source: Source | None = None,
    question: str | None = None,
    tools: Sequence[object] = (),
    task: str | None = None,
    aspects: str | Aspect | Sequence[str | Aspect] = (),
    rubric: RubricLike | None = None,
    references: str | Sequence[str] = (),
    segment_id: str = "",
    system: str = "",
    aspects_files: Sequence[Path] = (),
) -> Request:
    """Return a text with its inputs and the aspects to judge it on.

    Parameters
    ----------
    output
        The text to judge, or the messages of an agent, which are judged against one another.
    source
        The source of the text: a text; passages or documents, as ``[{"id": "a.txt", "text": "…"},
        …]``; or texts by header, as ``{"Question": "…", "Context": ["passage", …]}``. A text, and
        passages without ids, get the header that the task's aspects of the kind ``"grounding"``
        use. None if there is no source; aspects that need one are then not judged.
    question
        The question that the text answers, as the input ``Question``; the task is then
        question-answering, unless `task` or the aspects name another one.
    tools
        The tools that an agent could call, in the format of its library.
    task
        Name of the task; by default that of the aspects, ``agent`` for messages, or else the one
        that `Catalogue.likely_task` infers.
    aspects
        Names, or aspects; ``"all"`` for all aspects of the task, none for its default ones.
    rubric
        Weighted criteria to judge in addition, or alone if no aspects are named.
    references
        A text that people would have accepted, or several.
    segment_id
        The name of the text; derived from it if empty.
    system
        The name of the system that wrote it: the log warns of judges of the same family.
    aspects_files
        TOML files that add tasks and aspects.

    Raises
    ------
    ConfigError
        If an argument has another type, a task or an aspect is unknown, aspects belong to several
        tasks, a source or a question is combined with messages, the source has a question too, no
        message is the assistant's, or the rubric cannot be read.
    """
    tools, source, references = repeatable(tools), repeatable(source), repeatable(references)
    aspects, aspects_files = repeatable(aspects), repeatable(aspects_files)
    trajectory = _trajectory(output, source, question=question, tools=tools)
    check_arguments(request_of, locals())
    asked = (aspects,) if isinstance(aspects, str | Aspect) else tuple(aspects)
    weighed = None if rubric is None else Rubric.of(rubric)
    asked += weighed.aspects if weighed else ()
    catalogue = Catalogue.load(*aspects_files).with_rubric(weighed)
    asking = {} if question is None else {_QUESTION: question}
    by_header = passages_apart(source) if isinstance(source, Mapping) else {}
    the_task = catalogue.task(
        task or _task_name(catalogue, asked, inputs={**asking, **by_header}, output=output)
    )
    inputs = by_header or _inputs(source, _source_header(catalogue, the_task))
    if asking and any(header.strip().casefold() == _QUESTION.casefold() for header in inputs):
        raise ConfigError("the source has a Question: give no question beside it")
    text = Segment(
        segment_id=segment_id,
        output=output if isinstance(output, str) else "",
        inputs={**asking, **inputs},
        task=the_task.name,
        references=(references,) if isinstance(references, str) else tuple(references),
        system=system,
    )
    if trajectory is not None:
        made = segment_of(trajectory, text)
        text = made if segment_id else replace(made, segment_id="")  # made from the messages
    segment = the_task.fit(text)
    return Request(segment=segment, aspects=_resolved(catalogue, asked, segment))


async def judge(panel: Panel, request: Request, *, progress: Progress = unreported) -> TextReport:
    """Have an open panel judge a text on all aspects concurrently; cancelling cancels them all."""
    pairs = [(request.segment, aspect) for aspect in request.aspects]
    results = await judge_at_once(panel, pairs, progress=progress)
    return TextReport(segment=request.segment, results=results)


async def judge_within(
    panel: PanelConfig, request: Request, *, limits: Limits, progress: Progress = unreported
) -> TextReport:
    """Open a panel and have it judge a text, within limits of cost, calls, tokens and time.

    Raise `ConfigError` if the panel cannot be opened, and `RunStoppedError` if a limit is reached.
    """
    with move_on_after(limits.max_seconds):
        async with open_configured_panel(panel, meter=Meter(limits=limits)) as opened:
            return await judge(opened, request, progress=progress)
    raise RunStoppedError(f"{limits.max_seconds:g} seconds are over")


async def judge_at_once(
    panel: Panel, pairs: Sequence[tuple[Segment, Aspect]], *, progress: Progress = unreported
) -> tuple[Result, ...]:
    """Return the result of each pair, in order; all pairs are assessed concurrently."""
    results: dict[int, Result] = {}

    async def assess(index: int, segment: Segment, aspect: Aspect) -> None:
        report = await panel.assess(segment, aspect)
        results[index] = Result(segment=segment, aspect=aspect, report=report)
        await progress(len(results), len(pairs), aspect.name)

    with first_error_alone():
        async with create_task_group() as group:
            for index, (segment, aspect) in enumerate(pairs):
                if not aspect.criteria:
                    group.start_soon(assess, index, segment, aspect)
    for index, (segment, aspect) in enumerate(pairs):
        if aspect.criteria:
            own = (result for result in results.values() if result.segment is segment)
            report = concluded(aspect, {result.aspect.name: result.report for result in own})
            results[index] = Result(segment=segment, aspect=aspect, report=report)
            await progress(len(results), len(pairs), aspect.name)
    return tuple(results[index] for index in range(len(pairs)))


def _trajectory(
    output: Output, source: Source | None, *, question: str | None, tools: Sequence[object]
) -> Trajectory | None:
    """Return the trajectory in `output`; None for a text."""
    if isinstance(output, str):
        if tools:
            raise ConfigError("tools go with messages; the output is a text")
        return None
    if isinstance(output, bytes) or not isinstance(output, Trajectory | Sequence | Mapping):
        raise ConfigError(f"output is a text or an agent's messages, got {output!r:.80}")
    if source is not None or question is not None:
        raise ConfigError("messages hold their sources: give no source or question beside them")
    return as_trajectory(output, tools)


def _task_name(
    catalogue: Catalogue,
    asked: Sequence[str | Aspect],
    *,
    inputs: Mapping[str, str],
    output: Output,
) -> str:
    """Return the task of the aspects, or else that of agents for messages, or the likeliest."""
    tasks = sorted({each.task.name for each in asked if isinstance(each, Aspect)})
    if len(tasks) > 1:
        raise ConfigError(f"the aspects are of several tasks: {', '.join(tasks)}")
    if tasks:
        return tasks[0]
    if not isinstance(output, str):
        return AGENT
    names = [each for each in asked if isinstance(each, str)]
    return catalogue.likely_task(names, inputs=inputs, output=output)


def _resolved(
    catalogue: Catalogue, asked: Sequence[str | Aspect], segment: Segment
) -> tuple[Aspect, ...]:
    """Return the aspects that were asked for, or the default ones; each once."""
    names = [each for each in asked if isinstance(each, str)]
    if len(names) == len(asked):
        resolved = [aspect for _, aspect in pair([segment], catalogue, aspects=names)]
    else:
        resolved = [
            each if isinstance(each, Aspect) else catalogue.aspect(segment.task, each)
            for each in asked
        ]
    return tuple({aspect.name: aspect for aspect in resolved}.values())


def _source_header(catalogue: Catalogue, task: Task) -> str:
    """Return the header for a source without one.

    It is the last input of an aspect of grounding, after the question if there is one. In a task
    without such an aspect it is the task's first input.
    """
    for aspect in catalogue.aspects(task.name):
        if aspect.kind == "grounding" and aspect.inputs:
            return aspect.inputs[-1]
    return next(iter(task.input_headers))


def _inputs(source: Source | None, header: str) -> dict[str, str]:
    if source is None:
        return {}
    if isinstance(source, str):
        return {header: source}
    passages = [_passage(passage) for passage in source]
    if len(passages) == 1 and not passages[0][0]:
        return {header: passages[0][1]}
    inputs = {
        name or f"{header} [{number}]": text for number, (name, text) in enumerate(passages, 1)
    }
    if len(inputs) != len(passages):
        raise ConfigError("two documents of the source have the same id")
    return inputs


def _passage(passage: object) -> tuple[str, str]:
    """Return the id and the text of a passage; raise `ConfigError` if it has no text."""
    if isinstance(passage, str):
        return "", passage
    if not isinstance(passage, Mapping) or not isinstance(text := passage.get("text"), str):
        raise ConfigError(f"a document is a text or has the key 'text', got {passage!r}")
    return str(passage.get("id", "")), text
