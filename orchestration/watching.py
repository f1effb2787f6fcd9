"""Work with something beside it that ends when the work does."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager

from anyio import create_task_group
from anyio.lowlevel import checkpoint

__all__ = ["first_error_alone", "run_watched"]


Task = Callable[[], Coroutine[object, object, None]]


async def run_watched(work: Task, *watchers: Task) -> None:
    """Run `work` with `watchers` beside it; they are cancelled when it ends.

    Watchers begin first: work that blocks the loop at once, as an import does, is watched, too.
    What any of them raises ends all of them, and is raised as it is.
    """
    with first_error_alone():
        async with create_task_group() as group:
            for watch in watchers:
                group.start_soon(watch)
            await checkpoint()
            await work()
            group.cancel_scope.cancel()


@contextmanager
def first_error_alone() -> Iterator[None]:
    """Raise the first error of a task group in place of the group.

    For a group whose tasks work on one thing: what follows the first error follows from it.
    """
    try:
        yield
    except ExceptionGroup as group:
        raise _first(group) from group


def _first(group: ExceptionGroup[Exception]) -> Exception:
    error = group.exceptions[0]
    return _first(error) if isinstance(error, ExceptionGroup) else error
