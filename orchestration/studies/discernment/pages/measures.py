"""An exam's findings as single numbers, for a judge's card."""

import math
from collections.abc import Iterator, Sequence

from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.discernment.contrasts import Cell
from spanjury.orchestration.studies.discernment.findings import Finding, Findings
from spanjury.orchestration.studies.discernment.verdicts import (
    Verdict,
    is_harmless,
    targeted,
    verdict,
)
from spanjury.stats.spans.localisation import pooled

__all__ = ["measures_of"]

_BIAS = "bias"
"""Family of the perturbations that leave the substance alone and tempt the judge."""


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return what `findings` come to: how well damage is seen, and what else moves scores."""
    harmful = [one for one in findings.findings if not is_harmless(one) and one.damaged]
    harmless = [one for one in findings.findings if is_harmless(one) and one.damaged]
    return (
        *_discernment(findings, harmful),
        *_localisation(harmful),
        *_steadiness("invariance", [one for one in harmless if one.family != _BIAS]),
        *_steadiness("bias", [one for one in harmless if one.family == _BIAS]),
        _retest(findings.control),
    )


def _discernment(findings: Findings, harmful: Sequence[Finding]) -> Iterator[Measure]:
    if not harmful:
        return
    overall, weighted = findings.overall, findings.weighted
    for name, value, says in (
        ("average", overall.average, "D, averaged over levels of damage; 1 is p = .05"),
        ("minimum", overall.minimum, "the lowest D of all treatments"),
        ("weighted", weighted.average, "average D with experts' weights of the aspects"),
    ):
        yield Measure(
            name=f"discernment.{name}", value=_defined(value), says=says, count=findings.segments
        )
    effects = [
        cell.effects.net_drop for one in harmful for cell in targeted(one) if cell.effects.used
    ]
    yield Measure(
        name="discernment.effect",
        value=sum(effects) / len(effects) if effects else None,
        says="P(drop) - P(rise), the mean over damaged aspects of all treatments; -1 to 1",
        count=len(effects),
    )


def _localisation(harmful: Sequence[Finding]) -> Iterator[Measure]:
    if not harmful:
        return
    found = pooled(one.localisation for one in harmful)
    yield Measure(
        name="localisation.hits",
        value=_defined(found.hit_rate),
        says=f"share of damaged places that new spans touch; {_share(found.chance)} by chance",
        count=found.places,
    )
    yield Measure(
        name="localisation.precision",
        value=_defined(found.precision),
        says="share of newly marked characters that are damage",
        count=found.marked,
    )


def _steadiness(topic: str, harmless: Sequence[Finding]) -> Iterator[Measure]:
    if not harmless:
        return
    told = [verdict(one) for one in harmless]
    for name, wanted, says in (
        ("steady", Verdict.STEADY, "share of harmless treatments shown to leave scores alone"),
        ("moved", Verdict.MOVED, "share of harmless treatments after which scores move"),
    ):
        yield Measure(
            name=f"{topic}.{name}",
            value=sum(one is wanted for one in told) / len(told),
            says=says,
            count=len(told),
        )


def _retest(control: Sequence[Cell]) -> Measure:
    """Tell how far a judge agrees with itself."""
    pairs = sum(cell.effects.used for cell in control)
    moved = sum(
        (cell.effects.drop_share + cell.effects.rise_share) * cell.effects.used
        for cell in control
        if cell.effects.used
    )
    return Measure(
        name="retest.moved",
        value=moved / pairs if pairs else None,
        says="share of scores of clean texts that are others the second time",
        count=pairs,
    )


def _defined(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.0%}"
