"""Run asynchronous work for synchronous callers: scripts, tests and notebooks."""

import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import partial, wraps
from typing import ParamSpec, TypeVar

import anyio
from anyio import NoEventLoopError, from_thread
from anyio.lowlevel import current_token

from spanjury.judges.core import choices_for

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def run_synchronously(work: Callable[[], Coroutine[object, object, T]]) -> T:
    """Run `work` in its own event loop and return its result; raise its exceptions.

    If a loop already runs in this thread, as in a notebook, `work` runs in another thread, and this
    thread waits together with its loop: ``await`` is better there. Ctrl-C cancels `work`.
    """
    if not _is_in_loop():
        return anyio.run(work)
    with from_thread.start_blocking_portal() as portal:
        return portal.call(work)


def synchronous(
    function: Callable[P, Coroutine[object, object, T]], *, name: str, doc: str
) -> Callable[P, T]:
    """Wrap `function` for synchronous callers, under another name.

    The wrapper raises `TypeError` under that name if arguments do not fit.
    """
    bound = _bound(function, name)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_synchronously(bound(*args, **kwargs))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return run


def synchronous_iterator(
    function: Callable[P, AsyncGenerator[T, None]], *, name: str, doc: str
) -> Callable[P, Generator[T, None, None]]:
    """Wrap `function` as a generator for synchronous callers, like `synchronous`.

    Its event loop runs in another thread until the generator is exhausted or closed.
    """
    bound = _bound(function, name)

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        return _driven(bound(*args, **kwargs)())

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return run


def _driven(values: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    async def taken() -> list[T]:
        """Return a list with the next value; an empty list at the end."""
        try:
            return [await anext(values)]
        except StopAsyncIteration:
            return []

    with from_thread.start_blocking_portal() as portal:
        try:
            while value := portal.call(taken):
                yield from value
        finally:
            portal.call(values.aclose)


def _bound(function: Callable[P, R], name: str) -> Callable[P, Callable[[], R]]:
    """Return a function that binds arguments to `function`; it raises `TypeError` under `name`."""
    parameters = inspect.signature(function)

    def bind(*args: P.args, **kwargs: P.kwargs) -> Callable[[], R]:
        for given in kwargs:
            if given not in parameters.parameters:
                choices = choices_for(given, parameters.parameters)
                raise TypeError(f"{name}() has no parameter {given!r}: {choices}")
        try:
            parameters.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        return partial(function, *args, **kwargs)

    return bind


def _is_in_loop() -> bool:
    try:
        current_token()
    except NoEventLoopError:
        return False
    return True
