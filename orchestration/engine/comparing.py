"""Comparing a pair: a judge sees it in both orders, and an exception becomes its report.

A pair judge without its own model prefers the text that a panel scores higher. The panel assesses
each text alone, so neither the order nor the other text can influence its score.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property

from anyio import Lock, create_task_group

from spanjury.judges.core import (
    Aspect,
    Comparison,
    EventLog,
    JudgeError,
    ModelError,
    OrderFreePairJudge,
    Outcome,
    PairJudge,
    PairReport,
    PanelReport,
    ParseError,
    Preference,
    Report,
    Segment,
    TextPair,
    failing_as,
    first_error_alone,
    kind_of,
    reason_of,
    signature,
    stamped,
)
from spanjury.orchestration.engine.metering import noting_models
from spanjury.orchestration.engine.panel import Panel
from spanjury.orchestration.engine.seats import (
    PASSING,
    OwnCodeError,
    check_fields,
    check_spans,
    lacking_reason,
    own_code_failed,
)

log = EventLog()

Compare = Callable[[TextPair, Aspect], Awaitable[Comparison]]
"""A function that compares a pair in both orders."""


@dataclass(frozen=True, kw_only=True)
class PairSeat:
    """A named pair judge that compares each pair in both orders."""

    name: str
    judge: PairJudge

    @cached_property
    def signature(self) -> str:
        """The judge's signature, with the version of spanjury."""
        return stamped(self.judge.signature)

    async def compare(self, pair: TextPair, aspect: Aspect) -> Comparison:
        """Return the judge's reports on `pair` in each order.

        If the judge or its model fails, the report of that order says so. Only errors that end a
        run (`RUN_ENDING`) are raised.
        """
        orders = [await self._report(pair, aspect)]
        is_order_free = isinstance(self.judge, OrderFreePairJudge) and self.judge.is_order_free
        if not is_order_free and orders[0].outcome is not Outcome.ABSTAINED:
            orders.append((await self._report(pair.swapped, aspect)).swapped)
        return Comparison(pair=pair, signature=self.signature, orders=tuple(orders))

    async def _report(self, pair: TextPair, aspect: Aspect) -> PairReport:
        with noting_models() as asked:
            report = await self._answer(pair, aspect)
        for judged in asked:
            judged(_as_report(report, aspect))
        return report

    async def _answer(self, pair: TextPair, aspect: Aspect) -> PairReport:
        try:
            if reason := lacking_reason(aspect, pair.a):
                return PairReport(outcome=Outcome.ABSTAINED, reason=reason)
            with failing_as(own_code_failed("pair.judge_broken"), passing=PASSING):
                report = await self.judge.compare(pair, aspect)
                return _checked(report, pair)
        except OwnCodeError as error:
            return PairReport(outcome=error.outcome, reason=str(error))
        except (JudgeError, ModelError) as error:
            log.warning("pair.judge_failed", outcome=error.outcome.value, error=kind_of(error))
            reply = error.reply if isinstance(error, ParseError) else ""
            return PairReport(outcome=error.outcome, reason=reason_of(error), reply=reply)


def _checked(report: object, pair: TextPair) -> PairReport:
    """Return `report` if it is a valid report on these texts; raise `JudgeError` otherwise."""
    if not isinstance(report, PairReport):
        raise JudgeError(f"the judge returned {report!r}, not a PairReport")
    check_fields(report, PairReport)
    check_spans(report.spans_a, pair.a)
    check_spans(report.spans_b, pair.b)
    return report


def _as_report(report: PairReport, aspect: Aspect) -> Report:
    """Return the report by which a model's guard counts whether a reply was usable."""
    is_scored = report.outcome is Outcome.SCORED
    return Report(
        outcome=report.outcome, score=aspect.scale.high if is_scored else None, reason=report.reason
    )


class PanelDifference:
    """Prefer the text with the higher panel score; texts with similar scores tie.

    Raises `ValueError` if the margin is negative.

    Parameters
    ----------
    panel
        Assesses each text once, in however many pairs it appears.
    margin
        The largest difference of scores at which two texts tie, in points of the aspect's scale.
        The default is half a step, since smaller differences mean little.
    """

    is_order_free = True

    def __init__(self, panel: Panel, *, margin: float = 0.5) -> None:
        if margin < 0:
            raise ValueError(f"margin must not be negative, got {margin!r}")
        self._panel = panel
        self._margin = margin
        self._texts: dict[tuple[str, str, str, str], _Assessed] = {}

    @property
    def signature(self) -> str:
        """The panel's signature, and the margin."""
        return signature("panel", margin=self._margin, panel=self._panel.signature)

    async def compare(self, pair: TextPair, aspect: Aspect) -> PairReport:
        """Return the preference that follows from the two scores.

        If a text has no score, there is no preference, and the comparison has that text's outcome.
        """
        texts = [self._assessed(pair.a, aspect), self._assessed(pair.b, aspect)]
        with first_error_alone():
            async with create_task_group() as group:
                for text in texts:
                    group.start_soon(text.assess, self._panel, aspect)
        a, b = (text.report for text in texts)
        if a.score is None or b.score is None:
            failed, name = (a, "A") if a.score is None else (b, "B")
            return PairReport(outcome=failed.outcome, reason=f"text {name}: {failed.reason}")
        return PairReport(
            outcome=Outcome.SCORED,
            preference=self._preferred(a.score - b.score),
            explanation=f"A scores {a.score:.2f} and B {b.score:.2f}.",
            spans_a=a.spans,
            spans_b=b.spans,
        )

    def _preferred(self, difference: float) -> Preference:
        if abs(difference) <= self._margin:
            return Preference.TIE
        return Preference.A if difference > 0 else Preference.B

    def _assessed(self, segment: Segment, aspect: Aspect) -> "_Assessed":
        key = (segment.segment_id, segment.system, segment.output, aspect.name)
        return self._texts.setdefault(key, _Assessed(segment))


class _Assessed:
    """A text that is assessed when first needed."""

    def __init__(self, segment: Segment) -> None:
        self._segment = segment
        self._reports: list[PanelReport] = []
        self._lock = Lock()

    @property
    def report(self) -> PanelReport:
        """The panel's report; `assess` must have finished."""
        return self._reports[0]

    async def assess(self, panel: Panel, aspect: Aspect) -> None:
        """Have the panel assess the text, unless it has done so."""
        async with self._lock:
            if not self._reports:
                self._reports.append(await panel.assess(self._segment, aspect))
