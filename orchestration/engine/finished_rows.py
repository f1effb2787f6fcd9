"""Finished rows that are stored when written, so that running over them again is a copy.

A row is stored if nothing in it would be requested again: each seat answered, and rules made one
report from their reports. Its key covers all that it depends on: the segment, the aspect, the
panel, the release and the code that makes rows. It is never the only record: the reports and
replies behind it are stored separately.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from spanjury.judges.core import (
    USABLE,
    Aspect,
    Decision,
    DecisionBasis,
    ErrorSpan,
    Judge,
    KeyedJudge,
    Memory,
    Outcome,
    PanelReport,
    Report,
    Result,
    Segment,
    Unasked,
    Unverified,
    Usage,
    stamped,
)
from spanjury.judges.core.code_digest import code_digest
from spanjury.judges.core.identity_cache import IdentityCache
from spanjury.judges.core.keys import asked_about, canonical, digest
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.rule_consolidator import RuleConsolidator
from spanjury.orchestration.engine.summary import Figures, Risk


class FinishedRow(NamedTuple):
    """A row of the results as first written, with its line end, and its figures for the summary."""

    segment: Segment
    aspect: Aspect
    line: bytes
    figures: Figures

    def result(self) -> Result:
        """Return the result that the row holds, without the reports of the seats."""
        report = PanelReport(**msgspec.structs.asdict(_FINISHED.decode(self.line)))
        return Result(segment=self.segment, aspect=self.aspect, report=report)


class FinishedRows:
    """The finished rows of one panel in a memory.

    Parameters
    ----------
    write
        Converts a result to a line; it must be a function of a module.
    """

    def __init__(self, memory: Memory, panel: Panel, *, write: Callable[[Result], bytes]) -> None:
        self._memory = memory
        # A model that consolidates may have failed, and an observer must see every assessment.
        by_rules = isinstance(panel.consolidator, RuleConsolidator) and not panel.is_observed
        seats = (*panel.seats, *panel.agent_seats)
        is_known = by_rules and all(_judges_what_is_seen(seat.judge) for seat in seats)
        code = _digest_of(write, panel.aggregation) if is_known else ""
        self._may_keep = bool(code)
        names = (seat.name for seat in panel.seats)
        self._panel = digest("row", stamped(panel.signature), code, *names)
        for_agents = stamped(panel.for_agents.signature) if panel.agent_seats else ""
        self._for_agents = digest(self._panel, for_agents) if for_agents else self._panel
        self._aspects = IdentityCache[Aspect, bytes](canonical)

    def key(self, segment: Segment, aspect: Aspect) -> str:
        """Return the key of the row for a pair."""
        contents = asked_about(segment, self._aspects.of(aspect))
        panel = self._panel if segment.trajectory is None else self._for_agents
        return digest(panel, segment.segment_id, *contents)

    def recall(self, key: str, segment: Segment, aspect: Aspect) -> FinishedRow | None:
        """Return the finished row for a pair; None if there is none."""
        line = self._memory.get(key) if self._may_keep else None
        if line is None:
            return None
        try:
            row = _ROW.decode(line)
        except msgspec.MsgspecError:  # judge the pair again
            return None
        return FinishedRow(segment, aspect, line, _figures(row, segment, aspect))

    async def keep(self, key: str, result: Result, line: bytes) -> None:
        """Store the `line` of `result` if it is finished.

        Raise `StoreError` if the memory cannot be written.
        """
        if self._may_keep and _is_finished(result):
            await self._memory.put_soon(key, line)


def _judges_what_is_seen(judge: Judge) -> bool:
    """Return whether the reports of `judge` depend only on its signature and a row's key.

    A plugin's judge with its own key may depend on more; the judges of spanjury do not.
    """
    is_ours = type(judge).__module__.startswith("spanjury.")
    inner: Judge | None = getattr(judge, "judge", None) if is_ours else None
    if inner is not None:
        return _judges_what_is_seen(inner)
    return is_ours or not isinstance(judge, KeyedJudge)


def _digest_of(*functions: Callable[..., object]) -> str:
    """Return a digest of the code that makes rows; empty if a part of it cannot be read."""
    try:
        return code_digest(__name__, *(function.__module__ for function in functions))
    except (AttributeError, ImportError, ValueError):  # a notebook's, or made at run time
        return ""


def _is_finished(result: Result) -> bool:
    """Return whether each seat gave a plain report with an answer; others store their own."""
    report = result.report
    return report.outcome in USABLE and all(
        type(seat.report) is Report and seat.report.outcome in USABLE for seat in report.seats
    )


class _Seat(msgspec.Struct):
    judge: str
    outcome: Outcome
    usage: Usage


class _Basis(msgspec.Struct):
    false_alarms: float | None
    measured_on: str
    misses: float | None = None
    spread: tuple[float, float] | None = None


class _Row(msgspec.Struct):
    """The part of a row that the summary counts."""

    outcome: Outcome
    score: float | None
    reason: str
    spans: list[msgspec.Raw]
    seats: list[_Seat]
    decision: Decision | None
    decision_basis: _Basis | None
    unasked: Unasked | None


class _FinishedRow(msgspec.Struct):
    """The part of a row that becomes the panel's report, under the names of its fields."""

    outcome: Outcome
    score: float | None
    reason: str
    spans: tuple[ErrorSpan, ...]
    signature: str
    aggregation: str
    consolidator: str
    set_aside: tuple[str, ...]
    left_out: int
    decision: Decision | None
    basis: DecisionBasis | None = msgspec.field(name="decision_basis")
    error_probability: float | None
    unasked: Unasked | None
    unverified: tuple[Unverified, ...] = ()


_ROW = msgspec.json.Decoder(_Row)
_FINISHED = msgspec.json.Decoder(_FinishedRow)


def _figures(row: _Row, segment: Segment, aspect: Aspect) -> Figures:
    risk, basis = None, row.decision_basis
    if row.decision and basis:
        share = basis.misses if basis.false_alarms is None else basis.false_alarms
        risk = Risk(row.decision, share, basis.measured_on, basis.spread)
    return Figures(
        task=aspect.task.name,
        aspect=aspect.name,
        system=segment.system,
        outcome=row.outcome,
        score=row.score,
        reason=row.reason,
        spans=len(row.spans),
        decision=row.decision,
        risk=risk,
        seats=[(seat.judge, seat.outcome, seat.usage) for seat in row.seats],
        unasked=row.unasked,
    )
