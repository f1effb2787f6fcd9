"""The exams of a gate: each examines every judge in the same way."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from anyio import to_thread

from spanjury.judges.core import PanelReport, Result
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy
from spanjury.orchestration.report.files import make_folder, write_report, write_whole
from spanjury.orchestration.report.json import json_text, plain
from spanjury.orchestration.report.numbers import defined
from spanjury.orchestration.services.exams.exam_card import exam_record
from spanjury.orchestration.services.exams.study import Live, PanelStudy
from spanjury.orchestration.services.judging.evaluate import run as run_job
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.judging.scorers import PANEL
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.services.people.agreement import collect, measure
from spanjury.orchestration.services.people.agreement_report import write_meta
from spanjury.orchestration.services.people.marked_texts import MarkedSource
from spanjury.orchestration.services.training.gate.material import Material
from spanjury.orchestration.studies.agreement.findings import MetaFindings
from spanjury.orchestration.studies.agreement.scorers import Settings as ScorerSettings
from spanjury.orchestration.studies.agreement.spans.estimates import Settings
from spanjury.orchestration.studies.card import Card, Measure, card_report
from spanjury.orchestration.studies.held_out import (
    FIGURES,
    cautions,
    collect_scores,
    measure_name,
    measures_of,
)
from spanjury.orchestration.studies.judging import Examinee, Recorder
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.results import open_results

_PEOPLE = "people"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """A judge in an exam, the folder of the findings, and the terms of the run.

    Parameters
    ----------
    limits
        None: those of the gate are for all exams together.
    """

    panel: PanelConfig
    folder: Path
    memory: Path
    failures: FailurePolicy
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamPlan:
    """An exam of a judge, or several exams, ready to run.

    Parameters
    ----------
    total
        About how many results there will be.
    run
        Examines the judge, and writes the findings into its folder.
    """

    total: int
    run: Callable[[Live], Awaitable[None]]


class GateExam(Protocol):
    """An exam that is the same for every judge."""

    @property
    def name(self) -> str:
        """Name of its folder, beside those of the other exams."""
        ...

    @property
    def topics(self) -> tuple[str, ...]:
        """The first parts of the names of its measures."""
        ...

    def plan(self, sitting: Sitting) -> ExamPlan:
        """Read what the exam needs; no judge is asked."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyExam:
    """A study that examines a judge.

    Parameters
    ----------
    name
        Name of the folder of its findings.
    topics
        The first parts of the names of its measures.
    """

    study: PanelStudy[object]
    name: str
    topics: tuple[str, ...]

    def plan(self, sitting: Sitting) -> ExamPlan:
        """Plan the study for a judge; raise as `PanelStudy.plan` does."""
        study = replace(
            self.study, panel=sitting.panel, memory=sitting.memory, failures=sitting.failures
        )
        plan = study.plan()

        async def run(live: Live) -> None:
            report = await plan.run(live)
            await to_thread.run_sync(partial(report.save, sitting.folder))

        return ExamPlan(total=plan.total, run=run)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """The agreement of a judge's reports on held-out texts with the targets."""

    material: Material
    data: str
    settings: Settings
    name: str = "held-out"
    topics: tuple[str, ...] = ("reports", "spans", "graded", "recognised", "severity", "score")

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of all measures, known before any judge is asked."""
        groups = self.material.groups
        return tuple(measure_name(figure, group) for figure in FIGURES for group in groups)

    def plan(self, sitting: Sitting) -> ExamPlan:
        """Plan to judge the examples; writes ``results.jsonl``, ``findings.json`` and a report."""

        async def run(live: Live) -> None:
            reports = await self._judge(sitting, live)
            await to_thread.run_sync(partial(self._write, sitting.folder, reports))

        return ExamPlan(total=len(self.material.cases), run=run)

    async def _judge(self, sitting: Sitting, live: Live) -> list[PanelReport]:
        """Return the report on each case; raise `RunStoppedError` if the run was ended."""
        make_folder(sitting.folder)
        reports: list[PanelReport] = []
        with (
            open_session(sitting, stop_token=live.stop_token, meter=live.meter) as session,
            open_results(sitting.folder / "results.jsonl") as results,
        ):

            def keep(result: Result) -> None:
                results.append(result)
                reports.append(result.report)
                live(result)

            async def judge() -> None:
                async with session.open_panel(sitting.panel) as panel:
                    await evaluate(
                        panel,
                        ((case.segment, case.aspect) for case in self.material.cases),
                        write=keep,
                        workers=sitting.panel.workers,
                        stop_token=live.stop_token,
                    )

            await session.run(judge)
        return reports

    def _write(self, folder: Path, reports: Sequence[PanelReport]) -> None:
        score_arrays = collect_scores(self.material.cases, reports)
        record = exam_record(
            "held-out examples",
            Examinee.of(reports[0]),
            data=self.data,
            measures=measures_of(score_arrays, self.material.groups, settings=self.settings),
            cautions=tuple(cautions(score_arrays)),
        )
        outcomes = {
            group: {outcome.value: count for outcome, count in score_arrays.part(inside).ended()}
            for group, inside in self.material.groups.items()
        }
        report = card_report(Card(records=(record,)), gates=())
        write_report(folder, report, data={"outcomes": outcomes, "card": plain(record)})


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Agreement of scores with people's."""

    job: Job
    assessments: int
    aspects: tuple[str, ...]
    source: MarkedSource
    settings: ScorerSettings
    name: str = _PEOPLE
    topics: tuple[str, ...] = (_PEOPLE,)

    def plan(self, sitting: Sitting) -> ExamPlan:
        """Plan to have the texts judged, and to compare the scores with people's."""
        return ExamPlan(total=self.assessments, run=partial(self._run, sitting))

    async def _run(self, sitting: Sitting, live: Live) -> None:
        make_folder(sitting.folder)
        output, recorder = sitting.folder / "results.jsonl", Recorder(live)
        job = replace(
            self.job,
            panel=sitting.panel,
            memory=sitting.memory,
            output=output,
            failures=sitting.failures,
        )
        await run_job(job, recorder, stop_token=live.stop_token, meter=live.meter)
        assert recorder.examinee is not None  # a job without assessments is refused
        measures = tuple(map(_undefined, self.aspects))
        if recorder.scored:  # without any score there is nothing to compare
            collected = collect(replace(self.source, results=(output,)))
            findings = await measure(collected, self.settings)
            await to_thread.run_sync(partial(write_meta, sitting.folder, findings, collected))
            measures = tuple(_measures(findings, several=len(recorder.examinee.seats) > 1))
        record = exam_record(
            "agreement with people",
            recorder.examinee,
            data=str(self.source.human),
            measures=measures,
        )
        values = json_text({"card": plain(record)})
        write_whole(sitting.folder / "findings.json", values.encode())


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
