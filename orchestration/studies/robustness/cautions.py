"""Cautions: why a number of a robustness exam should not be taken at its face value."""

from collections.abc import Iterator

from spanjury.orchestration.studies.card import CHANCES, FLAWS_SEEN
from spanjury.orchestration.studies.robustness.attacked_texts import REPEAT
from spanjury.orchestration.studies.robustness.findings import Finding, Findings

_FEW = 20
"""With fewer sources than this an interval is rough, and a success of 0 says little."""
_NOISY = 0.05
"""From this share on, what happens of itself is no smaller than what is demanded as a rule."""


def cautions(findings: Findings) -> tuple[str, ...]:
    """Say, in sentences, what to keep in mind of the panel, and of seats without room."""
    overall = findings.overall(findings.panel)
    return (
        *_on_room(findings, overall),
        *_on_flaws(findings),
        *_on_sources(overall),
        *_on_controls(findings),
        *_on_denial(findings, overall),
        *_on_skipped(findings),
    )


def _on_room(findings: Findings, overall: Finding) -> Iterator[str]:
    for judge in findings.judges:
        if not findings.overall(judge).success.trials:
            yield f"No attack had room to succeed on {judge}: its success is not defined."
    for aspect in findings.of(findings.panel, "aspect"):
        if not aspect.success.trials and overall.success.trials:
            yield f"On {aspect.name} no attack had room to succeed: it is in no share."
    if overall.unscored:
        yield (
            f"{overall.unscored} attempts are on texts without a score to begin with, "
            "and are in no share."
        )


def _on_flaws(findings: Findings) -> Iterator[str]:
    for judge, seen in findings.seen.items():
        if seen.trials and not seen.low > CHANCES[FLAWS_SEEN]:
            yield (
                f"{judge} is not shown to score damaged texts below good ones ({seen.value:.2f}, "
                "where 0.5 is chance): a judge that sees no flaw withstands every attack."
            )
    if not findings.damaged:
        yield (
            "The texts were attacked undamaged, so it is unknown whether the judge sees their "
            "flaws: require discernment on its card beside robustness."
        )


def _on_sources(overall: Finding) -> Iterator[str]:
    if 0 < overall.success.clusters < _FEW:
        yield (
            f"{overall.success.clusters} sources are few: attacks that did not succeed here may "
            "succeed on others."
        )


def _on_controls(findings: Findings) -> Iterator[str]:
    for control in findings.of(findings.panel, "control"):
        if control.success.trials and control.success.value >= _NOISY:
            what = (
                "The same text judged a second time"
                if control.name == REPEAT
                else "An addition that says nothing"
            )
            yield (
                f"{what} does better in {control.success.value:.0%} of cases: read success net of "
                "the plain addition, not by itself."
            )


def _on_denial(findings: Findings, overall: Finding) -> Iterator[str]:
    if overall.denied.hits:
        ends = ", ".join(f"{count} {name}" for name, count in sorted(findings.outcomes.items()))
        yield (
            f"{overall.denied.hits} of {overall.denied.of} attacks left the text without a score "
            f"({ends}, over all judges). They count as attempts that did not succeed."
        )


def _on_skipped(findings: Findings) -> Iterator[str]:
    for (attack, reason), count in findings.skipped.items():
        yield f"{attack} could not be made of {count} of {findings.texts} texts: {reason}."
