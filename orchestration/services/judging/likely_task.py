"""The task that a user means who names none."""

from collections.abc import Collection, Sequence

from spanjury.judges.core import ConfigError, Task
from spanjury.judges.tasks import Catalogue

USUAL_TASK = "summarization"
"""The task of a text that is made from a source, of which nothing else is known."""


def likely_task(
    catalogue: Catalogue, aspects: Sequence[str] = (), *, headers: Collection[str] = ()
) -> str:
    """Return the name of the task that has the most of `headers`, and all of `aspects`.

    `headers` are those of the inputs. Of several such tasks it is `USUAL_TASK`.

    Raises
    ------
    ConfigError
        If no task has all of these aspects, or several have and `USUAL_TASK` is not among them.

    Examples
    --------
    >>> catalogue = Catalogue.load()
    >>> likely_task(catalogue, headers=["Question", "Context"])
    'question-answering'
    >>> likely_task(catalogue, ["simplicity"])
    'simplification'
    """
    having = [task for task in catalogue.tasks() if catalogue.has(task.name, *aspects)]
    if not having:
        raise ConfigError(f"no task has the aspects {', '.join(map(repr, aspects))}")
    most = max(_shared(task, headers) for task in having)
    names = [task.name for task in having if _shared(task, headers) == most]
    if len(names) == 1:
        return names[0]
    if USUAL_TASK in names:
        return USUAL_TASK
    raise ConfigError(f"name the task: it may be one of {', '.join(names)}")


def _shared(task: Task, headers: Collection[str]) -> int:
    """Count the headers that the task knows by its own names, not by those that rows give them."""
    return len(task.input_headers.keys() & {*headers})
