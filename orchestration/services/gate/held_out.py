"""The exam of what was taught, as a gate holds it: hear a judge on held-out examples."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from anyio import to_thread

from spanjury.judges.core import PanelReport, Result, RunStoppedError
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.report.files import write_whole
from spanjury.orchestration.services.gate.context import (
    ExamContext,
    make_folder,
    recorded,
    write_findings,
)
from spanjury.orchestration.services.gate.material import Material
from spanjury.orchestration.studies.agreement.spans.estimates import Settings
from spanjury.orchestration.studies.card import Card
from spanjury.orchestration.studies.card_page import card_markdown
from spanjury.orchestration.studies.held_out.findings import (
    FIGURES,
    cautions,
    measure_name,
    measures_of,
)
from spanjury.orchestration.studies.held_out.score_arrays import collected
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.wiring import (
    guard_of,
    open_configured_panel,
    open_memory,
    open_results,
)
from spanjury.orchestration.wiring.config import PanelConfig

__all__ = ["Lessons"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """Whether a judge says of held-out texts what is due.

    Parameters
    ----------
    material
        The texts.
    data
        What they are from, in words.
    settings
        Of the intervals.
    """

    material: Material
    data: str
    settings: Settings
    name: str = "lessons"
    topics: tuple[str, ...] = ("reports", "spans", "graded", "recognised", "severity", "score")

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of all measures, known before anybody is heard."""
        groups = self.material.groups
        return tuple(measure_name(figure, group) for figure in FIGURES for group in groups)

    def questions(self, panel: PanelConfig) -> int:
        """One for each example."""
        del panel
        return len(self.material.cases)

    async def run(self, context: ExamContext) -> None:
        """Hear a judge, and write ``results.jsonl``, ``findings.json`` and ``report.md``."""
        reports = await self._heard(context)
        await to_thread.run_sync(partial(self._write, context, reports))

    async def _heard(self, context: ExamContext) -> list[PanelReport]:
        """Return what the judge says of each case; raise `RunStoppedError` if it was ended."""
        make_folder(context.folder)
        reports: list[PanelReport] = []
        guard = guard_of(context.failures, memory=context.memory)
        with ExitStack() as stack:
            memory = stack.enter_context(open_memory(context.memory))
            results = stack.enter_context(open_results(context.folder / "results.jsonl"))

            def keep(result: Result) -> None:
                results.append(result)
                reports.append(result.report)
                context.show(result)

            opening = open_configured_panel(
                context.panel, memory=memory, meter=context.meter, guard=guard
            )
            async with opening as panel:
                pairs = ((case.segment, case.aspect) for case in self.material.cases)
                workers = context.panel.workers
                await evaluate(
                    panel, pairs, write=keep, workers=workers, stop_token=context.stop_token
                )
            guard.require_success()
            if context.stop_token.interrupted:
                raise RunStoppedError(context.stop_token.reason)
        return reports

    def _write(self, context: ExamContext, reports: Sequence[PanelReport]) -> None:
        score_arrays = collected(self.material.cases, reports)
        record = recorded(
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
        write_findings(context.folder, record, more={"outcomes": outcomes})
        page = card_markdown(Card(records=(record,)), gates=())
        write_whole(context.folder / "report.md", page.encode())
