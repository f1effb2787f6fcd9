"""Comparing a pair: a judge is shown it in both orders, and whatever it raises is its report."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from spanjury.judges.core import (
    RUN_ENDING,
    Aspect,
    Comparison,
    ErrorSpan,
    EventLog,
    JudgeError,
    ModelError,
    OrderFreePairJudge,
    Outcome,
    PairJudge,
    PairReport,
    ParseError,
    Report,
    Segment,
    TextPair,
    kind_of,
    reason_of,
    stamped,
)
from spanjury.orchestration.engine.metering import noting_models

log = EventLog()

Compare = Callable[[TextPair, Aspect], Awaitable[Comparison]]
"""Compares a pair in both orders."""


@dataclass(frozen=True, kw_only=True)
class PairSeat:
    """A pair judge under a name, which is asked about each pair in both orders."""

    name: str
    judge: PairJudge

    @cached_property
    def signature(self) -> str:
        """The judge's, with the version of spanjury."""
        return stamped(self.judge.signature)

    async def compare(self, pair: TextPair, aspect: Aspect) -> Comparison:
        """Return the judge's reports on `pair` in each order.

        A failure of the judge or its model costs the report of that order. Raise what ends a run
        (`RUN_ENDING`).
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
            if lacking := aspect.lacking(pair.a.inputs):
                return _failed(
                    Outcome.ABSTAINED,
                    f"{aspect.name} cannot be judged without an input {' and '.join(lacking)}",
                )
            return _checked(await self.judge.compare(pair, aspect), pair)
        except (JudgeError, ModelError) as error:
            log.warning("pair.judge_failed", outcome=error.outcome.value, error=kind_of(error))
            reply = error.reply if isinstance(error, ParseError) else ""
            return _failed(error.outcome, reason_of(error), reply=reply)
        except RUN_ENDING:
            raise
        except Exception as error:  # the border to judges that are not ours
            log.exception("pair.judge_broken")
            reason = f"the judge's own code failed: {reason_of(error, kind=True)}"
            return _failed(Outcome.BACKEND_FAILED, reason)


def _failed(outcome: Outcome, reason: str, *, reply: str = "") -> PairReport:
    return PairReport(outcome=outcome, reason=reason, reply=reply)


def _checked(report: object, pair: TextPair) -> PairReport:
    """Return `report` if it is one and its spans fit the texts; raise `JudgeError` if not."""
    if not isinstance(report, PairReport):
        raise JudgeError(f"the judge returned {report!r}, not a PairReport")
    _check_spans(report.spans_a, pair.a)
    _check_spans(report.spans_b, pair.b)
    return report


def _check_spans(spans: Sequence[ErrorSpan], segment: Segment) -> None:
    for span in spans:
        if span.interval and segment.output[slice(*span.interval)] != span.text:
            raise JudgeError(f"{span.interval} of the output does not read {span.text!r}")


def _as_report(report: PairReport, aspect: Aspect) -> Report:
    """Return what the guard of a model counts: whether its reply could be used."""
    is_scored = report.outcome is Outcome.SCORED
    return Report(
        outcome=report.outcome,
        score=aspect.scale.high if is_scored else None,
        reason=report.reason,
    )
