"""The exams of discernment, of faithfulness and of robustness, as a gate holds them."""

from dataclasses import dataclass, replace
from functools import partial

from anyio import to_thread

from spanjury.orchestration.services import discernment as exam
from spanjury.orchestration.services import discernment_report as exam_report
from spanjury.orchestration.services import (
    faithfulness,
    faithfulness_report,
    robustness,
    robustness_report,
)
from spanjury.orchestration.services.gate.context import ExamContext, Recorder
from spanjury.orchestration.studies.discernment.exam import Exam as DiscernmentExam
from spanjury.orchestration.studies.faithfulness.exam import Exam as FaithfulnessExam
from spanjury.orchestration.studies.faithfulness.findings import findings_of
from spanjury.orchestration.studies.robustness.exam import Exam as RobustnessExam
from spanjury.orchestration.wiring.config import PanelConfig

__all__ = ["Discernment", "Faithfulness", "Robustness"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discernment:
    """Whether the score falls when good texts are damaged."""

    job: exam.ExamJob
    exam: DiscernmentExam
    name: str = "discernment"
    topics: tuple[str, ...] = ("discernment", "localisation", "invariance", "bias", "retest")

    def questions(self, panel: PanelConfig) -> int:
        """Every text clean and damaged in every way, and clean once more."""
        del panel
        held = self.exam
        return len(held.segments) * (len(held.conditions) + 2) * len(held.aspects)

    async def run(self, context: ExamContext) -> None:
        """Examine a judge."""
        job = replace(self.job, panel=context.panel, memory=context.memory, failures=context.failures)
        result = await exam.hold(
            job, self.exam, stop_token=context.stop_token, meter=context.meter, show=context.show
        )
        await to_thread.run_sync(partial(exam_report.write_report, context.folder, job, result))


@dataclass(frozen=True, slots=True, kw_only=True)
class Faithfulness:
    """Whether the score follows a changed error list."""

    job: faithfulness.FaithfulnessJob
    exam: FaithfulnessExam
    name: str = "faithfulness"
    topics: tuple[str, ...] = ("faithfulness",)

    def questions(self, panel: PanelConfig) -> int:
        """As many as there are at most."""
        return self.exam.questions(seats=len(panel.heard))

    async def run(self, context: ExamContext) -> None:
        """Examine a judge; each seat of a panel by itself."""
        job = replace(self.job, panel=context.panel, memory=context.memory, failures=context.failures)
        recorder = Recorder(context.show)
        changes = await faithfulness.run(
            job,
            self.exam,
            stop_token=context.stop_token,
            meter=context.meter,
            show=recorder,
            expect=lambda _: None,  # other exams come behind it
        )
        findings = await to_thread.run_sync(partial(findings_of, changes, seed=job.seed))
        report = partial(
            faithfulness_report.write_report,
            context.folder,
            findings,
            data=str(job.data),
            changes=changes,
            examinee=recorder.examinee,
        )
        await to_thread.run_sync(report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """An attack on a flawed text wins no better score."""

    job: robustness.RobustnessJob
    exam: RobustnessExam
    name: str = "robustness"
    topics: tuple[str, ...] = ("robustness",)

    def questions(self, panel: PanelConfig) -> int:
        """Every text with every attack, and twice without; plain additions come on top."""
        del panel
        held = self.exam
        return len(held.segments) * (len(held.attacks) + 2) * len(held.aspects)

    async def run(self, context: ExamContext) -> None:
        """Examine a judge."""
        job = replace(self.job, panel=context.panel, memory=context.memory, failures=context.failures)
        result = await robustness.run(
            job,
            self.exam,
            stop_token=context.stop_token,
            meter=context.meter,
            show=context.show,
            expect=lambda _: None,  # other exams come behind it
        )
        await to_thread.run_sync(partial(robustness_report.write_report, context.folder, job, result))
