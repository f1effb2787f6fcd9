"""An event loop on which seconds pass quickly, for runs that wait in earnest."""

import asyncio  # noqa: TID251 - a loop of asyncio's is what this is
import selectors

PACE = 20.0
"""The number of the loop's seconds that pass in one."""


class HurriedLoop(asyncio.SelectorEventLoop):
    """Asyncio's loop by a clock that is fast: pauses and time limits are `PACE` times shorter.

    What is computed, sent and written takes the time that it takes.

    Examples
    --------
    >>> import anyio
    >>> anyio.run(anyio.sleep, 0.2, backend_options={"loop_factory": HurriedLoop})
    """

    def __init__(self) -> None:
        super().__init__(_HurriedSelector())

    def time(self) -> float:
        """Return the loop's seconds."""
        return PACE * super().time()


class _HurriedSelector(selectors.DefaultSelector):
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout and timeout / PACE)
