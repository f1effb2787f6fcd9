"""The held-out evaluation, as a gate runs it: a judge's reports beside the targets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from anyio import to_thread

from spanjury.judges.core import PanelReport, Result
from spanjury.orchestration.engine.batch import evaluate
from spanjury.orchestration.report.files import make_folder, write_report
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.services.exam_card import exam_record
from spanjury.orchestration.services.gate.context import ExamContext
from spanjury.orchestration.services.gate.material import Material
from spanjury.orchestration.services.session import open_session
from spanjury.orchestration.studies.agreement.spans.estimates import Settings
from spanjury.orchestration.studies.card import Card, card_report
from spanjury.orchestration.studies.held_out.findings import (
    FIGURES,
    cautions,
    measure_name,
    measures_of,
)
from spanjury.orchestration.studies.held_out.score_arrays import collect_scores
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.wiring.config import PanelConfig
from spanjury.orchestration.wiring.results import open_results


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

    def questions(self, panel: PanelConfig) -> int:
        """Return the number of examples."""
        del panel
        return len(self.material.cases)

    async def run(self, context: ExamContext) -> None:
        """Examine a judge; write ``results.jsonl``, ``findings.json`` and a report."""
        reports = await self._judge(context)
        await to_thread.run_sync(partial(self._write, context, reports))

    async def _judge(self, context: ExamContext) -> list[PanelReport]:
        """Return the report on each case; raise `RunStoppedError` if the run was ended."""
        make_folder(context.folder)
        reports: list[PanelReport] = []
        with (
            open_session(context, stop_token=context.stop_token, meter=context.meter) as session,
            open_results(context.folder / "results.jsonl") as results,
        ):

            def keep(result: Result) -> None:
                results.append(result)
                reports.append(result.report)
                context.show(result)

            async def judge() -> None:
                async with session.open_panel(context.panel) as panel:
                    await evaluate(
                        panel,
                        ((case.segment, case.aspect) for case in self.material.cases),
                        write=keep,
                        workers=context.panel.workers,
                        stop_token=context.stop_token,
                    )

            await session.run(judge)
        return reports

    def _write(self, context: ExamContext, reports: Sequence[PanelReport]) -> None:
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
        write_report(context.folder, report, data={"outcomes": outcomes, "card": plain(record)})
