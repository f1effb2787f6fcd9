"""The tables of an exam's page, in Markdown."""

from collections.abc import Iterator, Sequence

from spanjury.orchestration.studies.discernment.contrasts import Cell
from spanjury.orchestration.studies.discernment.findings import Finding, Findings
from spanjury.orchestration.studies.discernment.verdicts import (
    figure,
    missing,
    targeted,
    verdict,
    with_interval,
    worst_net_drop,
)
from spanjury.orchestration.studies.markdown_rows import bold, head, row

__all__ = [
    "condition_table",
    "control_table",
    "coverage_table",
    "left_out_table",
    "matrix_table",
    "overall_table",
    "steadiness_table",
]

Lines = Iterator[str]


def overall_table(findings: Findings) -> Lines:
    """Tabulate D averaged over levels, level by level, and its minimum."""
    plain, weighted = findings.overall, findings.weighted
    by_experts = dict(weighted.by_level)
    yield from head("", "D", "D, experts' weights")
    yield row("average over levels", figure(plain.average), figure(weighted.average))
    yield row("minimum", figure(plain.minimum), figure(weighted.minimum))
    for level, score in plain.by_level:
        yield row(f"{level} level", figure(score), figure(by_experts[level]))


def condition_table(findings: Sequence[Finding]) -> Lines:
    """Tabulate what each condition did that should make a score fall."""
    yield from head(
        "treatment",
        "damaged by",
        "level",
        "texts",
        "D",
        "D, experts' weights",
        "without small weights",
        "mean of D_j, weighted",
        "joint D",
        "contrast",
        "damaged aspects: P(drop) - P(rise)",
        "hits (by chance)",
        "precision",
        "verdict",
    )
    for finding in findings:
        found = finding.localisation
        effects = "; ".join(f"{one.aspect} {with_interval(one)}" for one in targeted(finding))
        yield row(
            finding.condition,
            finding.written_by or "rule",
            finding.level,
            str(finding.damaged),
            figure(finding.discernment),
            figure(finding.weighted),
            figure(finding.ablated),
            figure(finding.pooled),
            figure(finding.joint),
            figure(finding.contrast, "+.2f"),
            effects or "-",
            f"{figure(found.hit_rate, '.0%')} ({figure(found.chance, '.0%')})",
            figure(found.precision, ".0%"),
            verdict(finding).value,
        )


def matrix_table(findings: Sequence[Finding], *, aspects: Sequence[str]) -> Lines:
    """Tabulate P(drop) - P(rise) by condition and aspect; damaged aspects are bold."""
    yield from head("treatment", *aspects)
    for finding in findings:
        yield row(finding.condition, *(_marked(cell) for cell in finding.cells))


def steadiness_table(findings: Sequence[Finding]) -> Lines:
    """Tabulate, aspect by aspect, whether scores stayed where they should; only where some are."""
    yield from head("treatment", "aspect", "texts", "mean drop [90 % interval]", "verdict")
    for finding in findings:
        for cell in finding.cells:
            if cell.equivalence and cell.equivalence.used:
                yield row(finding.condition, *_steady(cell))


def control_table(control: Sequence[Cell]) -> Lines:
    """Tabulate what came of the clean texts, judged a second time."""
    yield from head(
        "aspect", "texts", "mean drop [90 % interval]", "verdict", "P(drop) - P(rise)", "D"
    )
    for cell in control:
        yield row(*_steady(cell), with_interval(cell), figure(cell.discernment))


def coverage_table(findings: Sequence[Finding], *, aspects: Sequence[str]) -> Lines:
    """Tabulate, aspect by aspect, how many pairs have scores, and the least effect at worst."""
    yield from head("aspect", "pairs", "with both scores", "least effect, if the others had risen")
    for number, aspect in enumerate(aspects):
        wanted = sum(finding.damaged for finding in findings)
        lost = sum(missing(finding, finding.cells[number]) for finding in findings)
        worst = [
            worst_net_drop(finding, finding.cells[number])
            for finding in findings
            if finding.damaged and finding.cells[number].expected == "falls"
        ]
        share = figure((wanted - lost) / wanted if wanted else float("nan"), ".0%")
        told = figure(min(worst, default=float("nan")), "+.2f")
        yield row(aspect, str(wanted), f"{wanted - lost} ({share})", told)


def left_out_table(findings: Sequence[Finding]) -> Lines:
    """Tabulate texts that a condition left as they were, and why."""
    yield from head("treatment", "texts", "why")
    for finding in findings:
        for reason, count in finding.skipped.items():
            yield row(finding.condition, str(count), reason)


def _steady(cell: Cell) -> tuple[str, ...]:
    told = cell.equivalence
    assert told is not None
    moved = f"{figure(told.estimate, '+.2f')} [{told.low:+.2f}, {told.high:+.2f}]"
    texts = str(told.used)
    return (cell.aspect, texts, moved, told.verdict) if told.used else (cell.aspect, "0", "-", "-")


def _marked(cell: Cell) -> str:
    told = figure(cell.effects.net_drop, "+.2f")
    if cell.expected == "falls":
        return bold(told)
    return f"{told} =" if cell.expected == "unchanged" else told
