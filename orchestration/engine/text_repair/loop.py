"""The repair loop: a writer replaces what the panel marks, until no version is better.

A `Writer` changes only marked passages. Each version that is kept is better according to the panel.
Any failure leaves the best version so far, with the reason.
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
    """The reason why a repair ended."""

    NOTHING_MARKED = "nothing_marked"
    """The panel marks no error in the best version."""
    NO_PLACE = "no_place"
    """The marked errors have no position in the text, such as omissions."""
    NO_BETTER = "no_better"
    """The last version was not better and was discarded."""
    UNCHANGED = "unchanged"
    """The writer changed no marked passage."""
    ROUNDS = "rounds"
    """All rounds are done."""
    LIMIT = "limit"
    """A limit of tokens or time was reached."""
    UNSCORED = "unscored"
    """The panel could not judge, so that versions cannot be compared."""
    WRITER_FAILED = "writer_failed"
    """The writer gave no usable answer."""


class Assessor(Protocol):
    """The part of a panel that a repair needs."""

    async def assess(self, segment: Segment, aspect: Aspect) -> PanelReport:
        """Return the report on one aspect."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacements:
    """A writer's answer.

    Parameters
    ----------
    texts
        Number of a passage -> its replacement, empty to delete it; other passages stay.
    usage
        The writer's spending.
    """

    texts: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    usage: Usage = Usage()


@runtime_checkable
class Writer(Protocol):
    """The port to a writer that replaces marked passages."""

    @property
    def signature(self) -> str:
        """Everything that can change the output."""
        ...

    async def replacements(self, version: Version) -> Replacements:
        """Return the replacements for the passages of `version`.

        Raise `ModelError` or `JudgeError` if there is no usable answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """A rewritten version that is not judged yet.

    Parameters
    ----------
    edits
        The changes, if the version was edited passage by passage.
    usage
        The spending on it.
    """

    segment: Segment
    edits: tuple[SpanEdit, ...] = ()
    usage: Usage = Usage()


@runtime_checkable
class Rewriter(Protocol):
    """The port to a writer that rewrites a whole version."""

    @property
    def signature(self) -> str:
        """Everything that can change the output."""
        ...

    async def rewritten(self, version: Version) -> Rewriting:
        """Return `version` without its errors.

        Raise `ModelError` or `JudgeError` if there is no usable answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """A finished repair.

    Parameters
    ----------
    versions
        The original text, followed by each version that was tried, kept or not.
    stopped, reason
        Why the repair ended; `reason` is a sentence if something failed.
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
        """The edits of all kept versions, one version after the other."""
        return tuple(edit for version in self.versions if version.kept for edit in version.edits)

    @property
    def left(self) -> tuple[Marked, ...]:
        """The errors that are still marked in the best version."""
        return self.best.errors

    @property
    def usage(self) -> Usage:
        """The writer's spending."""
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

    Raise `UnusableModelError` if the writer cannot be called at all, for example because of a wrong
    key.

    Parameters
    ----------
    segment
        The text, with the inputs that it should agree with.
    aspects
        The aspects to judge.
    panel
        Marks errors and decides which version is better.
    writer
        Replaces the marked passages, or rewrites the whole text.
    rounds
        The most calls of the writer; at least 1.
    limits
        Calls and tokens of panel and writer together, and seconds; no round begins beyond them.
        Cost cannot be limited here, since prices are unknown.
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
            rewritten = await _rewritten(best, writer)
        except UnusableModelError:
            raise
        except (ModelError, JudgeError) as error:
            log.warning("repair.writer_failed", outcome=error.outcome.value, error=kind_of(error))
            return _repaired(versions, Stopped.WRITER_FAILED, reason_of(error))
        if rewritten.segment.output == best.text:
            return _repaired(versions, Stopped.UNCHANGED)
        judged = await _judged(rewritten.segment, aspects, panel)
        kept = is_better(judged, best)
        versions.append(replace(judged, edits=rewritten.edits, kept=kept, usage=rewritten.usage))
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
    """Judge a text on all aspects concurrently."""
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
    """Describe the limit that is reached; empty if none is."""
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
