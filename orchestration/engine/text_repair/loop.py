"""The loop of a repair: a writer replaces what the panel marks, until nothing gets better.

It promises that a `Writer` changes only marked stretches, that each version is the better one by
the panel, and that whatever fails leaves the best version so far, with the reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from anyio import create_task_group, current_time

from spanjury.judges.core import (
    Aspect,
    EventLog,
    JudgeError,
    ModelError,
    PanelReport,
    Result,
    Segment,
    UnusableModelError,
    Usage,
    first_error_alone,
    kind_of,
    reason_of,
)
from spanjury.orchestration.engine.metering import Limits
from spanjury.orchestration.engine.spending import in_words
from spanjury.orchestration.engine.text_repair.places import (
    Marked,
    SpanEdit,
    edited_segment,
    edits_of,
)
from spanjury.orchestration.engine.text_repair.versions import Version, is_better

log = EventLog()


class Stopped(StrEnum):
    """The reason why a repair came to its end."""

    NOTHING_MARKED = "nothing_marked"
    """The panel marks no error in the best version."""
    NO_PLACE = "no_place"
    """The errors that it marks have no place in the text, as omissions have none."""
    NO_BETTER = "no_better"
    """The last version was not better, and was given up."""
    UNCHANGED = "unchanged"
    """The writer changed nothing that is marked."""
    ROUNDS = "rounds"
    """All rounds are over."""
    LIMIT = "limit"
    """A limit of tokens or time was reached."""
    UNSCORED = "unscored"
    """The panel could not judge, so that nothing can be compared."""
    WRITER_FAILED = "writer_failed"
    """The writer gave no usable answer."""


class Assessor(Protocol):
    """A panel, as far as a repair needs it."""

    async def assess(self, segment: Segment, aspect: Aspect) -> PanelReport:
        """Return the report on one aspect."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacements:
    """A writer's answer.

    Parameters
    ----------
    texts
        Number of a place -> what is to stand there, empty to delete it; what is not named stays.
    usage
        What it spent.
    """

    texts: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    usage: Usage = Usage()


@runtime_checkable
class Writer(Protocol):
    """The port to whatever says how a marked place should read."""

    @property
    def signature(self) -> str:
        """Everything that can change what it writes."""
        ...

    async def replacements(self, version: Version) -> Replacements:
        """Return what is to stand in the places of `version`.

        Raise `ModelError` or `JudgeError` if there is no usable answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """A version that was rewritten, not judged yet.

    Parameters
    ----------
    edits
        What was changed, if it was changed place by place.
    usage
        What was spent on it.
    """

    segment: Segment
    edits: tuple[SpanEdit, ...] = ()
    usage: Usage = Usage()


@runtime_checkable
class Rewriter(Protocol):
    """The port to whatever writes a whole version again."""

    @property
    def signature(self) -> str:
        """Everything that can change what it writes."""
        ...

    async def rewritten(self, version: Version) -> Rewriting:
        """Return `version` without its errors.

        Raise `ModelError` or `JudgeError` if there is no usable answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A repair that came to its end.

    Parameters
    ----------
    versions
        The text as it came, then each version that was tried, kept or not.
    stopped, reason
        Why there are no more; `reason` says it in a sentence where something failed.
    """

    versions: tuple[Version, ...]
    stopped: Stopped
    reason: str = ""

    @property
    def best(self) -> Version:
        """The best version: the last that was kept."""
        return next(version for version in reversed(self.versions) if version.kept)

    @property
    def edits(self) -> tuple[SpanEdit, ...]:
        """The edits of all versions that were kept, one version after the other."""
        return tuple(edit for version in self.versions if version.kept for edit in version.edits)

    @property
    def left(self) -> tuple[Marked, ...]:
        """The errors that are still marked in the best version."""
        return self.best.errors

    @property
    def usage(self) -> Usage:
        """The spending of the writer."""
        return sum((version.usage for version in self.versions), Usage())


async def repair(
    segment: Segment,
    aspects: tuple[Aspect, ...],
    *,
    panel: Assessor,
    writer: Writer | Rewriter,
    rounds: int,
    limits: Limits = Limits(),
) -> Repaired:
    """Repair the output of `segment`.

    Raise `UnusableModelError` if the writer cannot be asked at all, as by a wrong key.

    Parameters
    ----------
    segment
        The text, with what it should agree with.
    aspects
        The aspects on which it is judged.
    panel
        Marks errors, and says which version is better.
    writer
        Says what is to stand in the marked places, or rewrites the whole.
    rounds
        How often it is asked at most; at least 1.
    limits
        Calls and tokens of panel and writer together, and seconds; no round begins beyond them. A
        cost cannot be limited here, where no price is known.
    """
    if rounds < 1 or limits.max_cost is not None:
        raise ValueError(f"a repair has rounds, and no limit of cost: {rounds!r}, {limits!r}")
    began = current_time()
    versions = [await _judged(segment, aspects, panel)]
    for _ in range(rounds):
        best = next(version for version in reversed(versions) if version.kept)
        if end := _end(best):
            return _repaired(versions, end)
        if reason := _over(limits, versions, seconds=current_time() - began):
            return _repaired(versions, Stopped.LIMIT, reason)
        try:
            made = await _rewritten(best, writer)
        except UnusableModelError:
            raise
        except (ModelError, JudgeError) as error:
            log.warning("repair.writer_failed", outcome=error.outcome.value, error=kind_of(error))
            return _repaired(versions, Stopped.WRITER_FAILED, reason_of(error))
        if made.segment.output == best.text:
            return _repaired(versions, Stopped.UNCHANGED)
        judged = await _judged(made.segment, aspects, panel)
        kept = is_better(judged, best)
        versions.append(replace(judged, edits=made.edits, kept=kept, usage=made.usage))
        if not kept:
            return _repaired(versions, Stopped.NO_BETTER)
    return _repaired(versions, _end(versions[-1]) or Stopped.ROUNDS)


async def _rewritten(version: Version, writer: Writer | Rewriter) -> Rewriting:
    if isinstance(writer, Rewriter):
        return await writer.rewritten(version)
    answer = await writer.replacements(version)
    edits = edits_of(version.text, version.passages, answer.texts)
    segment = edited_segment(version.segment, edits)
    return Rewriting(segment=segment, edits=edits, usage=answer.usage)


async def _judged(segment: Segment, aspects: tuple[Aspect, ...], panel: Assessor) -> Version:
    """Judge a text on all aspects at once."""
    reports: dict[str, PanelReport] = {}

    async def judge(aspect: Aspect) -> None:
        reports[aspect.name] = await panel.assess(segment, aspect)

    with first_error_alone():
        async with create_task_group() as group:
            for aspect in aspects:
                group.start_soon(judge, aspect)
    return Version(
        segment=segment,
        results=tuple(
            Result(segment=segment, aspect=aspect, report=reports[aspect.name])
            for aspect in aspects
        ),
    )


def _end(best: Version) -> Stopped | None:
    if best.unjudged or not best.scored:
        return Stopped.UNSCORED
    if not best.errors:
        return Stopped.NOTHING_MARKED
    return None if best.passages else Stopped.NO_PLACE


def _over(limits: Limits, versions: list[Version], *, seconds: float) -> str:
    """Say which limit is reached; empty where none is."""
    spent = sum((version.spent for version in versions), Usage())
    tokens = spent.prompt + spent.completion
    if limits.max_calls is not None and spent.calls >= limits.max_calls:
        return f"{in_words(spent.calls, 'calls')} are spent, and {limits.max_calls} is the limit"
    if limits.max_tokens is not None and tokens >= limits.max_tokens:
        return f"{tokens} tokens are spent, and {limits.max_tokens} is the limit"
    if limits.max_seconds is not None and seconds >= limits.max_seconds:
        return f"{limits.max_seconds:g} seconds are over"
    return ""


def _repaired(versions: list[Version], stopped: Stopped, reason: str = "") -> Repaired:
    if stopped is Stopped.UNSCORED:
        best = versions[-1]
        silent = best.unjudged or best.results
        reason = "; ".join(f"{result.aspect.name}: {result.report.reason}" for result in silent)
    return Repaired(versions=tuple(versions), stopped=stopped, reason=reason)
