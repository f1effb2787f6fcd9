"""Tools for agents: check a text, compare two texts, list the aspects.

These functions depend on no framework: a toolset, an MCP server or any other program calls them and
passes on their results (`agent_reports`), or the same as text. The panel is already open, and
callers cannot change it.

A judge's failure becomes the outcome of an aspect. `ConfigError` is raised if a task, an aspect or
an input does not exist or does not fit. Cancelling a call cancels all that it has begun.
"""

from collections.abc import Sequence
from pathlib import Path

from spanjury.judges.core import Decision, Result
from spanjury.judges.tasks import Catalogue
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.services.judging.agent_reports import (
    AspectCard,
    AspectComparison,
    Better,
    TextCheck,
    TextComparison,
    text_check,
)
from spanjury.orchestration.services.judging.check import (
    Output,
    Progress,
    RubricLike,
    Source,
    judge_at_once,
    request_of,
    unreported,
)

MARGIN = 0.5
"""Least difference of scores, in points, by which texts differ.

Half the step from one label to the next, by convention.
"""

_GRAVITY = (Decision.OK, Decision.UNSURE, Decision.FAULTY)


def compared(a: Result, b: Result) -> AspectComparison:
    """Return which of two texts is better on the same aspect.

    Only judges that scored both texts are compared: comparing the mean of two judges with the score
    of one would measure the judges, not the texts. A text is better if these judges score it at
    least `MARGIN` higher, or if its decision is better and its score not lower. In both cases no
    judge may contradict, or fewer must contradict than agree.
    """
    scores = {seat.seat: seat.report.score for seat in b.report.seats}
    differences = [
        seat.report.score - other
        for seat in a.report.seats
        if seat.report.score is not None and (other := scores.get(seat.seat)) is not None
    ]
    if not differences:
        reason = f"no judge scored both texts: {a.report.reason or b.report.reason}"
        return AspectComparison(
            aspect=a.aspect.name, better="unscored", difference=None, reason=reason.rstrip(": ")
        )
    difference = _difference(a, b, differences)
    better, reason = _better(a, b, difference=difference, differences=differences)
    return AspectComparison(
        aspect=a.aspect.name, better=better, difference=difference, reason=reason
    )


def _difference(a: Result, b: Result, differences: list[float]) -> float:
    """Return the difference of the panel's scores, or that of the judges who scored both texts."""
    scored = [
        [seat.seat for seat in text.report.seats if seat.report.score is not None]
        for text in (a, b)
    ]
    if scored[0] == scored[1] and a.report.score is not None and b.report.score is not None:
        return a.report.score - b.report.score
    return sum(differences) / len(differences)


def _better(
    a: Result, b: Result, *, difference: float, differences: list[float]
) -> tuple[Better, str]:
    sign = _sign(difference) if abs(difference) >= MARGIN else _by_decision(a, b, difference)
    if not sign:
        return "no difference", f"the scores differ by {abs(difference):.2f}, less than {MARGIN}"
    votes = [_sign(gap) * sign for gap in differences]
    agree, contradict = votes.count(1), votes.count(-1)
    judges = f"{agree} of {len(votes)} judges"
    if contradict and contradict >= agree:
        return "no difference", f"the judges do not agree: {judges} prefer {'ab'[sign < 0]}"
    better: Better = "a" if sign > 0 else "b"
    basis = f"its score is {abs(difference):.2f} higher"
    if abs(difference) < MARGIN:
        decisions = [each.report.decision for each in ((a, b) if sign > 0 else (b, a))]
        first, second = (each.value if each else "undecided" for each in decisions)
        basis = f"it is {first}, the other {second}"
    return better, f"{basis}; {judges} prefer it"


def _by_decision(a: Result, b: Result, difference: float) -> int:
    """Return 1 if a has the better decision and no lower score, -1 for the reverse, else 0."""
    if a.report.decision is None or b.report.decision is None:
        return 0
    sign = _sign(_GRAVITY.index(b.report.decision) - _GRAVITY.index(a.report.decision))
    return sign if sign * difference >= 0 else 0


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


async def check_text(  # noqa: PLR0913  all but the text have defaults
    panel: Panel,
    output: Output,
    *,
    source: Source | None = None,
    question: str | None = None,
    tools: Sequence[object] = (),
    task: str | None = None,
    aspects: Sequence[str] = (),
    rubric: RubricLike | None = None,
    aspects_files: Sequence[Path] = (),
    progress: Progress = unreported,
) -> TextCheck:
    """Have `panel` judge a text, or an agent's messages.

    Without `aspects` it judges the defaults of the task.

    Raises `ConfigError` if the task, an aspect or an input is unknown, or the rubric does not fit.
    """
    request = request_of(
        output,
        source=source,
        question=question,
        tools=tools,
        task=task,
        aspects=aspects,
        rubric=rubric,
        aspects_files=aspects_files,
    )
    pairs = [(request.segment, aspect) for aspect in request.aspects]
    return text_check(await judge_at_once(panel, pairs, progress=progress))


async def compare_texts(  # noqa: PLR0913  all but the texts have defaults
    panel: Panel,
    a: str,
    b: str,
    /,
    *,
    source: Source | None = None,
    question: str | None = None,
    task: str | None = None,
    aspects: Sequence[str] = (),
    aspects_files: Sequence[Path] = (),
    progress: Progress = unreported,
) -> TextComparison:
    """Have `panel` judge two texts of one source separately, and compare the reports.

    Raises as `check_text` does.
    """
    first, second = (
        request_of(
            text,
            source=source,
            question=question,
            task=task,
            aspects=aspects,
            aspects_files=aspects_files,
        )
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
