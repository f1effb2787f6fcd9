"""A batch that runs in a thread, for a caller who takes its reports one by one.

The thread has an event loop of its own. So the caller's loop is free while rules and encoders
compute, the caller may leave at any time, and all is the same on asyncio and trio.
"""

from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import anyio

from spanjury.judges.core import Aspect, Result, Segment
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.progress import Progress, Tracker
from spanjury.orchestration.engine.stopping import GRACE, FailurePolicy, StopToken, run_watched
from spanjury.orchestration.engine.summary import Summary
from spanjury.orchestration.services.judging.evaluate import JudgedRow, judge_pairs
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.services.judging.text_report import TextReport
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.results import open_results

_AHEAD = 256
"""Reports that may wait for the caller before the batch waits for it."""
_TICK = 0.02
"""Seconds between two looks of the batch at whether the caller has made room, or has left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text, and the aspects that it is judged on."""

    segment: Segment
    aspects: tuple[Aspect, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The panel of a batch and the terms of its run, as `evaluate.Job` explains them.

    `output` and `memory` may be None: nothing is written, nothing is kept.
    """

    panel: PanelConfig
    output: Path | None = None
    memory: Path | None = None
    limits: Limits = Limits()
    failures: FailurePolicy = FailurePolicy()


class BatchThread:
    """A batch under way: it begins when it is made, and ends when all is taken or the taker leaves.

    Parameters
    ----------
    terms
        The panel, and the terms of the run.
    read
        Begins to read the texts; called in the thread.
    total
        The number of assessments.
    """

    def __init__(self, terms: Terms, read: Callable[[], Iterator[Text]], *, total: int) -> None:
        self._terms = terms
        self._read = read
        self._stop = StopToken()
        self._meter = Meter(limits=terms.limits, stop=self._stop.request)
        self._summary = Summary()
        self._tracker = Tracker(total=total, summary=self._summary, meter=self._meter)
        self._aspects: dict[int, int] = {}  # identity of a segment -> number of its aspects
        self._held: list[Result] = []
        self._reports: SimpleQueue[TextReport | None] = SimpleQueue()
        self._made = self._taken = 0
        self._has_left = False
        self._has_room: anyio.Event | None = None
        self._error: Exception | None = None
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def progress(self) -> Progress:
        """Return how far the batch is."""
        return self._tracker.progress()

    def take(self) -> list[TextReport]:
        """Wait for a report; return all that there are, in order, and none at the end.

        A text of which not every aspect was judged, as the batch was ended before, has no report.
        Raise what ended the batch, after its reports.
        """
        reports = [self._reports.get()]
        with suppress(Empty):
            while reports[-1] is not None:
                reports.append(self._reports.get_nowait())
        if reports[-1] is None:
            self._reports.put(None)  # for the next call
        taken = [report for report in reports if report is not None]
        self._taken += len(taken)
        if not taken and self._error is not None:
            raise self._error
        return taken

    def leave(self) -> None:
        """End the batch and the calls that are under way, and wait for it, `GRACE` at most."""
        self._has_left = True
        self._thread.join(GRACE)

    def _run(self) -> None:
        try:
            anyio.run(run_watched, self._judge, self._watch)
        except Exception as error:  # noqa: BLE001  whoever takes the reports raises it
            self._error = error
        finally:
            self._reports.put(None)

    async def _judge(self) -> None:
        terms = self._terms
        opening = open_session(terms, stop_token=self._stop, meter=self._meter)
        writing = open_results(terms.output) if terms.output else nullcontext()
        with opening as session, writing as results:

            def write(row: JudgedRow) -> None:
                if results is not None:
                    results.append_line(row.line)
                if isinstance(row.seen, Result):
                    self._put(row.seen)

            await judge_pairs(session, self._pairs, panel=terms.panel, write=write, room=self._room)

    def _pairs(self) -> Iterator[tuple[Segment, Aspect]]:
        for text in self._read():
            self._aspects[id(text.segment)] = len(text.aspects)
            yield from ((text.segment, aspect) for aspect in text.aspects)

    def _put(self, result: Result) -> None:
        """Take a result in its turn; the last one of a text completes its report."""
        self._summary.add(result)
        if self._held and self._held[0].segment is not result.segment:
            self._held.clear()  # a batch that is ended leaves out pairs
        self._held.append(result)
        if len(self._held) == self._aspects[id(result.segment)]:
            report = TextReport(segment=result.segment, results=tuple(self._held))
            del self._aspects[id(result.segment)]
            self._held.clear()
            self._made += 1
            self._reports.put(report)

    @property
    def _is_far_ahead(self) -> bool:
        return self._made - self._taken >= _AHEAD

    async def _room(self) -> None:
        """Wait until the caller has taken enough of what was made."""
        while self._is_far_ahead:
            self._has_room = self._has_room or anyio.Event()
            await self._has_room.wait()

    async def _watch(self) -> None:
        """Look at what the caller does, which is in another thread."""
        while not self._has_left:
            await anyio.sleep(_TICK)
            if self._has_room is not None and not self._is_far_ahead:
                self._has_room.set()
                self._has_room = None
        self._stop.request("whoever took the reports has left", grace=0.0)
