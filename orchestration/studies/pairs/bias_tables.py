"""Biases of a pair judge as a report, as values for programs, and as measures."""

from collections.abc import Iterator

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Column,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    named,
    numeric,
    prose,
    table,
)
from spanjury.orchestration.report.json import plain
from spanjury.orchestration.studies.card import Measure
from spanjury.orchestration.studies.judging import Examinee
from spanjury.orchestration.studies.pairs.biases import Biases, BiasFindings, Lean, cautions
from spanjury.orchestration.studies.pairs.tables import measure, order_table, share_cell

_SHARE, _SIGNED = ".2f", "+.2f"
_HALF = 0.5
"""Share of preferences for either position without a bias."""
MEASURES = tuple(
    f"preference.{name}"
    for name in (
        *("answered", "agreement", "consistent", "first"),
        *("longer", "longer_net", "own", "own_net"),
    )
)
_READING = (
    "Agreement: pairs that people's scores separate in which the judge prefers the same text, ties "
    "half. The longer text is at least {} longer, in words; it is counted where people prefer the "
    "shorter text or neither, and beside that where they prefer the longer one, which a judge "
    "should, too. Own family: systems of the family of the judge's model against others. Net: the "
    "judge's share minus people's on the same pairs; 0 without bias. Intervals of 95 % are over "
    "sources."
)


def biases_report(biases: Biases, *, judge: Examinee, data: str) -> Report:
    """Return the report of an exam of preferences."""
    rows = [("all aspects", biases.whole), *((each.aspect, each) for each in biases.aspects)]
    sees_order = bool(biases.whole.order.consistent.trials)
    order = order_table(((name, each.order) for name, each in rows), heading="aspect")
    no_order = "This judge sees each text alone: no order can sway it."
    return Report(
        title="Preferences",
        answer=_answer(biases.whole),
        facts=[
            prose("texts: {}", code(data)),
            *(prose("{}: {}", name, code(each)) for name, each in judge.seats.items()),
            *([f"family: {biases.family}"] if biases.family else []),
        ],
        sections=[
            Section("Agreement with people", [_agreement(rows)]),
            Section("Position", [order if sees_order else Paragraph(no_order)]),
            Section("Length", [_lengths(rows)]),
            *_own(biases, rows),
            Paragraph(_READING.format(f"{biases.settings.longer:.0%}")),
            Bullets(cautions(biases), tone="caution"),
        ],
    )


def _answer(whole: BiasFindings) -> str:
    """Say how often the judge agrees with people, and which bias is shown."""
    if not whole.agreement.trials:
        answer = "People's scores separate no pair, so agreement with them is unknown"
    else:
        share = Cell(whole.agreement.value, ".0%", interval=whole.agreement[1:3]).text
        answer = f"The judge prefers the same text as people in {share} of the pairs"
    leans = {
        "longer texts": whole.longer.low > 0,
        "shorter texts": whole.longer.high < 0,
        "texts of its own family": whole.own.low > 0,
        "the text shown first": whole.order.first.low > _HALF,
        "the text shown second": whole.order.first.high < _HALF,
    }
    shown = [name for name, is_shown in leans.items() if is_shown]
    return f"{answer}; it favours {named(shown)}." if shown else f"{answer}; no bias is shown."


def biases_json(biases: Biases, *, judge: Examinee) -> dict[str, object]:
    """Return the findings for programs; what is undefined is null."""
    values = plain(biases)
    assert isinstance(values, dict)
    return {"judge": judge.signature, **values}


def measures_of(biases: Biases) -> tuple[Measure, ...]:
    """Return the measures of an exam of preferences, over all aspects."""
    whole = biases.whole
    return (
        measure("preference.answered", whole.answered, "Share of comparisons with a preference."),
        measure(
            "preference.agreement",
            whole.agreement,
            "Share of the pairs that people separate with the same preference, ties half.",
        ),
        measure(
            "preference.consistent",
            whole.order.consistent,
            "Share of pairs whose preference is the same in both orders.",
        ),
        measure(
            "preference.first",
            whole.order.first,
            "Share of preferences for the text shown first; 0.5 without position bias.",
        ),
        measure(
            "preference.longer",
            whole.longer.share,
            "Share of wins of the longer text where people do not prefer it, ties half.",
        ),
        _net("preference.longer_net", whole.longer, "That share minus people's; 0 without bias."),
        measure(
            "preference.own",
            whole.own.share,
            "Share of wins of systems of the judge's family over others, ties half.",
        ),
        _net("preference.own_net", whole.own, "That share minus people's; 0 without bias."),
    )


def _net(name: str, lean: Lean, sentence: str) -> Measure:
    is_defined = lean.share.trials > 0
    has_interval = is_defined and lean.share.clusters > 1
    return Measure(
        name=name,
        value=lean.net if is_defined else None,
        says=sentence,
        count=lean.share.trials,
        low=lean.low if has_interval else None,
        high=lean.high if has_interval else None,
    )


Rows = list[tuple[str, BiasFindings]]


def _agreement(rows: Rows) -> Table:
    columns = (
        Column("aspect"),
        *numeric("compared", "answered", "separated by people"),
        Column("agreement", "right", wrap=True),
    )
    return table(
        columns,
        (
            (
                name,
                each.compared,
                Cell(each.answered.value, ".0%"),
                each.agreement.trials,
                share_cell(each.agreement),
            )
            for name, each in rows
        ),
    )


def _lengths(rows: Rows) -> Table:
    columns = (
        Column("aspect"),
        *numeric("pairs"),
        *_lean_columns("longer wins"),
        Column("longer wins where it should", "right", wrap=True),
    )
    return table(
        columns,
        (
            (
                name,
                each.longer.share.trials,
                *_lean_cells(each.longer),
                share_cell(each.longer_better.share),
            )
            for name, each in rows
        ),
    )


def _own(biases: Biases, rows: Rows) -> Iterator[Section]:
    if biases.own_systems:
        shown = table(
            (Column("aspect"), *numeric("pairs"), *_lean_columns("own family wins")),
            ((name, each.own.share.trials, *_lean_cells(each.own)) for name, each in rows),
            note=f"Own family, {biases.family}: {', '.join(biases.own_systems)}.",
        )
        yield Section("Own family", [shown])


def _lean_columns(heading: str) -> tuple[Column, ...]:
    return (
        Column(heading, "right", wrap=True),
        *numeric("people"),
        Column("net", "right", wrap=True),
    )


def _lean_cells(lean: Lean) -> tuple[Cell, ...]:
    return (
        share_cell(lean.share),
        Cell(lean.people, _SHARE),
        Cell(lean.net, _SIGNED, interval=(lean.low, lean.high)),
    )
