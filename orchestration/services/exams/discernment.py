"""The exam of discernment: whether the score falls when a text is damaged."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from math import isclose
from pathlib import Path
from typing import Annotated, Literal

from spanjury.judges.core import ConfigError
from spanjury.judges.core.lazy import lazily
from spanjury.orchestration.services.exams.flag import Parameter
from spanjury.orchestration.services.exams.functions import from_python
from spanjury.orchestration.services.exams.study import Live, PanelStudy, Plan, scope_of

with lazily():
    import pydantic

    from spanjury.judges import tasks
    from spanjury.orchestration.services.exams import study_report, terms
    from spanjury.orchestration.services.judging import conditions, exam_texts
    from spanjury.orchestration.studies import card
    from spanjury.orchestration.studies.discernment import (
        conclusions,
        exam,
        findings,
        summary,
        tables,
    )
    from spanjury.orchestration.wiring import config, exam_plugins, plots

_USUAL, _OF_TWINS = "standard", "written"  # recipes


def read_weights(path: Path) -> Mapping[str, Mapping[str, float]]:
    """Read experts' weights from TOML: a table for each condition, aspect by aspect.

    Raise `ConfigError` if the file cannot be read, or the weights of a condition do not sum
    to 1.
    """
    weights = pydantic.TypeAdapter(dict[str, dict[str, float]])
    try:
        read = weights.validate_python(tomllib.loads(path.read_text(encoding="utf-8")))
    except (
        OSError,
        UnicodeDecodeError,
        tomllib.TOMLDecodeError,
        pydantic.ValidationError,
    ) as error:
        raise ConfigError(f"the weights {path} cannot be read: {error}") from error
    require_weights(read, of=f"{path}: ")
    return read


def require_weights(weights: Mapping[str, Mapping[str, float]], *, of: str = "") -> None:
    """Raise `ConfigError` if the weights of a condition do not sum to 1, or one is negative."""
    for condition, by_aspect in weights.items():
        if min(by_aspect.values(), default=0.0) < 0 or not isclose(sum(by_aspect.values()), 1.0):
            raise ConfigError(
                f"{of}the weights of {condition!r} must sum to 1, got {dict(by_aspect)}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Discernment(PanelStudy["exam.ExamResult"]):
    """Damage good texts, judge both versions, and test whether the score falls.

    By default, the offline judges are examined.
    """

    folder = "exam"
    has_pictures = True

    recipe: Annotated[
        str | None,
        Parameter(
            "Recipe of the damage: a name, such as dhp/summarization, or a TOML file; 'standard'"
            " by default, 'written' with --demo.",
            env=True,
        ),
    ] = None
    writer: "str | config.ModelConfig | None" = None
    weights: Annotated[
        Mapping[str, Mapping[str, float]] | None,
        Parameter(
            "TOML file of weights, such as experts': how much each condition harms each aspect.",
            kind=Path | None,
            read=read_weights,
            rare=True,
        ),
    ] = None
    repeats: Annotated[
        int,
        Parameter(
            "Number of times each text is judged, for a judge whose scores vary.",
            min=1,
            env=True,
            rare=True,
        ),
    ] = 1
    mode: Annotated[
        Literal["calibrated", "wilson", "paper"],
        Parameter(
            "How to combine p-values; 'paper' is the formula as printed.", env=True, rare=True
        ),
    ] = "calibrated"
    test: Annotated[
        str, Parameter("Statistic to use instead of the mode's test.", env=True, rare=True)
    ] = ""

    @classmethod
    def with_demo(cls, given: Mapping[str, object]) -> Mapping[str, object]:
        """Return what is `given` with texts for its recipe: pairs, trajectories or summaries."""
        if given["recipe"] is None:
            return {**given, "data": exam_texts.TWINS, "recipe": _OF_TWINS}
        return {**given, "data": exam_texts.demo_for(given["recipe"])}

    def plan(self) -> "Plan[exam.ExamResult]":
        """Read the texts and build the exam; raise as `PanelStudy.plan` does."""
        experts = self.weights or {}
        require_weights(experts)
        texts, name = self.texts, self.recipe or _USUAL
        recipe = conditions.find_recipe(name)
        segments, aspects = self.read(texts, task=recipe.task, aspects=recipe.aspects)
        names = [aspect.name for aspect in aspects]
        for condition, weights in experts.items():
            if strange := weights.keys() - set(names):
                raise ConfigError(
                    f"the weights of {condition!r} name {', '.join(strange)}: expected"
                    f" {', '.join(names)}"
                )
        settings = findings.Settings(mode=self.mode, test=self.test, seed=self.drawn_by)
        planned = exam.Exam(
            segments=segments,
            aspects=aspects,
            conditions=conditions.conditions_of(
                recipe, weights=experts, has_generator=self.writer is not None
            ),
            repeats=self.repeats,
            settings=settings,
            test=exam_plugins.find_statistic(self.test) if self.test else None,
        )
        conditions.require_aspects(
            planned.conditions,
            judged=aspects,
            catalogue=tasks.Catalogue.load(*self.aspects_files),
        )

        async def run(live: Live) -> "study_report.StudyReport[exam.ExamResult]":
            writer = terms.model_of(self.writer)
            with self.session(live) as opened:
                generator = opened.generator(writer) if writer else None
                examined = self.exam_run(opened, live)
                work = partial(exam.examine, planned, examined, generator=generator)
                result = await opened.run(work)
            return _report(
                result, data=str(texts), recipe=name, seed=settings.seed, declared=measures
            )

        measures = summary.ranges_of(condition.name for condition in planned.conditions)
        return Plan(
            run=run,
            total=planned.assessments,
            scope=scope_of(segments, aspects, parts=f"{len(planned.conditions)} conditions"),
            measures=measures,
        )


adiscernment, discernment = from_python(Discernment, name="discernment")


def _report(
    result: "exam.ExamResult", *, data: str, recipe: str, seed: int, declared: "card.Ranges"
) -> "study_report.StudyReport[exam.ExamResult]":
    return study_report.exam_report(
        "discernment",
        result,
        examinee=result.examinee,
        data=data,
        document=lambda pictures: tables.discernment_report(
            result.findings, examinee=result.examinee, data=data, recipe=recipe, pictures=pictures
        ),
        values=summary.findings_json(result.findings, examinee=result.examinee),
        measures=summary.measures_of(result.findings),
        declared=declared,
        cautions=summary.cautions(result.findings),
        scores=study_report.ExamScores(
            examinee=result.examinee, data=data, recipe=recipe, seed=seed, rows=result.scores
        ),
        judged=result.judged,
        draw=lambda folder: plots.draw(
            folder, _drawings(result), by=plots.discernment, endings=[".png"]
        ),
    )


def _drawings(result: "exam.ExamResult") -> "Iterator[plots.Drawing]":
    examined, score_arrays = result.findings.findings, result.score_arrays
    names, aspects = [finding.condition for finding in examined], score_arrays.aspects
    harmful = [finding for finding in examined if not conclusions.is_harmless(finding)]
    if harmful:  # of the others no score should fall, so that they have no D
        scores = partial(
            plots.discernment.draw_scores,
            conditions=[finding.condition for finding in harmful],
            levels=[finding.level for finding in harmful],
            discernment=[finding.discernment for finding in harmful],
            weighted=[finding.weighted for finding in harmful],
        )
        yield plots.Drawing("discernment", "D of each condition, by level", scores)
    effects = partial(
        plots.discernment.draw_effects,
        conditions=names,
        aspects=aspects,
        effects=[[each.effects.net_drop for each in finding.contrasts] for finding in examined],
        targeted=[[each.expected == "falls" for each in f.contrasts] for f in examined],
    )
    yield plots.Drawing(
        "specificity", "P(drop) - P(rise) of each condition on each aspect", effects
    )
    spread = partial(
        plots.discernment.draw_distributions,
        conditions=names,
        aspects=aspects,
        clean=score_arrays.clean / score_arrays.repeats,
        damaged=score_arrays.damaged / score_arrays.repeats,
        highest=5,
    )
    yield plots.Drawing("scores", "Scores of the clean and of the damaged texts", spread)
