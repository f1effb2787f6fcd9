"""The exam: attack texts, have a panel judge them with and without the attack, and compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from spanjury.judges.core import Aspect, DataError, Result, Segment
from spanjury.orchestration.studies.judging import (
    Examinee,
    ExamRun,
    JudgedText,
    Judgement,
    by_text_and_aspect,
    judgement_of,
    marked_places,
    require_distinct,
)
from spanjury.orchestration.studies.robustness.attempts import (
    AttackedText,
    Attempt,
    Flawed,
    Settings,
    attack_texts,
    attempts,
    flaws_seen,
    repeats,
)
from spanjury.orchestration.studies.robustness.findings import PANEL, Findings, findings_of
from spanjury.perturbations.attacks.attack import Attack
from spanjury.perturbations.pairs import Skipped

_GOOD, _BASE = "without flaws", "without attack"
"""Conditions of the texts that the others are compared with."""
_CONTROL = "control-1"
"""Name of the draw in which the texts are judged once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The questions of an exam of robustness.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.
    """

    flawed: Flawed
    """The texts that are attacked, under distinct ids, one task."""
    aspects: tuple[Aspect, ...]
    attacks: Mapping[str, Attack]
    settings: Settings = Settings()
    """The definition of a success; its seed is also that of the attacks."""

    def __post_init__(self) -> None:
        require_distinct(
            texts=[segment.segment_id for segment in self.segments],
            aspects=[aspect.name for aspect in self.aspects],
            attacks=[*self.attacks],
        )

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The texts without any attack."""
        return self.flawed.segments

    @property
    def assessments(self) -> int:
        """The most assessments: texts as they are, again, with each attack, and before damage."""
        texts = len(self.segments) * (len(self.attacks) + 2) + len(self.flawed.good)
        return texts * len(self.aspects)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """The result of an exam."""

    findings: Findings
    attempts: tuple[Attempt, ...]
    judged: tuple[JudgedText, ...]
    examinee: Examinee


async def examine(exam: Exam, run: ExamRun) -> ExamResult:
    """Examine a panel.

    Raises
    ------
    PerturbationError
        If an attack fails.
    DataError
        If no text could be attacked in any way.
    RunStoppedError
        If the stop token came before the end.
    """
    made = [*attack_texts(exam.segments, exam.aspects, exam.attacks, seed=exam.settings.seed)]
    texts = [text for text in made if isinstance(text, AttackedText)]
    skipped = [skip for skip in made if isinstance(skip, Skipped)]
    if not texts:
        reasons = "; ".join(sorted({skip.reason for skip in skipped}))
        raise DataError(f"no text could be attacked: {reasons}")
    bases = [(segment, aspect) for segment in exam.segments for aspect in exam.aspects]
    attacked = [(text.attacked, aspect) for text in texts for aspect in text.aspects]
    good = [(text, aspect) for text in exam.flawed.good.values() for aspect in exam.aspects]
    run.expect(2 * len(bases) + len(attacked) + len(good))
    results = await run.judge([*bases, *attacked, *good], draw="", judgements_in=by_text_and_aspect)
    first = {key: each for result in results.values() for key, each in _judgements(result)}
    second = await run.judge(bases, draw=_CONTROL, judgements_in=_judgements)
    seats = tuple(run.examinee.seats)
    judges = (PANEL, *(seats if len(seats) > 1 else ()))
    settings = exam.settings
    rows = (
        *attempts(texts, first, judges=judges, settings=settings),
        *repeats(exam.segments, exam.aspects, (first, second), judges=judges, settings=settings),
    )
    findings = findings_of(
        rows,
        judges=judges,
        seen=flaws_seen(exam.flawed, first, aspects=exam.aspects, judges=judges),
        texts=len(exam.segments),
        damaged=exam.flawed.damaged,
        skipped=skipped,
        settings=settings,
    )
    return ExamResult(
        findings=findings,
        attempts=rows,
        judged=tuple(_judged(exam, texts, results)),
        examinee=run.examinee,
    )


def _judged(
    exam: Exam, texts: Sequence[AttackedText], results: Mapping[tuple[str, str], Result]
) -> Iterator[JudgedText]:
    """Yield good texts, these with flaws, and attacked ones, whose additions are gold spans."""
    good = exam.flawed.good
    for aspect in exam.aspects:
        for before in good.values():
            yield JudgedText(result=results[before.segment_id, aspect.name], condition=_GOOD)
        for base in exam.segments:
            yield JudgedText(
                result=results[base.segment_id, aspect.name],
                condition=_BASE,
                clean_id=good[base.segment_id].segment_id if base.segment_id in good else "",
            )
    for text in texts:
        for aspect in text.aspects:
            result = results[text.attacked.segment_id, aspect.name]
            added = marked_places(
                text.attacked.output,
                text.edits.places,
                explanation=f"Added by {text.attack}.",
                category=text.family,
            )
            yield JudgedText(
                result=replace(result, segment=replace(result.segment, gold=added)),
                condition=text.attack,
                clean_id=text.base.segment_id,
            )


def _judgements(result: Result) -> Iterator[tuple[tuple[str, str, str], Judgement]]:
    """Yield the judgements of the panel and of its seats."""
    text, aspect = result.segment.segment_id, result.aspect.name
    yield (PANEL, text, aspect), judgement_of(result.report)
    for seat in result.report.seats:
        yield (seat.seat, text, aspect), judgement_of(seat.report)
