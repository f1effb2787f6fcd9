"""The exam: plant damage, have it repaired, and clean texts too, and ask another panel."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Literal, NamedTuple

import numpy as np

from spanjury.judges.core import Aspect, ConfigError, Result, Segment
from spanjury.orchestration.engine.text_repair.loop import Rewriter, Stopped, Writer, repair
from spanjury.orchestration.studies.discernment.score_arrays import digest_of
from spanjury.orchestration.studies.estimates import numbered, ratios_of
from spanjury.orchestration.studies.judging import (
    CLEAN,
    Examinee,
    ExamRun,
    JudgedText,
    OpenPanel,
    Recorder,
    in_order,
    made_and_skipped,
    marked_places,
    require_distinct,
)
from spanjury.orchestration.studies.repair.attempts import (
    ARMS,
    DELETION,
    REPAIR,
    Attempt,
    Repairing,
    attempts_on,
    judged,
    put_in,
)
from spanjury.perturbations.pairs import Condition, PerturbedPair, Skipped, perturbed_pairs
from spanjury.stats.proportions import Proportion, share_by_source

Scope = Literal["damaged", "condition", "clean"]
"""The texts of a finding: all damaged ones, those of one condition, or the clean ones."""
OpenWriter = Callable[[], AbstractAsyncContextManager[Writer | Rewriter]]


class Mean(NamedTuple):
    """A mean over texts, with its 95 % interval by a bootstrap of sources; NaN where undefined."""

    value: float
    low: float
    high: float
    texts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The random numbers of an exam."""

    seed: int = 1
    draws: int = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of one way of repairing some of the texts.

    `scope`, `name`: over which texts; the name is that of the condition, else empty.
    `removed`, `restored`: shares of the planted damage that is gone, and that reads as before the
    damage.
    `new_errors`, `inventions`: errors a text in places that the examiner did not mark before, and
    names and numbers put in that stand in no source.
    `before`, `after`: the examiner's scores; means over the texts with both.
    """

    arm: str
    """``repair``, or what it is held against."""
    scope: Scope
    name: str
    texts: int
    removed: Proportion
    restored: Proportion
    changed: Proportion
    """Share of the words that were right and are changed or gone."""
    altered: Proportion
    """Share of the texts of which anything was changed."""
    marked: Proportion
    """Share of the replaced places that the examiner marks."""
    new_errors: Mean
    inventions: Mean
    before: Mean
    after: Mean
    gain: Mean
    """The examiner's score after less that before."""
    gap: Mean
    """The examiner's score of the clean text less that before: what there is to gain."""
    covered: Proportion
    """Share of the texts that the examiner scored before and after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The result of an exam."""

    texts: int
    sources: int
    findings: tuple[Finding, ...]
    net_gain: Mean
    """The gain of the repair less that of deleting every span, on damaged texts with both."""
    stopped: Mapping[str, tuple[int, int]]
    """End of the loop -> number of damaged, and how many clean texts."""
    skipped: Mapping[tuple[str, str], int]
    """``(condition, reason)`` -> how many texts."""
    shared: tuple[str, ...]
    """Seats of the examiner whose judges sit in the loop's panel, too."""
    settings: Settings

    def of(self, scope: Scope, *, arm: str | None = None) -> tuple[Finding, ...]:
        """Return the findings of a scope, of all ways of repairing or one."""
        return tuple(f for f in self.findings if f.scope == scope and arm in {None, f.arm})

    def overall(self, arm: str = REPAIR) -> Finding:
        """Return the finding over all damaged texts."""
        (finding,) = self.of("damaged", arm=arm)
        return finding


def findings_of(
    rows: Sequence[Attempt],
    *,
    conditions: Sequence[str],
    texts: int,
    skipped: Sequence[Skipped],
    shared: tuple[str, ...],
    settings: Settings,
) -> Findings:
    """Evaluate attempts."""
    damaged = [row for row in rows if row.is_damaged]
    clean = [row for row in rows if not row.is_damaged]
    of_damaged, of_clean = (
        Counter(row.stopped for row in group if row.arm == REPAIR) for group in (damaged, clean)
    )
    groups: list[tuple[Scope, str, list[Attempt]]] = [
        ("damaged", "", damaged),
        *(("condition", name, [r for r in damaged if r.condition == name]) for name in conditions),
        ("clean", "", clean),
    ]
    return Findings(
        texts=texts,
        sources=len({row.source for row in rows}),
        findings=tuple(
            _finding([row for row in group if row.arm == arm], (arm, scope, name), settings)
            for scope, name, group in groups
            for arm in ARMS
            if group
        ),
        net_gain=_net_gain(damaged, settings),
        stopped={end: (of_damaged[end], of_clean[end]) for end in sorted(of_damaged | of_clean)},
        skipped=Counter((out.condition, out.reason) for out in skipped),
        shared=shared,
        settings=settings,
    )


def _finding(rows: Sequence[Attempt], about: tuple[str, Scope, str], settings: Settings) -> Finding:
    arm, scope, name = about
    scored = [row for row in rows if row.before is not None and row.after is not None]

    def share(hits: Callable[[Attempt], float], of: Callable[[Attempt], float]) -> Proportion:
        return share_by_source((row.source, hits(row), of(row)) for row in rows)

    def mean(value: Callable[[Attempt], float | None], among: Sequence[Attempt]) -> Mean:
        return _mean([(row.source, value(row)) for row in among], settings)

    return Finding(
        arm=arm,
        scope=scope,
        name=name,
        texts=len(rows),
        removed=share(lambda row: row.removed, lambda row: row.planted),
        restored=share(lambda row: row.restored, lambda row: row.planted),
        changed=share(lambda row: row.changed, lambda row: row.words),
        altered=share(lambda row: row.is_altered, lambda _: 1),
        marked=share(
            lambda row: row.marked or 0, lambda row: 0 if row.marked is None else row.replaced
        ),
        new_errors=mean(lambda row: row.new_errors, rows),
        inventions=mean(lambda row: row.inventions, rows),
        before=mean(lambda row: row.before, scored),
        after=mean(lambda row: row.after, scored),
        gain=mean(_gain, scored),
        gap=mean(lambda row: _less(row.clean, row.before), scored),
        covered=share(lambda row: row.before is not None, lambda _: 1),
    )


def _net_gain(rows: Sequence[Attempt], settings: Settings) -> Mean:
    deleted = {row.text: _gain(row) for row in rows if row.arm == DELETION}
    repaired = [row for row in rows if row.arm == REPAIR]
    gains = [(row.source, _less(_gain(row), deleted[row.text])) for row in repaired]
    return _mean(gains, settings)


def _mean(values: Sequence[tuple[str, float | None]], settings: Settings) -> Mean:
    """Return the mean of the values that there are, with an interval over sources."""
    defined = [(source, value) for source, value in values if value is not None]
    if not defined:
        return Mean(np.nan, np.nan, np.nan, 0)
    sources, _ = numbered([source for source, _ in defined])
    sums = np.bincount(sources, weights=[value for _, value in defined]).astype(np.float64)
    counts = np.bincount(sources).astype(np.float64)
    (mean,) = ratios_of(sums, counts, seed=settings.seed, draws=settings.draws)
    return Mean(*mean, len(defined))


def _gain(row: Attempt) -> float | None:
    return _less(row.after, row.before)


def _less(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


_FEW = 20
"""With fewer sources than this an interval is rough."""
_COVERED = 0.95


def cautions(findings: Findings) -> Iterator[str]:
    """Yield, in sentences, what to keep in mind."""
    repair, deletion = findings.overall(), findings.overall(DELETION)
    if findings.shared:
        yield (
            "The examiner shares judges with the panel that guides the repair"
            f" ({', '.join(findings.shared)}), so the repair was partly optimised for its own"
            " examiner."
        )
    if repair.covered.trials and repair.covered.value < _COVERED:
        yield (
            f"The examiner scored {repair.covered.value:.0%} of the damaged texts both before and"
            " after; the others are excluded from mean scores."
        )
    if findings.sources < _FEW:
        yield f"There are only {findings.sources} sources, so intervals are rough."
    damaged = sum(count for count, _ in findings.stopped.values())
    for end, says in (
        (Stopped.UNSCORED, "could not be judged by the panel, and were left unchanged"),
        (Stopped.WRITER_FAILED, "got no usable answer from the writer"),
    ):
        if count := findings.stopped.get(end.value, (0, 0))[0]:
            yield f"{count} of {damaged} damaged texts {says}; they count in all shares."
    if repair.removed.trials and repair.removed.value <= deletion.removed.value:
        yield (
            "Deleting every marked span removes at least as much of the damage, so the writer only "
            "helps by restoring passages and keeping words."
        )
    for (condition, reason), count in findings.skipped.items():
        yield f"{condition} was not possible for {count} of {findings.texts} texts: {reason}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """The questions of an exam of repair.

    Raises `ConfigError` if there is nothing to examine, or a name is doubled.
    """

    segments: tuple[Segment, ...]
    aspects: tuple[Aspect, ...]
    conditions: tuple[Condition, ...]
    """The damage that is planted in each, one at a time."""
    rounds: int
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
class ExamResult:
    """The result of an exam."""

    findings: Findings
    attempts: tuple[Attempt, ...]
    judged: tuple[JudgedText, ...]
    examinee: Examinee
    examiner: Examinee
    writer: str


async def examine(
    exam: Exam, run: ExamRun, *, open_examiner: OpenPanel, open_writer: OpenWriter
) -> ExamResult:
    """Examine a repair that the panel of `run` guides.

    `open_examiner`, `open_writer`: open the panel that looks at the ends, and the loop's writer.

    Raise `ConfigError` if the examiner has no judge that is not of the loop's panel, `DataError` if
    no text could be damaged, and `RunStoppedError` if the stop token came before the end.
    """
    shared = await _shared_judges(run, open_examiner)
    made = perturbed_pairs(exam.segments, exam.conditions, seed=exam.settings.seed)
    pairs, skipped = made_and_skipped(made, "damaged")
    done, writer = await _repair_all(exam, pairs, run, open_writer=open_writer)
    texts = _texts_of(done)
    run.expect(
        sum(len(v.results) for repairing in done for v in repairing.done.versions)
        + len(texts) * len(exam.aspects)
    )
    after = replace(run, open_panel=open_examiner, record=Recorder(run.record.show))
    results = await after.judge(
        ((segment, aspect) for segment in texts.values() for aspect in exam.aspects),
        draw="",
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
    seen = partial(_judged, texts=texts, results=results, aspects=exam.aspects)
    return ExamResult(
        findings=findings,
        attempts=rows,
        judged=tuple(chain.from_iterable(map(seen, done))),
        examinee=run.examinee,
        examiner=after.examinee,
        writer=writer,
    )


async def _shared_judges(run: ExamRun, open_examiner: OpenPanel) -> tuple[str, ...]:
    """Return the examiner's seats whose judges sit in the loop's panel, too; refuse if all do."""
    async with run.open_panel("") as panel, open_examiner("") as examiner:
        own = {seat.signature for seat in panel.seats}
        shared = tuple(seat.name for seat in examiner.seats if seat.signature in own)
        if len(shared) == len(examiner.seats):
            raise ConfigError(
                "the examiner is the panel that the repair is guided by, or a part of it, and would"
                " only repeat its report: name other judges with --examiner"
            )
    return shared


async def _repair_all(
    exam: Exam, pairs: Sequence[PerturbedPair], run: ExamRun, *, open_writer: OpenWriter
) -> tuple[list[Repairing], str]:
    """Put every damaged and every clean text through the loop; return them in this order."""
    todo = [
        *((pair.clean, pair.damaged, pair.condition) for pair in pairs),
        *((segment, segment, "") for segment in exam.segments),
    ]
    async with run.open_panel("") as panel, open_writer() as writer:

        async def work(text: tuple[Segment, Segment, str]) -> Repairing:
            clean, segment, condition = text
            repaired = await repair(
                replace(segment, gold=()),  # no judge sees it, but a plugin might
                exam.aspects,
                panel=panel,
                writer=writer,
                rounds=exam.rounds,
            )
            for result in (result for version in repaired.versions for result in version.results):
                run.record(result)
            return Repairing(clean=clean, condition=condition, done=repaired)

        done = await in_order(todo, work, workers=run.workers, stop_token=run.stop_token)
        return done, writer.signature


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
    *,
    texts: Mapping[tuple[str, str], Segment],
    results: Mapping[tuple[str, str], Result],
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
