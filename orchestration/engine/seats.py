"""The seats of a panel, each of a judge that reports or whose failure is its report."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from spanjury.judges.core import (
    RUN_ENDING,
    Aspect,
    EventLog,
    Judge,
    JudgeError,
    ModelError,
    Outcome,
    ParseError,
    Report,
    SeatReport,
    Segment,
    bind_values,
    kind_of,
    reason_of,
    release_values,
    stamped,
)
from spanjury.orchestration.engine.metering import noting_models
from spanjury.orchestration.engine.report_checks import checked_report

log = EventLog()


@dataclass(frozen=True, kw_only=True)
class Seat:
    """One judge's place on a panel, under a name that is unique there."""

    name: str
    judge: Judge

    @cached_property
    def signature(self) -> str:
        """The judge's, read once: it cannot change while the judge sits."""
        return self.judge.signature


async def seat_report(seat: Seat, segment: Segment, aspect: Aspect) -> SeatReport:
    """Have a seat's judge report; whatever it raises costs this report only.

    Each model that was asked for the report is handed it: it may be of no use. Raise what ends a
    run (`RUN_ENDING`).
    """
    began = time.perf_counter()
    with noting_models() as asked:
        report = await _report(seat, segment, aspect)
    for judged in asked:
        judged(report)
    return SeatReport(
        seat=seat.name,
        signature=stamped(seat.signature),
        report=report,
        seconds=time.perf_counter() - began,
    )


async def _report(seat: Seat, segment: Segment, aspect: Aspect) -> Report:
    bound = bind_values(seat=seat.name)
    try:
        if lacking := aspect.lacking(segment.inputs):
            return _abstained(aspect, lacking)
        return checked_report(await seat.judge.assess(segment, aspect), segment, aspect)
    except (JudgeError, ModelError) as error:
        log.warning("panel.seat_failed", outcome=error.outcome.value, error=kind_of(error))
        reply = error.reply if isinstance(error, ParseError) else ""
        return Report(outcome=error.outcome, reason=reason_of(error), reply=reply)
    except RUN_ENDING:
        raise  # by what concerns all seats and rows, as a reply that cannot be kept
    except Exception as error:  # the border to judges that are not ours
        log.exception("panel.seat_broken")
        reason = f"the judge's own code failed: {reason_of(error, kind=True)}"
        return Report(outcome=Outcome.BACKEND_FAILED, reason=reason)
    finally:
        release_values(bound)


def _abstained(aspect: Aspect, lacking: Sequence[str]) -> Report:
    """Spare a judge what cannot be judged: a summary's consistency without the article."""
    reason = f"{aspect.name} cannot be judged without an input {' and '.join(lacking)}"
    return Report(outcome=Outcome.ABSTAINED, reason=reason)
