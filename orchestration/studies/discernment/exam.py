"""The exam: damage texts, have a panel judge them and the clean ones apart, and compare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from spanjury.judges.core import Aspect, ConfigError, DataError, Result, RunStoppedError, Segment
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.discernment.findings import Findings, Settings, found
from spanjury.orchestration.studies.discernment.generated_pairs import generated_pairs
from spanjury.orchestration.studies.discernment.score_arrays import (
    Heard,
    ScoreArrays,
    ScoreRow,
    gathered,
    score_rows,
)
from spanjury.orchestration.studies.generation import Writer
from spanjury.orchestration.studies.judging import Examinee, OpenPanel, hear
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.stats.significance.paired import PairedStatistic

__all__ = ["Exam", "Sitting", "sit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """What a panel is examined on.

    Parameters
    ----------
    segments
        Good texts under distinct ids, one task.
    aspects
        On which each is judged.
    conditions
        How each is damaged, under distinct names.
    repeats
        How often each text is judged. One is enough where a second time gives the same.
    settings
        How it is evaluated; its seed is also that of the damage.
    test
        The statistic that the settings name, if they do.

    Raises
    ------
    ConfigError
        If there is nothing to examine, or a name is doubled.
    """

    segments: tuple[Segment, ...]
    aspects: tuple[Aspect, ...]
    conditions: tuple[Condition, ...]
    repeats: int = 1
    settings: Settings = Settings()
    test: PairedStatistic | None = None

    def __post_init__(self) -> None:
        if not (self.segments and self.aspects and self.conditions) or self.repeats < 1:
            raise ConfigError("an exam needs texts, aspects, treatments and a repeat")
        for what, names in (
            ("texts", [segment.segment_id for segment in self.segments]),
            ("aspects", [aspect.name for aspect in self.aspects]),
            ("treatments", [condition.name for condition in self.conditions]),
        ):
            if len(names) != len(set(names)):
                raise ConfigError(f"the {what} of an exam need distinct names")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """What an exam came to.

    Parameters
    ----------
    findings
        What it says of the panel.
    evidence
        The scores that it rests on.
    perturbed_pairs
        The damaged texts.
    scores
        The same scores row by row, with what was shown.
    examinee
        Who was examined.
    """

    findings: Findings
    score_arrays: ScoreArrays
    perturbed_pairs: tuple[PerturbedPair, ...]
    scores: tuple[ScoreRow, ...]
    examinee: Examinee


async def sit(
    exam: Exam,
    open_panel: OpenPanel,
    *,
    writer: Writer | None = None,
    workers: int,
    stop_token: StopToken,
    show: Callable[[Result], None],
) -> Sitting:
    """Hold an exam.

    Parameters
    ----------
    exam
        What is asked.
    open_panel
        Opens who is examined, once a draw.
    writer
        Writes the damage that a model can be asked for; None to have all done by rules.
    workers, stop_token, show
        As in `hearing.hear`.

    Raises
    ------
    PerturbationError
        If a rule fails.
    ModelError
        If the writer cannot be asked, or answers nothing.
    DataError
        If no text could be damaged in any way.
    RunStoppedError
        If the stop token came before the end.
    """
    shown = await _shown(exam, writer, stop_token=stop_token)
    damaged = [one for one in shown if isinstance(one, PerturbedPair)]
    if not damaged:
        reasons = "; ".join(sorted({one.reason for one in shown if isinstance(one, Skipped)}))
        raise DataError(f"no text could be damaged: {reasons}")

    hall = _Hall(open_panel=open_panel, workers=workers, stop_token=stop_token, show=show)
    texts = [*exam.segments, *(one.damaged for one in damaged)]
    draws = [await hall.heard("", texts, exam.aspects)]
    control = [await hall.heard("control-1", exam.segments, exam.aspects)]
    if _differ(draws[0], control[0]):  # else any repeat would say the same again
        for number in range(2, exam.repeats + 1):
            draws.append(await hall.heard(f"repeat-{number}", texts, exam.aspects))
            control.append(await hall.heard(f"control-{number}", exam.segments, exam.aspects))
    return _weighed(exam, shown, draws=draws, control=control, examinee=hall.examined[0])


def _weighed(
    exam: Exam,
    shown: Sequence[PerturbedPair | Skipped],
    *,
    draws: Sequence[Heard],
    control: Sequence[Heard],
    examinee: Examinee,
) -> Sitting:
    """Make findings of what was heard."""
    damaged = tuple(one for one in shown if isinstance(one, PerturbedPair))
    score_arrays = gathered(
        exam.segments,
        exam.aspects,
        damaged,
        draws=draws,
        control=control,
        conditions=[condition.name for condition in exam.conditions],
    )
    findings = found(
        score_arrays,
        exam.conditions,
        shown,
        heard=draws[0],
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
    return Sitting(
        findings=findings,
        score_arrays=score_arrays,
        perturbed_pairs=damaged,
        scores=tuple(scores),
        examinee=examinee,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hall:
    """Where texts are heard, draw after draw, by a panel whose name is noted."""

    open_panel: OpenPanel
    workers: int
    stop_token: StopToken
    show: Callable[[Result], None]
    examined: list[Examinee] = field(default_factory=list)

    async def heard(
        self, draw: str, segments: Sequence[Segment], aspects: Sequence[Aspect]
    ) -> Heard:
        told = await hear(
            self.open_panel,
            segments,
            aspects,
            draw=draw,
            workers=self.workers,
            stop_token=self.stop_token,
            show=self._note,
        )
        if self.stop_token.interrupted:
            raise RunStoppedError(self.stop_token.reason)
        return told

    def _note(self, result: Result) -> None:
        if not self.examined:
            self.examined.append(Examinee.of(result.report))
        self.show(result)


async def _shown(
    exam: Exam, writer: Writer | None, *, stop_token: StopToken
) -> list[PerturbedPair | Skipped]:
    seed = exam.settings.seed
    if writer is None:
        return list(perturbed_pairs(exam.segments, exam.conditions, seed=seed))
    return await generated_pairs(
        exam.segments, exam.conditions, seed=seed, writer=writer, stop_token=stop_token
    )


def _differ(first: Heard, second: Heard) -> bool:
    """Whether anything is said otherwise the second time."""
    return any(first[key] != told for key, told in second.items())
