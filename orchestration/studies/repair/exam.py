"""The exam: plant damage, have it repaired, and clean texts too, and ask another panel."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from spanjury.judges.core import Aspect, ConfigError, DataError, Result, Segment
from spanjury.orchestration.engine.batch import each
from spanjury.orchestration.engine.text_repair.loop import Rewriter, Writer, repair
from spanjury.orchestration.studies.discernment.score_arrays import digest_of
from spanjury.orchestration.studies.judging import (
    CLEAN,
    Examinee,
    ExamRun,
    JudgedText,
    OpenPanel,
    Recorder,
    by_text_and_aspect,
    marked_places,
    require_distinct,
)
from spanjury.orchestration.studies.repair.attempts import (
    Attempt,
    Repairing,
    attempts_on,
    judged,
    put_in,
)
from spanjury.orchestration.studies.repair.findings import Findings, Settings, findings_of
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The questions of an exam of repair.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.
    """

    segments: tuple[Segment, ...]
    """Clean texts, of one task."""
    aspects: tuple[Aspect, ...]
    conditions: tuple[Condition, ...]
    """The damage that is planted in each, one at a time."""
    rounds: int
    """Maximum number of corrections of a text."""
    settings: Settings = Settings()

    def __post_init__(self) -> None:
        require_distinct(
            texts=[segment.segment_id for segment in self.segments],
            aspects=[aspect.name for aspect in self.aspects],
            conditions=[condition.name for condition in self.conditions],
        )
        if self.rounds < 1:
            raise ConfigError(f"rounds must be 1 or more, got {self.rounds!r}")

    @property
    def assessments(self) -> int:
        """About how many assessments: each text, two versions of it, and its ends."""
        texts = len(self.segments) * (len(self.conditions) + 1)
        return 4 * texts * len(self.aspects)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairSeats:
    """The writer of the loop, and the panel that looks at the ends."""

    open_examiner: OpenPanel
    open_writer: Callable[[], AbstractAsyncContextManager[Writer | Rewriter]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExamResult:
    """The result of an exam."""

    findings: Findings
    attempts: tuple[Attempt, ...]
    judged: tuple[JudgedText, ...]
    examinee: Examinee
    examiner: Examinee
    writer: str


async def examine(exam: Exam, run: ExamRun, seats: RepairSeats) -> ExamResult:
    """Examine a repair that the panel of `run` guides.

    Raises
    ------
    ConfigError
        If the examiner has no judge that is not of the loop's panel.
    DataError
        If no text could be damaged.
    RunStoppedError
        If the stop token came before the end.
    """
    shared = await _shared_judges(run, seats)
    made = [*perturbed_pairs(exam.segments, exam.conditions, seed=exam.settings.seed)]
    pairs = [pair for pair in made if isinstance(pair, PerturbedPair)]
    skipped = [skip for skip in made if isinstance(skip, Skipped)]
    if not pairs:
        reasons = "; ".join(sorted({skip.reason for skip in skipped}))
        raise DataError(f"no text could be damaged: {reasons}")
    done, writer = await _repair_all(exam, pairs, run, seats=seats)
    texts = _texts_of(done)
    run.expect(
        sum(len(v.results) for repairing in done for v in repairing.done.versions)
        + len(texts) * len(exam.aspects)
    )
    after = replace(run, open_panel=seats.open_examiner, record=Recorder(run.record.show))
    results = await after.judge(
        ((segment, aspect) for segment in texts.values() for aspect in exam.aspects),
        draw="",
        judgements_in=by_text_and_aspect,
    )
    examined = {
        key: judged([results[segment.segment_id, aspect.name] for aspect in exam.aspects])
        for key, segment in texts.items()
    }
    rows = tuple(row for repairing in done for row in attempts_on(repairing, examined))
    findings = findings_of(
        rows,
        conditions=[condition.name for condition in exam.conditions],
        texts=len(exam.segments),
        skipped=skipped,
        shared=shared,
        settings=exam.settings,
    )
    return ExamResult(
        findings=findings,
        attempts=rows,
        judged=tuple(
            text
            for repairing in done
            for text in _judged(repairing, texts, results, aspects=exam.aspects)
        ),
        examinee=run.examinee,
        examiner=after.examinee,
        writer=writer,
    )


async def _shared_judges(run: ExamRun, seats: RepairSeats) -> tuple[str, ...]:
    """Return the examiner's seats whose judges sit in the loop's panel, too; refuse if all do."""
    async with run.open_panel("") as panel, seats.open_examiner("") as examiner:
        own = {seat.signature for seat in panel.seats}
        shared = tuple(seat.name for seat in examiner.seats if seat.signature in own)
        if len(shared) == len(examiner.seats):
            raise ConfigError(
                "the examiner is the panel that the repair is guided by, or a part of it, and would"
                " only repeat what that said: name other judges with --examiner"
            )
    return shared


async def _repair_all(
    exam: Exam, pairs: Sequence[PerturbedPair], run: ExamRun, *, seats: RepairSeats
) -> tuple[list[Repairing], str]:
    """Put every damaged and every clean text through the loop; return them in this order."""
    todo = [
        *((pair.clean, pair.damaged, pair.condition) for pair in pairs),
        *((segment, segment, "") for segment in exam.segments),
    ]
    done: dict[int, Repairing] = {}
    async with run.open_panel("") as panel, seats.open_writer() as writer:

        async def work(number: int) -> None:
            clean, segment, condition = todo[number]
            repaired = await repair(
                replace(segment, gold=()),  # no judge sees it, but a plugin might
                exam.aspects,
                panel=panel,
                writer=writer,
                rounds=exam.rounds,
            )
            for result in (result for version in repaired.versions for result in version.results):
                run.record(result)
            done[number] = Repairing(clean=clean, condition=condition, done=repaired)

        await each(range(len(todo)), work, workers=run.workers, stop_token=run.stop_token)
    return [done[number] for number in range(len(todo))], writer.signature


def _texts_of(done: Iterable[Repairing]) -> dict[tuple[str, str], Segment]:
    """Return each text that the examiner has to see, once, under an id of its own.

    The keys are the id of the clean text and `digest_of` the text.
    """
    texts: dict[tuple[str, str], Segment] = {}
    for repairing in done:
        base = repairing.clean.segment_id
        for segment in (repairing.clean, *repairing.ends.values()):
            name = f"{base}~{len(texts)}"
            made = replace(segment, segment_id=name, gold=())
            texts.setdefault((base, digest_of(segment)), made)
    return texts


def _judged(
    repairing: Repairing,
    texts: Mapping[tuple[str, str], Segment],
    results: Mapping[tuple[str, str], Result],
    *,
    aspects: Sequence[Aspect],
) -> Iterator[JudgedText]:
    """Yield what the examiner says of a text before its repairs, and after each that changes it."""
    clean, start = repairing.clean, repairing.segment
    condition = repairing.condition or CLEAN
    planted = marked_places(
        start.output, put_in(clean.output, start.output), explanation=f"Planted by {condition}."
    )

    def named(segment: Segment, aspect: Aspect) -> Result:
        examined = texts[clean.segment_id, digest_of(segment)].segment_id
        return replace(results[examined, aspect.name], segment=segment)

    for aspect in aspects:
        yield JudgedText(
            result=named(replace(start, gold=planted), aspect),
            condition=condition,
            clean_id=clean.segment_id if repairing.condition else "",
        )
        for arm, end in repairing.ends.items():
            if end.output != start.output:
                name = f"{start.segment_id}#{arm}"
                yield JudgedText(
                    result=named(replace(end, segment_id=name), aspect),
                    condition=f"{condition}: {arm}",
                    clean_id=start.segment_id,
                )
