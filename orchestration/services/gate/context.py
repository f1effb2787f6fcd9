"""The context in which a gate examines one judge, and the exams that run in it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from spanjury.judges.core import Result
from spanjury.orchestration.engine.metering import Limits, Meter
from spanjury.orchestration.engine.stopping import FailurePolicy, StopToken
from spanjury.orchestration.services.exams.study import PanelStudy
from spanjury.orchestration.wiring.config import PanelConfig

S = TypeVar("S", bound=PanelStudy[object])


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamContext:
    """The judge of one exam, the folder of its findings, and the terms of the run.

    Parameters
    ----------
    limits
        None: those of the gate are for all exams together.
    """

    panel: PanelConfig
    folder: Path
    memory: Path
    stop_token: StopToken
    meter: Meter
    show: Callable[[Result], None]
    failures: FailurePolicy
    limits: Limits = Limits()

    def study(self, study: S) -> S:
        """Return `study` for the judge of this context."""
        return replace(study, panel=self.panel, memory=self.memory, failures=self.failures)

    def __call__(self, result: Result, /) -> None:
        """Show a result."""
        self.show(result)

    def expect(self, total: int) -> None:
        """Ignore how many results one exam expects: others follow."""


class GateExam(Protocol):
    """An exam that is the same for every judge."""

    @property
    def name(self) -> str:
        """Of its folder beside those of the other exams."""
        ...

    @property
    def topics(self) -> tuple[str, ...]:
        """The first parts of the names of its measures."""
        ...

    def questions(self, panel: PanelConfig) -> int:
        """Return about how many results there will be."""
        ...

    async def run(self, context: ExamContext) -> None:
        """Examine a judge, and write the findings into its folder."""
        ...
