"""Cautions: why a number of an exam of repair should not be taken at its face value."""

from collections.abc import Iterator

from spanjury.orchestration.engine.text_repair.loop import Stopped
from spanjury.orchestration.studies.repair.attempts import DELETION
from spanjury.orchestration.studies.repair.findings import Findings

_FEW = 20
"""With fewer sources than this an interval is rough."""
_COVERED = 0.95


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what to keep in mind."""
    return (
        *_on_examiner(findings),
        *_on_sources(findings),
        *_on_loop(findings),
        *_on_deletion(findings),
        *_on_skipped(findings),
    )


def _on_examiner(findings: Findings) -> Iterator[str]:
    if findings.shared:
        names = ", ".join(findings.shared)
        yield (
            f"The examiner shares judges with the panel that guides the repair ({names}), so it "
            "partly measures what the repair was made to please."
        )
    covered = findings.overall().covered
    if covered.trials and covered.value < _COVERED:
        yield (
            f"The examiner scored {covered.value:.0%} of the damaged texts both before and after: "
            "the others are in no mean of scores."
        )


def _on_sources(findings: Findings) -> Iterator[str]:
    if findings.sources < _FEW:
        yield f"{findings.sources} sources are few: intervals are rough."


def _on_loop(findings: Findings) -> Iterator[str]:
    damaged = sum(count for count, _ in findings.stopped.values())
    for end, says in (
        (Stopped.UNSCORED, "could not be judged by the panel, and were left as they were"),
        (Stopped.WRITER_FAILED, "got no usable answer from the writer"),
    ):
        count = findings.stopped.get(end.value, (0, 0))[0]
        if count:
            yield f"{count} of {damaged} damaged texts {says}; they count in all shares."


def _on_deletion(findings: Findings) -> Iterator[str]:
    repair, deletion = findings.overall(), findings.overall(DELETION)
    if repair.removed.trials and repair.removed.value <= deletion.removed.value:
        yield (
            "Deleting every marked span removes as much of the damage: what the writer adds is "
            "what it restores and the words that it keeps."
        )


def _on_skipped(findings: Findings) -> Iterator[str]:
    for (condition, reason), count in findings.skipped.items():
        yield f"{condition} could not be done to {count} of {findings.texts} texts: {reason}."
