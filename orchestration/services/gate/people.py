"""How far judges agree with people, as a gate asks it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from anyio import to_thread

from spanjury.orchestration.services.agreement import MetaJob, gather, measure
from spanjury.orchestration.services.agreement_report import write_meta
from spanjury.orchestration.services.evaluate import Job, run
from spanjury.orchestration.services.gate.context import (
    ExamContext,
    Recorder,
    make_folder,
    recorded,
    write_findings,
)
from spanjury.orchestration.services.scorers import PANEL
from spanjury.orchestration.studies.agreement.whole import MetaFindings
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.wiring.config import PanelConfig

__all__ = ["People"]

_PEOPLE = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """How far scores agree with people's.

    Parameters
    ----------
    job
        Judges the texts that people have scored.
    assessments, aspects
        How many there are, and what is judged.
    meta
        Compares the scores.
    """

    job: Job
    assessments: int
    aspects: tuple[str, ...]
    meta: MetaJob
    name: str = _PEOPLE
    topics: tuple[str, ...] = (_PEOPLE,)

    def questions(self, panel: PanelConfig) -> int:
        """Every text on every aspect."""
        del panel
        return self.assessments

    async def run(self, context: ExamContext) -> None:
        """Have the texts judged, and compare the scores with people's."""
        make_folder(context.folder)
        output, recorder = context.folder / "results.jsonl", Recorder(context.show)
        job = replace(
            self.job,
            panel=context.panel,
            memory=context.memory,
            output=output,
            failures=context.failures,
        )
        await run(job, recorder, stop_token=context.stop_token, meter=context.meter)
        assert recorder.examinee is not None  # a job without assessments is refused
        measures = tuple(map(_undefined, self.aspects))
        if recorder.scored:  # of nothing there is nothing to compare
            meta = replace(self.meta, results=(output,))
            told = gather(meta)
            findings = await measure(meta, told)
            await to_thread.run_sync(partial(write_meta, context.folder, findings, told))
            measures = tuple(_measures(findings, several=len(recorder.examinee.seats) > 1))
        record = recorded(
            "agreement with people",
            recorder.examinee,
            data=str(self.meta.human),
            measures=measures,
        )
        write_findings(context.folder, record)


def _measures(findings: MetaFindings, *, several: bool) -> Iterator[Measure]:
    """Yield the correlations of a judge, or of a panel without its seats."""
    for one in findings.agreements:
        if several and one.scorer != PANEL:
            continue
        says = f"{findings.settings.method} with people's scores, {one.coverage:.0%} of them judged"
        yield Measure(
            name=f"{_PEOPLE}.{one.aspect}",
            value=_defined(one.value),
            says=f"{says}; none: {one.reason}" if one.reason else says,
            count=one.items,
            low=_defined(one.low),
            high=_defined(one.high),
        )


def _undefined(aspect: str) -> Measure:
    return Measure(name=f"{_PEOPLE}.{aspect}", value=None, says="none: no report", count=0)


def _defined(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
