"""Attempts: one text as each way of repairing it left it, with what was measured, row by row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from spanjury.judges.core import Result, Segment, fingerprint
from spanjury.orchestration.engine.text_repair.loop import Repaired
from spanjury.orchestration.engine.text_repair.places import edited, edits_of
from spanjury.orchestration.studies.repair.changes import changes, inventions, put_in
from spanjury.perturbations.edits import Damage, edits_between

REPAIR, NOTHING, DELETION = "repair", "change nothing", "delete every span"
ARMS = (REPAIR, NOTHING, DELETION)
"""The repair that is examined, and two that need no model."""


class Judged(NamedTuple):
    """An examiner's judgement of one text, over its aspects.

    Parameters
    ----------
    scores
        Aspect -> score; None where there is none.
    spans
        Located errors on any aspect.
    """

    scores: Mapping[str, float | None]
    spans: tuple[tuple[int, int], ...]

    @property
    def is_scored(self) -> bool:
        """True if any aspect has a score."""
        return any(score is not None for score in self.scores.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairing:
    """A text that went through the loop.

    Parameters
    ----------
    clean
        Without damage.
    condition
        What was done to it; empty for a clean text.
    """

    clean: Segment
    condition: str
    done: Repaired

    @property
    def segment(self) -> Segment:
        """The text as it came to the loop."""
        return self.done.versions[0].segment

    @property
    def texts(self) -> Mapping[str, str]:
        """Way of repairing -> the text that it leaves."""
        first = self.done.versions[0]
        nothing = {passage.number: "" for passage in first.passages}
        gone = edited(first.text, edits_of(first.text, first.passages, nothing))
        return {REPAIR: self.done.best.text, NOTHING: first.text, DELETION: gone}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One text as one way of repairing left it.

    Parameters
    ----------
    source
        Digest of the inputs: texts of one source are not independent of each other.
    condition
        What was done to the text before; empty for a clean one.
    planted, removed, restored, words, changed, added
        As in `Changes`.
    replaced, marked
        Places where something else stands than before, and those of them that the examiner
        marks; None where it has no score.
    new_errors
        Its errors in places that it did not mark before; None without a score.
    inventions
        Names and numbers put in that stand neither in the text nor in its source.
    before, after
        The examiner's mean score over the aspects that it scored in both; None without any.
    clean
        The same of the text before the damage, over the same aspects.
    stopped, rounds
        How the loop ended, and how many versions it made.
    """

    text: str
    source: str
    condition: str
    arm: str
    planted: int
    removed: int
    restored: int
    words: int
    changed: int
    added: int
    replaced: int
    marked: int | None
    new_errors: int | None
    inventions: int
    before: float | None
    after: float | None
    clean: float | None
    stopped: str
    rounds: int

    @property
    def is_damaged(self) -> bool:
        """True if damage was planted in the text."""
        return bool(self.condition)

    @property
    def is_altered(self) -> bool:
        """True if anything about the text was changed."""
        return self.replaced > 0 or self.changed > 0 or self.added > 0 or self.removed > 0


def judged(results: Sequence[Result]) -> Judged:
    """Return what an examiner says of one text, aspect by aspect."""
    return Judged(
        scores={result.aspect.name: result.report.score for result in results},
        spans=tuple(
            span.interval
            for result in results
            for span in result.report.spans
            if span.interval is not None
        ),
    )


def attempts_on(repairing: Repairing, examined: Mapping[tuple[str, str], Judged]) -> list[Attempt]:
    """Return a row for each way of repairing a text.

    `examined` is what the examiner says, by the id of the clean text and the text judged.
    """
    base = repairing.clean.segment_id
    seen = {text: judgement for (of, text), judgement in examined.items() if of == base}
    return [_attempt(repairing, arm, seen) for arm in ARMS]


def _attempt(repairing: Repairing, arm: str, seen: Mapping[str, Judged]) -> Attempt:
    segment, clean = repairing.segment, repairing.clean
    before, after = repairing.texts[NOTHING], repairing.texts[arm]
    counted = changes(clean.output, before, after)
    start, end = seen[before], seen[after]
    shared = [
        name
        for name, score in start.scores.items()
        if score is not None and end.scores[name] is not None
    ]
    replaced = put_in(before, after)
    return Attempt(
        text=segment.segment_id,
        source=_source(clean),
        condition=repairing.condition,
        arm=arm,
        planted=counted.planted,
        removed=counted.removed,
        restored=counted.restored,
        words=counted.words,
        changed=counted.changed,
        added=counted.added,
        replaced=len(replaced),
        marked=_count_met(replaced, end.spans) if end.is_scored else None,
        new_errors=_new(before, after, start=start, end=end),
        inventions=inventions(before, after, source=" ".join(segment.inputs.values())),
        before=_mean(start, shared),
        after=_mean(end, shared),
        clean=_mean(seen[clean.output], shared),
        stopped=repairing.done.stopped.value,
        rounds=len(repairing.done.versions) - 1,
    )


def _new(before: str, after: str, *, start: Judged, end: Judged) -> int | None:
    """Count the errors in places that were not marked before; None without a score."""
    if not (start.is_scored and end.is_scored):
        return None
    moved = Damage(clean=before, edits=edits_between(before, after))
    spans = [moved.carried(*span) for span in start.spans]
    return len(end.spans) - _count_met(end.spans, spans)


def _mean(judgement: Judged, aspects: Sequence[str]) -> float | None:
    scores = [judgement.scores.get(aspect) for aspect in aspects]
    given = [score for score in scores if score is not None]
    return fmean(given) if given and len(given) == len(scores) else None


def _count_met(intervals: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]) -> int:
    return sum(any(_meet(interval, span) for span in spans) for interval in intervals)


def _meet(interval: tuple[int, int], span: tuple[int, int]) -> bool:
    return max(interval[0], span[0]) < min(interval[1], span[1])


def _source(segment: Segment) -> str:
    inputs = [part for item in sorted(segment.inputs.items()) for part in item]
    return fingerprint(*inputs) if inputs else fingerprint(segment.segment_id)
