"""A watch over an exam: its limits end it, and its results and progress are shown to callbacks."""

from collections.abc import Callable

from spanjury.judges.core import Result
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.progress import Progress, Tracker
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.engine.summary import Summary

OnResult = Callable[[Result], None]
OnProgress = Callable[[Progress], None]


class Watch:
    """A watch over one exam, which is called with each of its results.

    Parameters
    ----------
    total
        The number of results that there will be, unless the exam expects others.
    limits
        Of cost and tokens; a session keeps that of time.
    stop_token
        Ends the exam early, when a limit or somebody else requests it.
    on_result, on_progress
        Called with every result, and with the progress after it.
    """

    def __init__(
        self,
        *,
        total: int,
        limits: Limits,
        stop_token: StopToken | None,
        on_result: OnResult | None,
        on_progress: OnProgress | None,
    ) -> None:
        self.stop_token = stop_token or StopToken()
        self.meter = Meter(limits=limits, stop=self.stop_token.request)
        self._summary = Summary()
        self._tracker = Tracker(total=total, summary=self._summary, meter=self.meter)
        self._on_result = on_result
        self._on_progress = on_progress

    def __call__(self, result: Result) -> None:
        """Count a result and show it."""
        self._summary.add(result)
        if self._on_result is not None:
            self._on_result(result)
        if self._on_progress is not None:
            self._on_progress(self._tracker.progress())

    def expect(self, total: int) -> None:
        """Expect so many results in all from now on."""
        self._tracker.total = total
