"""The agreement of judges with people, as a gate measures it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

from anyio import to_thread

from spanjury.orchestration.report.files import make_folder, write_whole
from spanjury.orchestration.report.json import json_text, plain
from spanjury.orchestration.report.numbers import defined
from spanjury.orchestration.services.agreement import MetaJob, collect, measure
from spanjury.orchestration.services.agreement_report import write_meta
from spanjury.orchestration.services.evaluate import run
from spanjury.orchestration.services.exam_card import exam_record
from spanjury.orchestration.services.gate.context import ExamContext
from spanjury.orchestration.services.job import Job
from spanjury.orchestration.services.scorers import PANEL
from spanjury.orchestration.studies.agreement.findings import MetaFindings
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.judging import Recorder
from spanjury.orchestration.wiring.config import PanelConfig

_PEOPLE = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Agreement of scores with people's."""

    job: Job
    assessments: int
    aspects: tuple[str, ...]
    meta: MetaJob
    name: str = _PEOPLE
    topics: tuple[str, ...] = (_PEOPLE,)

    def questions(self, panel: PanelConfig) -> int:
        """Return the number of texts times aspects."""
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
        if recorder.scored:  # without any score there is nothing to compare
            meta = replace(self.meta, results=(output,))
            collected = collect(meta)
            findings = await measure(meta, collected)
            await to_thread.run_sync(partial(write_meta, context.folder, findings, collected))
            measures = tuple(_measures(findings, several=len(recorder.examinee.seats) > 1))
        record = exam_record(
            "agreement with people",
            recorder.examinee,
            data=str(self.meta.human),
            measures=measures,
        )
        values = json_text({"card": plain(record)})
        write_whole(context.folder / "findings.json", values.encode())


def _measures(findings: MetaFindings, *, several: bool) -> Iterator[Measure]:
    """Yield the correlations of a judge, or of a panel without its seats."""
    for agreement in findings.agreements:
        if several and agreement.scorer != PANEL:
            continue
        method = findings.settings.method
        says = f"{method} with people's scores, {agreement.coverage:.0%} of them judged"
        yield Measure(
            name=f"{_PEOPLE}.{agreement.aspect}",
            value=defined(agreement.value),
            says=f"{says}; none: {agreement.reason}" if agreement.reason else says,
            count=agreement.items,
            low=defined(agreement.low),
            high=defined(agreement.high),
        )


def _undefined(aspect: str) -> Measure:
    return Measure(name=f"{_PEOPLE}.{aspect}", value=None, says="none: no report", count=0)
