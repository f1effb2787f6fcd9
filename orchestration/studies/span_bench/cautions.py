"""Cautions: why a figure of a bench should not be taken at its face value."""

from collections.abc import Iterator

from spanjury.orchestration.studies.span_bench.findings import Findings, SetFindings

_FEW = 30
"""Sources below which an interval of percentiles is too narrow."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what to keep in mind when the figures are read."""
    return tuple(sentence for one in findings.sets for sentence in _on_set(one))


def _on_set(one: SetFindings) -> Iterator[str]:
    for finding in one.findings:
        answered, texts = finding.coverage.texts
        if finding.role != "baseline" and answered < texts:
            ends = ", ".join(f"{count} {outcome}" for outcome, count in finding.failures.items())
            yield (
                f"{one.name}: {finding.judge} has a score on {answered} of {texts} texts ({ends}):"
                " the others are in no figure, since no answer does not mean no error"
            )
    if one.sources < _FEW:
        yield f"{one.name}: {one.sources} sources: with so few, intervals are too narrow"
    if one.unknown:
        yield f"{one.name}: of {one.unknown} texts nothing is known; they were not judged"
    if one.faulty and not one.error_free:
        yield f"{one.name}: no text is known to have no error: false alarms show in precision only"
