"""The exams of discernment, of faithfulness and of robustness, as a gate runs them."""

from dataclasses import dataclass
from functools import partial

from anyio import to_thread

from spanjury.orchestration.services import (
    discernment,
    discernment_report,
    faithfulness,
    robustness,
)
from spanjury.orchestration.services.gate.context import ExamContext
from spanjury.orchestration.studies.discernment.exam import Exam as DiscernmentExam
from spanjury.orchestration.studies.faithfulness.exam import Exam as FaithfulnessExam
from spanjury.orchestration.studies.robustness.exam import Exam as RobustnessExam
from spanjury.orchestration.wiring.config import PanelConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class Discernment:
    """Whether the score falls when good texts are damaged."""

    job: discernment.ExamJob
    exam: DiscernmentExam
    name: str = "discernment"
    topics: tuple[str, ...] = ("discernment", "localisation", "invariance", "bias", "retest")

    def questions(self, panel: PanelConfig) -> int:
        """Return the number of texts, clean twice and damaged in every way, times aspects."""
        del panel
        exam = self.exam
        return len(exam.segments) * (len(exam.conditions) + 2) * len(exam.aspects)

    async def run(self, context: ExamContext) -> None:
        """Examine a judge."""
        job = context.job(self.job)
        result = await discernment.run_exam(
            job,
            self.exam,
            stop_token=context.stop_token,
            meter=context.meter,
            show=context.show,
        )
        write = partial(discernment_report.write_exam, context.folder, job, result)
        await to_thread.run_sync(write)


@dataclass(frozen=True, slots=True, kw_only=True)
class Faithfulness:
    """Whether the score follows a changed error list."""

    job: faithfulness.FaithfulnessJob
    exam: FaithfulnessExam
    name: str = "faithfulness"
    topics: tuple[str, ...] = ("faithfulness",)

    def questions(self, panel: PanelConfig) -> int:
        """Return how many there are at most."""
        return self.exam.questions(seats=len(panel.seats_or_default))

    async def run(self, context: ExamContext) -> None:
        """Examine a judge; each seat of a panel by itself."""
        result = await faithfulness.run_exam(
            context.job(self.job),
            self.exam,
            stop_token=context.stop_token,
            meter=context.meter,
            show=context.show,
            expect=_ignore,
        )
        await to_thread.run_sync(partial(faithfulness.write_exam, context.folder, result))


@dataclass(frozen=True, slots=True, kw_only=True)
class Robustness:
    """Whether an attack on a flawed text wins a better score."""

    job: robustness.RobustnessJob
    exam: RobustnessExam
    name: str = "robustness"
    topics: tuple[str, ...] = ("robustness",)

    def questions(self, panel: PanelConfig) -> int:
        """Return the number of texts with every attack and twice without, times aspects."""
        del panel
        exam = self.exam  # plain additions come on top
        return len(exam.segments) * (len(exam.attacks) + 2) * len(exam.aspects)

    async def run(self, context: ExamContext) -> None:
        """Examine a judge."""
        job = context.job(self.job)
        result = await robustness.run_exam(
            job,
            self.exam,
            stop_token=context.stop_token,
            meter=context.meter,
            show=context.show,
            expect=_ignore,
        )
        await to_thread.run_sync(partial(robustness.write_exam, context.folder, job, result))


def _ignore(_: int) -> None:
    """Ignore how many results an exam expects: other exams follow."""
