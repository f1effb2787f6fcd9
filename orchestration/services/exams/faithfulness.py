"""The exam of faithfulness: whether scores follow from the judge's own error lists."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import Live, PanelStudy, Plan, scope_of

with lazily():
    import anyio

    from spanjury.orchestration.report import json
    from spanjury.orchestration.services.exams import faithfulness_record, study_report, terms
    from spanjury.orchestration.services.judging import conditions, exam_texts
    from spanjury.orchestration.studies import judging
    from spanjury.orchestration.studies.faithfulness import exam, findings, tables
    from spanjury.orchestration.studies.faithfulness import outcomes as changed
    from spanjury.orchestration.studies.robustness import attempts
    from spanjury.orchestration.wiring import config, panels, plots

_TEXTS_OR_RECORD = "name either texts or a record with --replay, not both"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """The result of an exam, or of a record of one.

    `data` names the texts or the record. A record does not say who was examined.
    """

    data: str
    changes: "Sequence[changed.Change]"
    findings: "findings.Findings"
    examinee: "judging.Examinee | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Faithfulness(PanelStudy[ExamResult]):
    """Change judges' error lists, and test whether their scores follow.

    Every seat of the panel is examined separately. By default, the offline judges that can
    score an error list are examined. Good texts have no errors to change: name a
    recipe that damages them.
    """

    data_help = "Texts: a JSONL, CSV or TSV file."
    demo_help = "Use the texts that come with spanjury, with planted errors."
    has_pictures = True

    perturbations: Annotated[
        str | Sequence[str],
        Parameter(
            "Change of the error lists: NAME or NAME:option=value,…; the paper's by default.",
            name="perturbation",
            kind=tuple[str, ...],
            env="SPANJURY_EXPLANATION_PERTURBATION",
        ),
    ] = ()
    recipe: Annotated[str, Parameter("Recipe that damages each text first.")] = ""
    replay: Annotated[
        Path | None,
        Parameter("Analyse this record of scores, a JSONL or .gz file, without asking a judge."),
    ] = None
    writer: "str | config.ModelConfig | None" = None

    @classmethod
    def with_demo(cls, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return what is `given` with texts that come with spanjury, damaged."""
        recipe = given["recipe"] or exam_texts.FLAWS
        return {**given, "data": exam_texts.demo_for(recipe), "recipe": recipe}

    def plan(self) -> Plan[ExamResult]:
        """Read the texts, or a record, and build the exam; raise as `PanelStudy.plan` does."""
        if self.replay is not None:
            return self._replayed(self.replay)
        texts, seed = self.texts, self.drawn_by
        segments, aspects = self.read(texts)
        agents = any(segment.trajectory for segment in segments)
        panel = panels.rescorable_panel(self.described, agents=agents)
        if self.recipe:
            damage = conditions.conditions_of(conditions.find_recipe(self.recipe))
            segments = attempts.flawed(segments, damage, seed=seed).segments
        planned = exam.Exam(
            dataset=texts.name.partition(".")[0],
            segments=segments,
            aspects=aspects,
            conditions=conditions.list_conditions(terms.names_of(self.perturbations)),
            seed=seed,
        )
        writer = terms.model_of(self.writer)
        if writer is not None:
            conditions.require_requests(planned.conditions, aspect=aspects[0])

        async def run(live: Live) -> "study_report.StudyReport[ExamResult]":
            with self.session(live) as opened:
                generator = opened.generator(writer) if writer else None
                examined = self.exam_run(opened, live, panel=panel)
                work = partial(exam.examine, planned, examined, generator=generator)
                answers = await opened.run(work)
            return await _evaluated(
                answers.changes,
                seed=seed,
                data=str(texts),
                examinee=examined.examinee,
                judged=answers.judged,
            )

        seats = panel.seats_or_default
        judges = ", ".join(seat.name or str(seat.judge) for seat in seats)
        parts = f"{len(planned.conditions)} perturbations of the error lists of {judges}"
        return Plan(
            run=run,
            total=planned.questions(seats=len(seats)),
            scope=scope_of(segments, aspects, parts=parts),
            measures=findings.RANGES,
        )

    def _replayed(self, record: Path) -> Plan[ExamResult]:
        if self.data is not None:
            raise ConfigError(_TEXTS_OR_RECORD)
        if self.writer is not None:
            raise ConfigError("--replay uses no writer: leave out --writer")
        changes, seed = faithfulness_record.read_changes(record), self.drawn_by

        async def run(_: Live) -> "study_report.StudyReport[ExamResult]":
            return await _evaluated(changes, seed=seed, data=str(record))

        return Plan(run=run, total=0, measures=findings.RANGES)


afaithfulness, faithfulness = from_python(Faithfulness, name="faithfulness")


async def _evaluated(
    changes: "Sequence[changed.Change]",
    *,
    seed: int,
    data: str,
    examinee: "judging.Examinee | None" = None,
    judged: "Sequence[judging.JudgedText]" = (),
) -> "study_report.StudyReport[ExamResult]":
    """Evaluate changes, and return their report; without an examinee it makes no card."""
    work = partial(findings.findings_of, changes, seed=seed)
    outcome = await anyio.to_thread.run_sync(work)
    result = ExamResult(data=data, changes=changes, findings=outcome, examinee=examinee)
    judge = {"judge": json.plain(examinee)} if examinee else {}
    return study_report.exam_report(
        "faithfulness",
        result,
        examinee=examinee,
        data=data,
        document=lambda pictures: tables.faithfulness_report(
            outcome, data=data, seats=examinee.seats if examinee else {}, pictures=pictures
        ),
        values={**findings.findings_json(outcome), **judge},
        measures=findings.measures_of(outcome),
        declared=findings.RANGES,
        cautions=findings.cautions(outcome),
        judged=judged,
        files={
            faithfulness_record.CHANGES: partial(faithfulness_record.write_changes, changes=changes)
        },
        draw=lambda folder: plots.draw(folder, _drawings(outcome), by=plots.faithfulness),
    )


def _drawings(outcome: "findings.Findings") -> "Iterator[plots.Drawing]":
    arrays = {findings.named(score_array): score_array for score_array in outcome.score_arrays}
    begin = "by the score to begin with"
    for name, alt, stacks_of in (
        ("steps", f"Scores after one step of severity and after two, {begin}", tables.by_start),
        ("critical-error", f"Scores after a critical error, {begin}", tables.after_critical),
    ):
        stacks = {whose: stacks_of(array) for whose, array in arrays.items()}
        if any(stacks.values()):
            yield plots.Drawing(name, alt, partial(plots.faithfulness.draw_stacks, panels=stacks))
    for name, alt, axes, curves_of in (
        (
            "severity-change",
            "Change of the score by the severity that was added in all",
            ("severity added in all", "change of the score"),
            tables.by_severity,
        ),
        (
            "deleted-errors",
            "Share of changed scores by the number of errors deleted",
            ("errors deleted", "share of changed scores"),
            tables.by_deleted,
        ),
    ):
        lines = {whose: curves_of(array) for whose, array in arrays.items()}
        if any(lines.values()):
            draw = partial(plots.faithfulness.draw_curves, panels=lines, measure=axes)
            yield plots.Drawing(name, alt, draw)
