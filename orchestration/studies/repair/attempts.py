"""Attempts: a text as each repair left it, with what was changed and measured, row by row.

Texts are compared word by word with the clean text, whoever repaired them and however, so that a
rewriting and the deletion of spans are measured alike.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import NamedTuple

from spanjury.judges.core import Result, Segment
from spanjury.judges.text.words import words
from spanjury.orchestration.engine.text_repair.loop import Repaired
from spanjury.orchestration.engine.text_repair.places import edited_segment, edits_of
from spanjury.orchestration.studies.discernment.score_arrays import digest_of
from spanjury.orchestration.studies.judging import judgement_of, overlapping
from spanjury.orchestration.studies.sources import source_of
from spanjury.perturbations.edits import Damage, Edit, edits_between

_HALF = 0.5
_FACT = re.compile(r"\d|^\w*[A-Z]")
REPAIR, NOTHING, DELETION = "repair", "change nothing", "delete every span"
ARMS = (REPAIR, NOTHING, DELETION)
"""The repair that is examined, and two that need no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """The work of a repair on one text."""

    planted: int
    """Places of planted damage, word by word."""
    removed: int
    """Number of these in which at most half of the wrong words remain, or something stands in place
    of what was left out."""
    restored: int
    """Number of these that read as the clean text does."""
    words: int
    """Words of the clean text that the damage left as they were."""
    changed: int
    """Number of these that the repair changed or left out."""
    added: int
    """Words put in apart from planted damage."""


def changes(clean: str, damaged: str, repaired: str) -> Changes:
    """Compare a repaired text with the clean one, and with what was damaged of it."""
    was, now = edits_between(clean, damaged), edits_between(clean, repaired)
    intervals = [(edit.start, edit.end) for edit in was]
    outcomes = [_outcome(interval, was, now) for interval in intervals]
    right = [
        (word.start, word.end)
        for word in words(clean)
        if not any(_covers(edit, word.start, word.end) for edit in was)
    ]
    strange = [edit for edit in now if not any(_touches(edit, *interval) for interval in intervals)]
    return Changes(
        planted=len(intervals),
        removed=sum(removed for removed, _ in outcomes),
        restored=sum(restored for _, restored in outcomes),
        words=len(right),
        changed=sum(any(_covers(edit, *word) for edit in now) for word in right),
        added=sum(
            max(0, len(words(edit.text)) - len(words(clean[edit.start : edit.end])))
            for edit in strange
        ),
    )


def put_in(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Return the intervals of `after` that differ from `before` and are not empty."""
    intervals = Damage(clean=before, edits=edits_between(before, after)).places
    return tuple(interval for interval in intervals if interval[0] < interval[1])


def inventions(before: str, after: str, *, source: str) -> int:
    """Count names and numbers that were put in and stand neither in the text nor in its source."""
    given = {word.folded for text in (before, source) for word in words(text)}
    return sum(
        bool(_FACT.search(word.text)) and word.folded not in given
        for start, end in put_in(before, after)
        for word in words(after[start:end])
    )


def _outcome(span: tuple[int, int], was: Sequence[Edit], now: Sequence[Edit]) -> tuple[bool, bool]:
    """Say whether planted damage is removed, and whether the clean text is restored."""
    left = [edit for edit in now if _touches(edit, *span)]
    if not left:
        return True, True
    planted = [edit for edit in was if _touches(edit, *span)]
    if left == planted:
        return False, False
    wrong = Counter(word.folded for edit in planted for word in words(edit.text))
    if not wrong:  # something was left out, and now something else stands there
        return any(words(edit.text) for edit in left), False
    standing = wrong & Counter(word.folded for edit in left for word in words(edit.text))
    return standing.total() <= _HALF * wrong.total(), False


def _touches(edit: Edit, start: int, end: int) -> bool:
    """Say whether an edit changes something in a place, or at one that is empty."""
    if edit.start == edit.end or start == end:
        return edit.start <= end and edit.end >= start
    return edit.start < end and edit.end > start


def _covers(edit: Edit, start: int, end: int) -> bool:
    return edit.start < end and edit.end > start


class Judged(NamedTuple):
    """An examiner's judgement of one text, over its aspects."""

    scores: Mapping[str, float | None]
    """Aspect -> score; None if there is none."""
    spans: tuple[tuple[int, int], ...]
    """Located errors on any aspect."""

    @property
    def is_scored(self) -> bool:
        """True if any aspect has a score."""
        return any(score is not None for score in self.scores.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairing:
    """A text that went through the loop."""

    clean: Segment
    """Without damage."""
    condition: str
    """Name of the damage; empty for a clean text."""
    done: Repaired

    @property
    def segment(self) -> Segment:
        """The text as it came to the loop."""
        return self.done.versions[0].segment

    @property
    def ends(self) -> Mapping[str, Segment]:
        """Way of repairing -> the text that it leaves."""
        first = self.done.versions[0]
        nothing = {passage.number: "" for passage in first.passages}
        gone = edited_segment(first.segment, edits_of(first.text, first.passages, nothing))
        return {REPAIR: self.done.best.segment, NOTHING: first.segment, DELETION: gone}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One text as one way of repairing left it.

    `planted`, `removed`, `restored`, `words`, `changed`, `added`: as in `Changes`.
    `replaced`, `marked`: places where something else stands than before, and those of them that the
    examiner marks; None where it has no score.
    `before`, `after`: the examiner's mean score over the aspects that it scored in both; None
    without any.
    `stopped`, `rounds`: how the loop ended, and how many versions it made.
    """

    text: str
    source: str
    """Digest of the inputs: texts of one source are not independent of each other."""
    condition: str
    """Name of the damage before; empty for a clean one."""
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
    """Its errors in places that it did not mark before; None without a score."""
    inventions: int
    """Names and numbers put in that stand neither in the text nor in its source."""
    before: float | None
    after: float | None
    clean: float | None
    """The same of the text before the damage, over the same aspects."""
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
        spans=tuple(span for result in results for span in judgement_of(result.report).spans),
    )


def attempts_on(repairing: Repairing, examined: Mapping[tuple[str, str], Judged]) -> list[Attempt]:
    """Return a row for each way of repairing a text.

    `examined` is what the examiner says, by the id of the clean text and `digest_of` the judged.
    """
    base = repairing.clean.segment_id
    seen = {digest: judgement for (of, digest), judgement in examined.items() if of == base}
    return [_attempt(repairing, arm, seen) for arm in ARMS]


def _attempt(repairing: Repairing, arm: str, seen: Mapping[str, Judged]) -> Attempt:
    segment, clean = repairing.segment, repairing.clean
    first, last = repairing.ends[NOTHING], repairing.ends[arm]
    before, after = first.output, last.output
    start, end = seen[digest_of(first)], seen[digest_of(last)]
    shared = [name for name in start.scores if None not in (start.scores[name], end.scores[name])]
    replaced = put_in(before, after)
    return Attempt(
        text=segment.segment_id,
        source=source_of(clean),
        condition=repairing.condition,
        arm=arm,
        **asdict(changes(clean.output, before, after)),
        replaced=len(replaced),
        marked=overlapping(replaced, end.spans) if end.is_scored else None,
        new_errors=_new(before, after, start=start, end=end),
        inventions=inventions(before, after, source=" ".join(segment.inputs.values())),
        before=_mean(start, shared),
        after=_mean(end, shared),
        clean=_mean(seen[digest_of(clean)], shared),
        stopped=repairing.done.stopped.value,
        rounds=len(repairing.done.versions) - 1,
    )


def _new(before: str, after: str, *, start: Judged, end: Judged) -> int | None:
    """Count the errors in places that were not marked before; None without a score."""
    if not (start.is_scored and end.is_scored):
        return None
    moved = Damage(clean=before, edits=edits_between(before, after))
    spans = [moved.carried(*span) for span in start.spans]
    return len(end.spans) - overlapping(end.spans, spans)


def _mean(judgement: Judged, aspects: Sequence[str]) -> float | None:
    scores = [judgement.scores.get(aspect) for aspect in aspects]
    given = [score for score in scores if score is not None]
    return fmean(given) if given and len(given) == len(scores) else None
