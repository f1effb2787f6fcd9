"""Asking the seats of a panel in stages: which are next, within which budget, and when to stop.

The reason why a row stopped is stored if its reports alone do not imply it: a run that is resumed,
or makes its results again, then stops at the same stage.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property

from spanjury.judges.core import (
    Aggregation,
    Aspect,
    Memory,
    OverBudgetError,
    Report,
    Scale,
    SeatReport,
    Segment,
    StopReason,
    Unasked,
    signature,
)
from spanjury.judges.core.keys import asked_about, canonical, digest
from spanjury.orchestration.engine.allowance import Allowance, Budget
from spanjury.orchestration.engine.cascade import Cascade, Stop, expected_score, stop_after

Ask = Callable[[Sequence[str]], Awaitable[Sequence[SeatReport]]]
"""Has the seats of these names report concurrently."""


@dataclass(frozen=True, slots=True)
class StagedReports:
    """The reports of one row, and the seats that were not asked; None if all were asked."""

    seats: tuple[SeatReport, ...]
    unasked: Unasked | None


@dataclass(slots=True)
class _Course:
    """The progress of a row in an earlier run.

    `granted` is the last stage that the budget allowed; `stop` says why the row did not go beyond
    stage `stopped`, and is None if the reports imply it.
    """

    granted: int = -1
    stopped: int = -1
    stop: Stop | None = None

    @classmethod
    def read(cls, value: bytes | None) -> "_Course":
        """Parse the output of `written`."""
        if value is None:
            return cls()
        granted, stopped, why, reason = json.loads(value)
        stop = Stop(why=StopReason(why), reason=reason) if why else None
        return cls(granted=granted, stopped=stopped, stop=stop)

    def written(self) -> bytes:
        """Return the course, encoded for the memory."""
        why, reason = (self.stop.why.value, self.stop.reason) if self.stop else ("", "")
        return json.dumps([self.granted, self.stopped, why, reason]).encode()


@dataclass(frozen=True, slots=True)
class _Row:
    """A row under way: its course in an earlier run, and its reports so far.

    Reports may suffice only on an aspect that the cascade `is_for`.
    """

    segment: Segment
    scale: Scale
    _: KW_ONLY
    key: str
    course: _Course
    is_for: bool
    given: list[SeatReport] = field(default_factory=list)

    @property
    def reports(self) -> list[Report]:
        return [seat.report for seat in self.given]


@dataclass(frozen=True)
class Staging:
    """A cascade applied to an open panel.

    Parameters
    ----------
    cascade
        The stages; they name exactly the seats of the panel.
    aggregation
        The panel's.
    budget
        The most that the run may spend; None for no limit.
    allowance
        The rest of the budget; None also if no model is called.
    memory
        Stores how far rows went; None to store nothing.
    is_silent
        Whether no model is called: a row then stops where it stopped before, whatever the rules are
        now.
    """

    cascade: Cascade
    _: KW_ONLY
    aggregation: Aggregation
    budget: Budget | None = None
    allowance: Allowance | None = None
    memory: Memory | None = None
    is_silent: bool = False

    @cached_property
    def signature(self) -> str:
        """Names the cascade and the budget."""
        limit = {"budget": str(self.budget).replace(" ", "")} if self.budget else {}
        return signature(self.cascade.signature, **limit)

    def holding_budget(self) -> AbstractContextManager[None]:
        """Keep the calls of the run within the budget while the context is open."""
        return nullcontext() if self.allowance is None else self.allowance.holding()

    async def collect(
        self, ask: Ask, segment: Segment, aspect: Aspect, *, judges: str
    ) -> StagedReports:
        """Ask one stage after the other until the reports suffice.

        Parameters
        ----------
        judges
            Digest of the seats, under which a row's course is stored.
        """
        key = digest("course", self.signature, judges, *asked_about(segment, canonical(aspect)))
        course = _Course.read(self.memory.get(key) if self.memory else None)
        row = _Row(
            segment, aspect.scale, key=key, course=course, is_for=self.cascade.is_for(aspect)
        )
        for number, stage in enumerate(self.cascade.stages):
            stop = self._stop(row, number)
            try:
                if stop is None:
                    given = await self._asked(ask, stage.seats, row, number=number)
                else:
                    given = await self._remembered(ask, stage.seats, row=row, stop=stop)
            except OverBudgetError as error:
                if stop is None and self.allowance and self.allowance.meter.is_refusing:
                    raise  # the budget is not over: the caller wants only remembered replies
                stop = stop or Stop(why=StopReason.BUDGET, reason=f"{error}.")
                given = ()
            if not given and stop is not None:
                await self._note_stop(row, number, stop)
                return StagedReports(tuple(row.given), self._unasked(row, number, stop))
            row.given.extend(given)
        return StagedReports(tuple(row.given), None)

    async def _asked(
        self, ask: Ask, seats: Sequence[str], row: _Row, *, number: int
    ) -> Sequence[SeatReport]:
        """Ask the seats of a stage; raise `OverBudgetError` if the budget ends before they report.

        A stage that was begun before is begun again whatever is left, since its replies may be
        remembered.
        """
        allowance = self.allowance
        if allowance is None:
            return await ask(seats)
        with allowance.setting_aside(seats, row.segment):
            if row.course.granted < number:
                row.course.granted = number
                await self._keep(row)
            return self._counted(await ask(seats))

    async def _remembered(
        self, ask: Ask, seats: Sequence[str], *, row: _Row, stop: Stop
    ) -> Sequence[SeatReport]:
        """Return the reports that an earlier session has paid for, although the budget is spent.

        Raise `OverBudgetError` if there are none; a row that stopped here before stops here again.
        """
        allowance, is_new = self.allowance, stop is not row.course.stop
        if allowance is None or stop.why is not StopReason.BUDGET or not is_new:
            return ()
        if not allowance.meter.before:  # no earlier session has made a call
            return ()
        with allowance.meter.refusing():
            return self._counted(await ask(seats))

    def _counted(self, reports: Sequence[SeatReport]) -> Sequence[SeatReport]:
        assert self.allowance is not None
        for report in reports:
            self.allowance.count(report.seat, report.report.usage)
        return reports

    def _stop(self, row: _Row, number: int) -> Stop | None:
        """Return the reason not to ask stage number `number`; None to ask it."""
        if number and row.is_for:
            stop = stop_after(
                self.cascade,
                number - 1,
                row.reports,
                scale=row.scale,
                aggregation=self.aggregation,
            )
            if stop is not None:
                return stop
        course = row.course
        before = course.stop if course.stopped == number else None
        if before and (self.is_silent or before.why is StopReason.BUDGET):
            return before
        return self._over_budget(row, number) if course.granted < number else None

    def _over_budget(self, row: _Row, number: int) -> Stop | None:
        allowance, seats = self.allowance, self.cascade.stages[number].seats
        if allowance is None or allowance.allows(seats, row.segment):
            return None
        words = allowance.budget.words
        reason = (
            f"The budget of {allowance.budget} has {words(allowance.left)} left, and asking on "
            f"takes about {words(allowance.expected(seats, row.segment))}."
        )
        return Stop(why=StopReason.BUDGET, reason=reason)

    def _unasked(self, row: _Row, number: int, stop: Stop) -> Unasked:
        """Describe the seats that were not asked, with the score expected of the whole panel."""
        left = self.cascade.after(number - 1)
        score = None
        if number:
            score = expected_score(
                self.cascade.stages[number - 1],
                row.reports,
                len(left),
                scale=row.scale,
                aggregation=self.aggregation,
            )
        return Unasked(seats=left, why=stop.why, reason=stop.reason, score=score)

    async def _note_stop(self, row: _Row, number: int, stop: Stop) -> None:
        """Store a stop that the reports of the row alone do not imply."""
        course = row.course
        if stop.why is not StopReason.SURE and (course.stopped, course.stop) != (number, stop):
            course.stopped, course.stop = number, stop
            await self._keep(row)

    async def _keep(self, row: _Row) -> None:
        if self.memory is not None:
            await self.memory.put_soon(row.key, row.course.written())
