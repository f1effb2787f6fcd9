"""Comparisons as a report, as values for programs, and as measures."""

from collections.abc import Iterator

from spanjury.orchestration.report import (
    Block,
    Cell,
    Column,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    numeric,
    prose,
    table,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.pairs.findings import (
    AspectComparisons,
    Findings,
    OrderFindings,
    PairCount,
)
from spanjury.stats.proportions import Proportion

_SHARE = ".2f"
MEASURES = ("pairs.answered", "pairs.consistent", "pairs.first")
_READING = (
    "Each pair is shown in both orders. A preference that turns with the order counts as a tie. "
    "Share: A's wins, ties half. Same in both orders: pairs whose preference does not turn. First "
    "preferred: reports with a winner that prefer the text shown first; 0.5 without position bias, "
    "because each text is shown first once. Intervals of 95 % are over sources."
)
_ORDER_FREE = (
    "This judge sees each text alone, so it was asked about each pair once and no order can sway "
    "it. Share: A's wins, ties half."
)


def pairs_report(findings: Findings, *, judge: Examinee, data: str) -> Report:
    """Return the report of a comparison."""
    sees_order = bool(findings.order.consistent.trials)
    return Report(
        title="Pairs",
        answer=" ".join(map(_answer, findings.aspects)),
        facts=[
            prose("texts: {}", code(data)),
            *(prose("{}: {}", name, code(each)) for name, each in judge.seats.items()),
        ],
        sections=[
            *(Section(aspect.aspect, [*_blocks(aspect)]) for aspect in findings.aspects),
            Paragraph(_READING if sees_order else _ORDER_FREE),
        ],
    )


def _answer(aspect: AspectComparisons) -> str:
    """Say which system of two is preferred, or which of several wins most."""
    points: dict[str, list[float]] = {}
    for pair in aspect.pairs:
        if pair.share is not None:
            points.setdefault(pair.system_a, []).append(pair.share)
            points.setdefault(pair.system_b, []).append(1 - pair.share)
    if not points:
        return f"On {aspect.aspect} no comparison has a preference."
    shares = {system: sum(each) / len(each) for system, each in points.items()}
    best = max(shares, key=lambda system: shares[system])
    if len(set(shares.values())) == 1:
        return f"On {aspect.aspect} the judge prefers none of the systems."
    return (
        f"On {aspect.aspect} the judge prefers {best}, which wins {shares[best]:.0%} (ties half)."
    )


def order_table(rows: Iterator[tuple[str, OrderFindings]], *, heading: str) -> Table:
    """Return the table of how far the order of the texts decides."""
    columns = (
        Column(heading),
        *numeric("pairs"),
        Column("same in both orders", "right", wrap=True),
        Column("first preferred", "right", wrap=True),
    )
    return table(
        columns,
        (
            (name, order.consistent.trials, share_cell(order.consistent), share_cell(order.first))
            for name, order in rows
        ),
    )


def share_cell(share: Proportion) -> Cell:
    """Return the cell of a share with its interval."""
    return Cell(share.value, _SHARE, interval=(share.low, share.high))


def findings_json(findings: Findings, *, judge: Examinee) -> dict[str, object]:
    """Return a comparison for programs; what is undefined is null."""
    return {
        "judge": judge.signature,
        "order": plain(findings.order),
        "aspects": [
            {
                "aspect": aspect.aspect,
                "compared": aspect.compared,
                "answered": aspect.answered,
                "order": plain(aspect.order),
                "pairs": [{**_plain(each), "share": plain(each.share)} for each in aspect.pairs],
            }
            for aspect in findings.aspects
        ],
    }


def measures_of(findings: Findings) -> tuple[Measure, ...]:
    """Return the measures of a comparison."""
    return (
        measure("pairs.answered", findings.answered, "Share of comparisons with a preference."),
        measure(
            "pairs.consistent",
            findings.order.consistent,
            "Share of pairs whose preference is the same in both orders.",
        ),
        measure(
            "pairs.first",
            findings.order.first,
            "Share of preferences for the text shown first; 0.5 without position bias.",
        ),
    )


def measure(name: str, share: Proportion, sentence: str) -> Measure:
    """Return a share as a measure; undefined without trials."""
    is_defined = share.trials > 0
    has_interval = is_defined and share.clusters > 1
    return Measure(
        name=name,
        value=share.value if is_defined else None,
        says=sentence,
        count=share.trials,
        low=share.low if has_interval else None,
        high=share.high if has_interval else None,
    )


def _blocks(aspect: AspectComparisons) -> Iterator[Block]:
    columns = (
        Column("A", wrap=False),
        Column("B", wrap=False),
        *numeric("A wins", "ties", "B wins", "no answer", "share of A"),
    )
    yield table(
        columns,
        (
            (
                each.system_a,
                each.system_b,
                each.wins,
                each.ties,
                each.losses,
                each.failed,
                Cell(each.share, _SHARE),
            )
            for each in aspect.pairs
        ),
    )
    if aspect.order.consistent.trials:
        yield order_table(iter([("all", aspect.order)]), heading="systems")


def _plain(count: PairCount) -> dict[str, object]:
    values = plain(count)
    assert isinstance(values, dict)
    return values
