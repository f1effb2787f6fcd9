"""Time that passes when a test sleeps or advances it, so that no test waits."""

import anyio.lowlevel


class FakeClock:
    """A clock and the sleep that moves it on.

    Examples
    --------
    >>> import anyio
    >>> clock = FakeClock()
    >>> anyio.run(clock.sleep, 2.5)
    >>> clock()
    2.5
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        """Let other tasks run, then let `seconds` have passed."""
        await anyio.lowlevel.checkpoint()
        self.slept.append(seconds)
        self.now += seconds
