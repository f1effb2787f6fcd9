"""The exam: damage texts, have a panel judge them and the clean ones apart, and compare."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from spanjury.judges.core import Aspect, ConfigError, DataError, Segment
from spanjury.orchestration.studies.discernment.findings import Findings, Settings, evaluate_scores
from spanjury.orchestration.studies.discernment.generated_pairs import generated_pairs
from spanjury.orchestration.studies.discernment.score_arrays import (
    Judgements,
    ScoreArrays,
    ScoreRow,
    collect_scores,
    score_rows,
)
from spanjury.orchestration.studies.discernment.written_twins import written_twins
from spanjury.orchestration.studies.generation import TextGenerator
from spanjury.orchestration.studies.judging import (
    Examinee,
    ExamRun,
    panel_judgement,
    require_distinct,
)
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped
from spanjury.stats.significance.paired import PairedStatistic


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """Texts, aspects and conditions that a panel is examined on.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.

    Parameters
    ----------
    segments
        Good texts under distinct ids, one task.
    repeats
        Times that each text is judged. One is enough where a second gives the same.
    settings
        Of the evaluation; its seed is also that of the damage.
    """

    segments: tuple[Segment, ...]
    aspects: tuple[Aspect, ...]
    conditions: tuple[Condition, ...]
    repeats: int = 1
    settings: Settings = Settings()
    test: PairedStatistic | None = None

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise ConfigError(f"an exam needs a repeat or more, got {self.repeats}")
        require_distinct(
            texts=[segment.segment_id for segment in self.segments],
            aspects=[aspect.name for aspect in self.aspects],
            conditions=[condition.name for condition in self.conditions],
        )

    @property
    def assessments(self) -> int:
        """The most assessments in a draw: texts clean, clean again, and in each condition."""
        return len(self.segments) * (len(self.conditions) + 2) * len(self.aspects)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """The result of an exam.

    Parameters
    ----------
    scores
        The same scores row by row, with digests of the texts.
    """

    findings: Findings
    score_arrays: ScoreArrays
    perturbed_pairs: tuple[PerturbedPair, ...]
    scores: tuple[ScoreRow, ...]
    examinee: Examinee


async def examine(
    exam: Exam, run: ExamRun, *, generator: TextGenerator | None = None
) -> ExamResult:
    """Run an exam.

    Parameters
    ----------
    exam
        Its texts, aspects and conditions.
    generator
        Generates the damage that a model can be asked for; None to have all done by rules.

    Raises
    ------
    PerturbationError
        If a rule fails.
    ModelError
        If the generator cannot be asked, or answers nothing.
    DataError
        If no text could be damaged in any way.
    RunStoppedError
        If a stop was requested before the end.
    """
    pairs = await generated_pairs(
        exam.segments,
        exam.conditions,
        seed=exam.settings.seed,
        generator=generator,
        stop_token=run.stop_token,
    )
    damaged = [pair for pair in pairs if isinstance(pair, PerturbedPair)]
    if not damaged:
        reasons = "; ".join(sorted({pair.reason for pair in pairs if isinstance(pair, Skipped)}))
        raise DataError(f"no text could be damaged: {reasons}")

    clean = [*product(exam.segments, exam.aspects)]
    texts = [*clean, *product((pair.damaged for pair in damaged), exam.aspects)]
    judge = partial(run.judge, judgements_in=panel_judgement)
    draws = [await judge(texts, draw="")]
    control = [await judge(clean, draw="control-1")]
    if _differ(draws[0], control[0]):  # else any repeat would say the same again
        for number in range(2, exam.repeats + 1):
            draws.append(await judge(texts, draw=f"repeat-{number}"))
            control.append(await judge(clean, draw=f"control-{number}"))
    return _result(exam, pairs, draws=draws, control=control, examinee=run.examinee)


def _result(
    exam: Exam,
    pairs: Sequence[PerturbedPair | Skipped],
    *,
    draws: Sequence[Judgements],
    control: Sequence[Judgements],
    examinee: Examinee,
) -> ExamResult:
    """Evaluate what the panel said."""
    damaged = tuple(pair for pair in pairs if isinstance(pair, PerturbedPair))
    score_arrays = collect_scores(
        exam.segments,
        exam.aspects,
        damaged,
        draws=draws,
        control=control,
        conditions=[condition.name for condition in exam.conditions],
    )
    findings = evaluate_scores(
        score_arrays,
        exam.conditions,
        pairs,
        judgements=draws[0],
        scales={aspect.name: aspect.scale for aspect in exam.aspects},
        settings=exam.settings,
        test=exam.test,
    )
    scores = score_rows(
        exam.segments,
        exam.aspects,
        damaged,
        draws=draws,
        control=control,
        conditions=exam.conditions,
    )
    return ExamResult(
        findings=replace(
            findings,
            twins=written_twins(
                score_arrays,
                exam.segments,
                exam.conditions,
                seed=exam.settings.seed,
                draws=exam.settings.draws,
            ),
        ),
        score_arrays=score_arrays,
        perturbed_pairs=damaged,
        scores=tuple(scores),
        examinee=examinee,
    )


def _differ(first: Judgements, second: Judgements) -> bool:
    """Say whether anything is said otherwise the second time."""
    return any(first[key] != judgement for key, judgement in second.items())
