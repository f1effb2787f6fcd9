"""A gate: exams that are the same for every judge, requirements, and findings."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from anyio import to_thread

from spanjury.judges.core import ConfigError, PanelReport, Result, choices_for
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.stopping import FailurePolicy, run_in_time
from spanjury.orchestration.report.files import make_folder, write_report, write_whole
from spanjury.orchestration.report.json import json_text, plain
from spanjury.orchestration.services.exams.study import Live, PanelStudy
from spanjury.orchestration.services.exams.study_report import (
    exam_record,
    read_judge_card,
    write_judge_card,
)
from spanjury.orchestration.services.judging.evaluate import run as run_job
from spanjury.orchestration.services.judging.job import Job
from spanjury.orchestration.services.judging.session import open_session
from spanjury.orchestration.services.people.agreement import collect, measure
from spanjury.orchestration.services.people.agreement_report import write_meta
from spanjury.orchestration.services.people.marked_texts import MarkedSource
from spanjury.orchestration.services.training.gate.material import Material
from spanjury.orchestration.studies.agreement.findings import MetaFindings
from spanjury.orchestration.studies.agreement.scorers import PANEL
from spanjury.orchestration.studies.agreement.scorers import Settings as ScorerSettings
from spanjury.orchestration.studies.card import (
    SIGNED,
    Card,
    Gate,
    Measure,
    Ranges,
    card_report,
    measured,
    ranges_of,
)
from spanjury.orchestration.studies.estimates import Settings
from spanjury.orchestration.studies.gate import (
    GateFindings,
    OverBase,
    demand_results,
    gate_json,
    gate_report,
)
from spanjury.orchestration.studies.held_out import (
    RANGES,
    cautions,
    collect_scores,
    measure_name,
    measures_of,
)
from spanjury.orchestration.studies.judging import Examinee, Recorder
from spanjury.orchestration.wiring.config import ModelConfig, PanelConfig, SeatConfig
from spanjury.orchestration.wiring.results import ResultWriter
from spanjury.orchestration.wiring.runs import MEMORY_NAME

_PEOPLE = "people"
BASE, DISTILLED, TEACHER = "base", "distilled", "teacher"

JUDGE = "distilled"
"""Name of the judge that uses the short prompt."""
READER, CHECKER = "reader", "checker"
"""Names of the judges whose encoder marks words, or checks claims."""
_LOCAL = "local"
_FOLDER = "gate"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """A judge in an exam, the folder for the findings, and the terms of the run.

    Within a gate there are no limits: those of the gate cover all exams together.
    """

    panel: PanelConfig
    folder: Path
    memory: Path
    failures: FailurePolicy
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamPlan:
    """One or more exams of a judge, ready to run.

    `run` examines the judge, and writes the findings into its folder; `total` is the approximate
    number of results, and `ranges` are those of its measures.
    """

    total: int
    run: Callable[[Live], Awaitable[None]]
    ranges: Ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyExam:
    """A study that examines a judge; its findings go to a folder of this name."""

    study: PanelStudy[object]
    name: str

    def plan(self, sitting: Sitting) -> ExamPlan:
        """Plan the study for a judge; raises as `PanelStudy.plan`."""
        study = replace(
            self.study, panel=sitting.panel, memory=sitting.memory, failures=sitting.failures
        )
        plan = study.plan()

        async def run(live: Live) -> None:
            report = await plan.run(live)
            await to_thread.run_sync(partial(report.save, sitting.folder))

        return ExamPlan(total=plan.total, run=run, ranges=ranges_of(plan.measures))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """The agreement of a judge's reports on held-out texts with the targets."""

    material: Material
    data: str
    settings: Settings
    name: str = "held-out"

    def plan(self, sitting: Sitting) -> ExamPlan:
        """Plan to judge the examples; writes ``results.jsonl``, ``findings.json`` and a report."""

        async def run(live: Live) -> None:
            reports = await self._judge(sitting, live)
            await to_thread.run_sync(partial(self._write, sitting.folder, reports))

        ranges = {
            measure_name(figure, group): values
            for figure, values in RANGES.items()
            for group in self.material.groups
        }
        return ExamPlan(total=len(self.material.cases), run=run, ranges=ranges)

    async def _judge(self, sitting: Sitting, live: Live) -> list[PanelReport]:
        """Return the report on each case; raise `RunStoppedError` if the run was ended early."""
        make_folder(sitting.folder)
        reports: list[PanelReport] = []
        with (
            open_session(sitting, stop_token=live.stop_token, meter=live.meter) as session,
            ResultWriter(sitting.folder / "results.jsonl") as results,
        ):

            def keep(result: Result) -> None:
                results.append(result)
                reports.append(result.report)
                live(result)

            pairs = ((case.segment, case.aspect) for case in self.material.cases)
            await session.judge(sitting.panel, pairs, write=keep)
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
    """The agreement of scores with people's."""

    job: Job
    assessments: int
    aspects: tuple[str, ...]
    source: MarkedSource
    settings: ScorerSettings
    name: str = _PEOPLE

    def plan(self, sitting: Sitting) -> ExamPlan:
        """Plan to have the texts judged, and to compare the scores with people's."""
        ranges = {f"{_PEOPLE}.{aspect}": SIGNED for aspect in self.aspects}
        return ExamPlan(total=self.assessments, run=partial(self._run, sitting), ranges=ranges)

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
        measures = tuple(
            Measure(
                name=f"{_PEOPLE}.{aspect}",
                value=None,
                says="none: no report",
                count=0,
                range=SIGNED,
            )
            for aspect in self.aspects
        )
        if recorder.scored:  # without any score there is nothing to compare
            collected = collect(replace(self.source, results=(output,)))
            findings = await measure(collected, self.settings)
            await to_thread.run_sync(partial(write_meta, sitting.folder, findings, collected))
            measures = tuple(_measures(findings))
        record = exam_record(
            "agreement with people",
            recorder.examinee,
            data=str(self.source.human),
            measures=measures,
        )
        values = json_text({"card": plain(record)})
        write_whole(sitting.folder / "findings.json", values.encode())


GateExam = StudyExam | HeldOut | People
"""An exam that is the same for every judge; its name is that of its folder."""


def _measures(findings: MetaFindings) -> Iterator[Measure]:
    """Yield the correlations of a judge, or of a panel without its seats."""
    has_panel = any(agreement.scorer == PANEL for agreement in findings.agreements)
    for agreement in findings.agreements:
        if has_panel and agreement.scorer != PANEL:
            continue
        method = findings.settings.method
        says = f"{method} with people's scores, {agreement.coverage:.0%} of them judged"
        measure = measured(
            f"{_PEOPLE}.{agreement.aspect}",
            agreement,
            says=f"{says}; none: {agreement.reason}" if agreement.reason else says,
            count=agreement.items,
        )
        yield replace(measure, range=SIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """Requirements on a distilled judge: values to reach, and measures to exceed its base's."""

    gates: tuple[Gate, ...] = ()
    over_base: tuple[OverBase, ...] = ()

    def require_known(self, ranges: Ranges) -> None:
        """Check, before any judge runs, that an exam has each required measure.

        Raise `ConfigError` if no exam has a measure, with a list of those that there are, or if
        every value of a measure meets a requirement, or none does.
        """
        names = (*(gate.name for gate in self.gates), *(over.name for over in self.over_base))
        for name in names:
            if name not in ranges:
                raise ConfigError(f"no exam here has {name!r}; {choices_for(name, ranges)}")
        for gate in self.gates:
            gate.require_decisive(ranges[gate.name])


@dataclass(frozen=True, slots=True, kw_only=True)
class GateJob:
    """A gate: the judges, their exams, and the requirements on the distilled one.

    `model` is the folder of the distilled judge's model, which was made from the base with this
    identity. `judges` has the panel for each role; `DISTILLED` is one of them. `output` has a
    subfolder for each judge, which contains one for each exam.
    """

    model: Path
    base_identity: str
    data: tuple[Path, ...]
    judges: Mapping[str, PanelConfig]
    exams: tuple[GateExam, ...]
    demands: Demands
    output: Path
    limits: Limits = field(default_factory=Limits)
    failures: FailurePolicy = FailurePolicy()
    cautions: tuple[str, ...] = ()

    def folder(self, role: str, exam: GateExam) -> Path:
        """Return the folder of an exam's findings on a judge."""
        return self.output / role / exam.name


def judge_in(model: str, *, name: str, options: Mapping[str, object]) -> PanelConfig:
    """Return a panel with one seat, which judges with a model by the short prompt."""
    seat = SeatConfig(
        judge=JUDGE, name=name, model=ModelConfig(name=f"{_LOCAL}/{model}"), options=options
    )
    return PanelConfig(seats=(seat,))


def encoder_in(
    folder: Path, *, name: str, options: Mapping[str, object], is_checker: bool
) -> PanelConfig:
    """Return a panel with one seat, which judges with the reader or checker in `folder`."""
    judge, option = (CHECKER, "folder") if is_checker else (READER, "weights")
    given = {option: str(folder), **options}
    return PanelConfig(seats=(SeatConfig(judge=judge, name=name, options=given),))


def plan_gate(job: GateJob) -> ExamPlan:
    """Plan every exam of every judge; raises as the plans of exams and `require_known` do.

    `run` makes no call whose reply is remembered. It raises `RunStoppedError` if the stop token
    ended it early, in which case finished exams have written their findings, and the
    `EvaluationError` of an exam.
    """
    plans = [
        exam.plan(
            Sitting(
                panel=panel,
                folder=job.folder(role, exam),
                memory=job.output / role / MEMORY_NAME,
                failures=job.failures,
            )
        )
        for role, panel in job.judges.items()
        for exam in job.exams
    ]
    ranges = {name: values for plan in plans for name, values in plan.ranges.items()}
    job.demands.require_known(ranges)

    async def run(live: Live) -> None:
        async def examine() -> None:
            for plan in plans:
                # Each exam tracks its own total, since other exams follow.
                own = Live(
                    total=plan.total, stop_token=live.stop_token, meter=live.meter, on_result=live
                )
                await plan.run(own)

        await run_in_time(examine, live.stop_token, seconds=job.limits.max_seconds)

    return ExamPlan(total=sum(plan.total for plan in plans), run=run, ranges=ranges)


def write_gate(job: GateJob) -> tuple[GateFindings, list[Path]]:
    """Join the findings of all exams, compare them with the requirements, and write the result.

    The findings go to the output folder. The findings and the judge's card also go to ``gate`` in
    the model's folder: next to its weights they would change the model's identity, which was
    examined without them.

    Raise `ConfigError` if no exam has a required measure, and `StoreError` if a file cannot be
    written.
    """
    cards = {
        role: read_judge_card([job.folder(role, exam) for exam in job.exams]) for role in job.judges
    }
    findings = GateFindings(
        model=str(job.model),
        data=tuple(map(str, job.data)),
        cards=cards,
        demands=demand_results(
            job.demands.gates,
            job.demands.over_base,
            distilled=cards[DISTILLED].measures,
            base=cards[BASE].measures if BASE in cards else {},
        ),
        cautions=(*job.cautions, *_cautions(cards, base_identity=job.base_identity)),
    )
    written: list[Path] = []
    for folder in (job.output, job.model / _FOLDER):
        report, data = gate_report(findings), gate_json(findings)
        written += write_report(folder, report, data=data, page="gate", values="gate")
    written += write_judge_card(job.model / _FOLDER, cards[DISTILLED], gates=job.demands.gates)
    return findings, written


def _cautions(cards: Mapping[str, Card], *, base_identity: str) -> Iterator[str]:
    """Yield cautions about the base and about the first exam; the others' pages have their own."""
    if BASE in cards:
        (signature,) = cards[BASE].records[0].seats.values()
        if f"|weights:{base_identity}|" not in signature:
            yield f"the examined base is not {base_identity}, which the model was made from"
    for role, card in cards.items():
        yield from (f"{role}: {caution}" for caution in card.records[0].cautions)
