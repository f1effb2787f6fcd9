"""The exam: damage texts, have a panel judge them and the clean ones apart, and compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

from spanjury.judges.core import Aspect, ChatModel, ConfigError, PerturbationError, Result, Segment
from spanjury.orchestration.engine.stopping import StopToken
from spanjury.orchestration.studies.discernment.detection import marked_in
from spanjury.orchestration.studies.discernment.findings import (
    METHODS,
    Findings,
    Method,
    Settings,
    evaluate_scores,
)
from spanjury.orchestration.studies.discernment.score_arrays import (
    Judgements,
    ScoreArrays,
    ScoreRow,
    collect_scores,
    judgements_of,
    score_rows,
)
from spanjury.orchestration.studies.generation import (
    Generation,
    GenerationFailed,
    GenerationRequest,
    TextGenerator,
    open_generation,
)
from spanjury.orchestration.studies.judging import (
    CLEAN,
    Examinee,
    ExamRun,
    JudgedText,
    in_order,
    made_and_skipped,
    require_distinct,
)
from spanjury.perturbations.pairs import (
    Condition,
    PerturbedPair,
    Skipped,
    case_of,
    pair_of,
    perturbed_pairs,
)
from spanjury.perturbations.perturbation import NothingToDamageError
from spanjury.stats.significance.paired import PairedStatistic
from spanjury.stats.spans.localisation import Localisation


async def generated_pairs(
    segments: Sequence[Segment],
    conditions: Sequence[Condition],
    *,
    seed: int,
    generator: TextGenerator | None,
    stop_token: StopToken,
) -> list[PerturbedPair | Skipped]:
    """Damage every segment under every condition, by a model where it can be asked.

    Texts for which the generator fails, or twice does something else, are skipped. Without one,
    rules do all the damage. The order is that of `perturbed_pairs`, and so is the seed, which is
    passed to servers that take one.

    Raise `PerturbationError` if a rule fails, or `k` is not a number of changes,
    `PermanentModelError` if the model cannot be asked, as by a wrong key, `ModelError` if it
    answers nothing at all, and `RunStoppedError` if the stop token came before the end.
    """
    if generator is None:
        return list(perturbed_pairs(segments, conditions, seed=seed))
    by_rules = [condition for condition in conditions if condition.generated is None]
    # first: if a rule fails, no model has been paid
    ruled = iter(list(perturbed_pairs(segments, by_rules, seed=seed)))
    todo = [
        (segment, condition, _k(condition))
        for condition in conditions
        if condition.generated is not None
        for segment in segments
    ]
    async with open_generation(generator) as generation:
        work = partial(_generated_pair, generation, seed=seed)
        made = await in_order(todo, work, workers=generator.workers, stop_token=stop_token)
    pairs = iter(made)
    return [
        next(ruled if condition.generated is None else pairs)
        for condition in conditions
        for _ in segments
    ]


async def _generated_pair(
    generation: Generation, text: tuple[Segment, Condition, int], *, seed: int
) -> PerturbedPair | Skipped:
    """Have the model damage a text; skip it if there is nothing to damage, or the model fails."""
    segment, condition, k = text
    generated, name = condition.generated, generation.name
    assert generated is not None
    skipped = partial(
        Skipped, segment_id=segment.segment_id, condition=condition.name, written_by=name
    )

    async def ask(model: ChatModel) -> PerturbedPair | Skipped:
        try:
            damage = await generated.damage(case_of(segment), model, k=k, seed=seed)
        except NothingToDamageError as error:
            return skipped(reason=str(error))
        return pair_of(segment, condition, damage=damage, written_by=name)

    request = GenerationRequest(
        condition=condition.name,
        segment_id=segment.segment_id,
        unfit=f"the model, asked twice, did no {generated.kind}",
        ask=ask,
    )
    pair = await generation.generate(request)
    return skipped(reason=pair.reason) if isinstance(pair, GenerationFailed) else pair


def _k(condition: Condition) -> int:
    k = condition.options.get("k", 1)
    if not isinstance(k, int) or k < 1:
        raise PerturbationError(f"{condition.name}: a model is asked for k changes, not {k!r}")
    return k


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """Texts, aspects and conditions that a panel is examined on.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.
    """

    segments: tuple[Segment, ...]
    """Good texts under distinct ids, one task."""
    aspects: tuple[Aspect, ...]
    conditions: tuple[Condition, ...]
    repeats: int = 1
    """Times that each text is judged. One is enough where a second gives the same."""
    settings: Settings = Settings()
    """Settings of the evaluation; its seed is also that of the damage."""
    test: PairedStatistic | None = None
    """Stands in for the test of differences that the mode has."""

    def __post_init__(self) -> None:
        if self.repeats < 1:
            raise ConfigError(f"an exam needs a repeat or more, got {self.repeats}")
        require_distinct(
            texts=[segment.segment_id for segment in self.segments],
            aspects=[aspect.name for aspect in self.aspects],
            conditions=[condition.name for condition in self.conditions],
        )

    @property
    def method(self) -> Method:
        """The method of the mode, with the test that stands in for its own."""
        method = METHODS[self.settings.mode]
        return method if self.test is None else replace(method, test=self.test)

    @property
    def assessments(self) -> int:
        """The most assessments in a draw: texts clean, clean again, and in each condition."""
        return len(self.segments) * (len(self.conditions) + 2) * len(self.aspects)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """The result of an exam."""

    findings: Findings
    score_arrays: ScoreArrays
    scores: tuple[ScoreRow, ...]
    """The same scores row by row, with digests of the texts."""
    judged: tuple[JudgedText, ...]
    """Clean texts, then damaged ones, as the panel judged them first."""
    examinee: Examinee


async def examine(
    exam: Exam, run: ExamRun, *, generator: TextGenerator | None = None
) -> ExamResult:
    """Run an exam; `generator` damages the texts where it can be asked, else rules do it all.

    Raise `PerturbationError` if a rule fails, `ModelError` if the generator cannot be asked, or
    answers nothing, `DataError` if no text could be damaged in any way, and `RunStoppedError` if
    a stop was requested before the end.
    """
    pairs = await generated_pairs(
        exam.segments,
        exam.conditions,
        seed=exam.settings.seed,
        generator=generator,
        stop_token=run.stop_token,
    )
    damaged, _ = made_and_skipped(pairs, "damaged")
    clean = [*product(exam.segments, exam.aspects)]
    texts = [*clean, *product((pair.damaged for pair in damaged), exam.aspects)]
    a_draw = len(texts) + len(clean)
    run.expect(a_draw)

    async def judge(texts: Sequence[tuple[Segment, Aspect]], draw: str) -> Judgements:
        return judgements_of(await run.judge(texts, draw=draw))

    results = await run.judge(texts, draw="")
    draws = [judgements_of(results)]
    control = [await judge(clean, "control-1")]
    # A judge that says the same of the clean texts twice would say it in any repeat.
    if any(draws[0][key] != judgement for key, judgement in control[0].items()):
        run.expect(a_draw * exam.repeats)
        for number in range(2, exam.repeats + 1):
            draws.append(await judge(texts, f"repeat-{number}"))
            control.append(await judge(clean, f"control-{number}"))
    return _result(
        exam, pairs, results=results, draws=draws, control=control, examinee=run.examinee
    )


def _result(
    exam: Exam,
    pairs: Sequence[PerturbedPair | Skipped],
    *,
    results: Mapping[tuple[str, str], Result],
    draws: Sequence[Judgements],
    control: Sequence[Judgements],
    examinee: Examinee,
) -> ExamResult:
    damaged = tuple(pair for pair in pairs if isinstance(pair, PerturbedPair))
    conditions = exam.conditions
    rows = score_rows(
        exam.segments, exam.aspects, damaged, draws=draws, control=control, conditions=conditions
    )
    scores = tuple(rows)
    score_arrays = collect_scores(scores, conditions=[each.name for each in conditions])
    findings = evaluate_scores(
        score_arrays,
        conditions,
        pairs,
        judgements=draws[0],
        scales={aspect.name: aspect.scale for aspect in exam.aspects},
        method=exam.method,
        settings=exam.settings,
    )
    return ExamResult(
        findings=findings,
        score_arrays=score_arrays,
        scores=scores,
        judged=tuple(_judged(exam, damaged, results)),
        examinee=examinee,
    )


def _judged(
    exam: Exam, pairs: Sequence[PerturbedPair], results: Mapping[tuple[str, str], Result]
) -> Iterator[JudgedText]:
    """Yield the clean texts and then the damaged ones."""
    judgements = judgements_of(results)
    rules = {condition.name: condition.perturbation for condition in exam.conditions}
    for segment, aspect in product(exam.segments, exam.aspects):
        yield JudgedText(result=results[segment.segment_id, aspect.name], condition=CLEAN)
    for pair, aspect in product(pairs, exam.aspects):
        is_harmed = rules[pair.condition].effect_on(aspect.name) == "falls"
        yield JudgedText(
            result=results[pair.damaged.segment_id, aspect.name],
            condition=pair.condition,
            clean_id=pair.clean.segment_id,
            caught=_caught(marked_in(pair, [aspect.name], judgements)) if is_harmed else None,
        )


def _caught(marked: Localisation) -> Literal["none", "some", "all"]:
    if not marked.hits:
        return "none"
    return "all" if marked.hits == marked.places else "some"
