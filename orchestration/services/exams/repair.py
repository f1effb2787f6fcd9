"""The exam of repair: what a repair removes of planted errors, and what it harms."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import Live, PanelStudy, Plan, scope_of

with lazily():
    from spanjury.orchestration.engine.text_repair import loop
    from spanjury.orchestration.services.exams import study_report, terms
    from spanjury.orchestration.services.judging import conditions, exam_texts, session
    from spanjury.orchestration.services.judging import repair as repairs
    from spanjury.orchestration.studies.repair import attempts, exam, tables
    from spanjury.orchestration.wiring import config

_ATTEMPTS = "attempts.jsonl"  # a row for each text and each way of repairing it


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair(PanelStudy["exam.ExamResult"]):
    """Plant errors in good texts, repair them, and count the errors removed and the harm done.

    The panel guides the repair and keeps the better version. The examiner judges the repaired
    texts. The exam compares the repair with changing nothing and with deleting every marked span.
    A model repairs marked words, including those in calls and replies of trajectories. With
    --agent, your own agent receives the errors and answers again. The agent needs asyncio.
    """

    repair_model: Annotated[
        "str | config.ModelConfig | None",
        Parameter(
            "Model that rewrites marked words.",
            kind=str | None,
            env=True,
            address="repair_base_url",
        ),
    ] = None
    repair_base_url: Annotated[
        Sequence[str],
        Parameter("URL of that model's server.", "URL", kind=tuple[str, ...], env=True, rare=True),
    ] = ()
    agent: Annotated[
        "repairs.Agent | str | None",
        Parameter(
            "Asynchronous function that receives the errors and answers again, in place of a"
            " model.",
            "MODULE:FUNCTION",
            kind=str | None,
            env=True,
        ),
    ] = None
    examiner: Annotated[
        "terms.PanelSource | None",
        Parameter(
            "TOML file of the independent panel that judges the repaired texts.",
            kind=Path | None,
            env=True,
        ),
    ] = None
    recipe: Annotated[
        str | None,
        Parameter(
            "Recipe of the errors to plant: a name or a TOML file; 'flaws' by default, 'agents' for"
            " trajectories."
        ),
    ] = None
    rounds: Annotated[
        int, Parameter("Maximum rounds of repair for each text.", min=1, env=True, rare=True)
    ] = 3

    def plan(self) -> "Plan[exam.ExamResult]":
        """Read the texts, and plant the errors; raise as `PanelStudy.plan` does."""
        writer = self._writer()
        if self.examiner is None:
            raise ConfigError(
                "a repair is judged by a panel that did not guide it: name it with --examiner"
            )
        examiner, texts = terms.panel_of(self.examiner), self.texts
        first = islice(exam_texts.read_texts(texts, columns=self.columns), 1)
        name = self.recipe or exam_texts.damage_for([*first])
        recipe = conditions.find_recipe(name)
        segments, aspects = self.read(texts, task=recipe.task, aspects=recipe.aspects)
        harmful = conditions.harmful(conditions.conditions_of(recipe))
        if not harmful:
            raise ConfigError(f"{name} plants no errors: there is nothing to repair")
        planned = exam.Exam(
            segments=segments,
            aspects=aspects,
            conditions=harmful,
            rounds=self.rounds,
            settings=exam.Settings(seed=self.drawn_by),
        )

        async def run(live: Live) -> "study_report.StudyReport[exam.ExamResult]":
            with self.session(live) as opened:
                work = partial(
                    exam.examine,
                    planned,
                    self.exam_run(opened, live),
                    open_examiner=opened.opener(examiner),
                    open_writer=partial(_open_writer, writer, opened),
                )
                result = await opened.run(work)
            return _report(result, data=str(texts), recipe=name)

        return Plan(
            run=run,
            total=planned.assessments,
            scope=scope_of(segments, aspects, parts=f"{len(harmful)} damages"),
            measures=tables.RANGES,
        )

    def _writer(self) -> "repairs.Agent | config.ModelConfig":
        """Return what repairs; raise `ConfigError` unless one writer is named, and exists."""
        model = terms.model_of(self.repair_model, base_url=tuple(self.repair_base_url))
        if self.agent is not None and model is None:
            return repairs.agent_named(self.agent)
        if model is not None and self.agent is None:
            return model
        raise ConfigError("a repair needs one writer: name it with --repair-model or --agent")


@asynccontextmanager
async def _open_writer(
    writer: "repairs.Agent | config.ModelConfig", opened: "session.RunSession"
) -> "AsyncIterator[loop.Writer | loop.Rewriter]":
    if isinstance(writer, config.ModelConfig):
        async with opened.generator(writer).open() as chat:
            yield repairs.writer_of(chat, name=writer.name)
    else:
        yield repairs.AgentRewriter(agent=writer)


arepair, repair = from_python(Repair, name="repair")


def _report(
    result: "exam.ExamResult", *, data: str, recipe: str
) -> "study_report.StudyReport[exam.ExamResult]":
    document = tables.repair_report(result, data=data, recipe=recipe)
    return study_report.exam_report(
        "repair",
        result,
        examinee=result.examinee,
        data=data,
        document=lambda _: document,
        values=tables.findings_json(result),
        measures=tables.measures_of(result.findings),
        declared=tables.RANGES,
        cautions=tuple(exam.cautions(result.findings)),
        judged=result.judged,
        files={_ATTEMPTS: study_report.json_lines(attempts.Attempt, result.attempts)},
    )
