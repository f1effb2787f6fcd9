"""Cautions: why a figure of a bench should not be taken at its face value."""

from collections.abc import Iterator

from spanjury.orchestration.studies.span_bench.findings import Findings, SetFindings

_FEW = 30
"""Sources below which an interval of percentiles is too narrow."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what to keep in mind when the figures are read."""
    return tuple(sentence for one in findings.sets for sentence in _on_set(one))


def _on_set(findings: SetFindings) -> Iterator[str]:
    for finding in findings.findings:
        answered, texts = finding.coverage.texts
        if finding.role != "baseline" and answered < texts:
            ends = ", ".join(f"{count} {outcome}" for outcome, count in finding.failures.items())
            yield (
                f"{findings.name}: {finding.judge} has a score on {answered} of {texts} texts"
                f" ({ends}):"
                " the others are in no figure, since no answer does not mean no error"
            )
    if findings.sources < _FEW:
        yield f"{findings.name}: {findings.sources} sources: with so few, intervals are too narrow"
    if findings.unknown:
        yield (
            f"{findings.name}: it is unknown whether {findings.unknown} texts have errors; they "
            "were not judged"
        )
    if findings.faulty and not findings.error_free:
        yield (
            f"{findings.name}: no text is known to have no error: false alarms show in precision"
            " only"
        )
