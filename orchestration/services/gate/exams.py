"""A study as a gate runs it: the same for every judge."""

from dataclasses import dataclass, replace
from functools import partial

from anyio import to_thread

from spanjury.orchestration.services.exams.study import PanelStudy
from spanjury.orchestration.services.gate.context import ExamContext
from spanjury.orchestration.wiring.config import PanelConfig


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

    def questions(self, panel: PanelConfig) -> int:
        """Return about how many results there will be."""
        return replace(self.study, panel=panel).plan().total

    async def run(self, context: ExamContext) -> None:
        """Examine a judge, and write the findings into its folder."""
        plan = await to_thread.run_sync(context.study(self.study).plan)
        report = await plan.run(context)
        await to_thread.run_sync(partial(report.save, context.folder))
