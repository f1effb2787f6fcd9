"""The study of a panel's seats as a report."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from spanjury.orchestration.report import (
    Block,
    Bullets,
    Cell,
    Column,
    Paragraph,
    Report,
    Section,
    Table,
    code,
    figure,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.studies.panel_study.cells import (
    GAIN,
    VALUE,
    estimate_cell,
    short_names,
)
from spanjury.orchestration.studies.panel_study.findings import (
    AspectStudy,
    Lean,
    RedundancyFindings,
    RedundantPair,
    StudyFindings,
)
from spanjury.orchestration.studies.panel_study.frontier_tables import frontier_blocks
from spanjury.orchestration.studies.panel_study.subsets import Subset, SubsetFindings
from spanjury.orchestration.studies.panel_study.weights import Weighing

_LEVELS = {
    "by-input": "within each input over its outputs",
    "pooled": "over all texts",
    "system": "of systems' means",
}
Names = Mapping[str, str]
"""Seat -> what it is called here."""
_SHAPLEY = (
    " Shapley: what the seat adds, averaged over all orders in which seats can join; the shares "
    "sum to the panel's agreement."
)
_PLAIN = "plain mean"
_WIDE = 12
"""Characters of a seat's name from which on there is no room in a terminal for its family."""
_FEW_LEFT = 4
"""Seats that are named as missing rather than all others as present, if fewer."""
_MOST_PAIRS = 15
"""Of seats in the terminal."""
_MOST_SUBSETS = 12
"""Of the best ones in the table of subsets."""


def study_report(findings: StudyFindings) -> Report:
    """Make the report of a study."""
    settings = findings.settings
    measured = (
        f"{settings.method}; {settings.folds} folds by source; intervals of 95 % from"
        f" {settings.draws} draws, seed {settings.seed}"
    )
    return Report(
        title="Which seats",
        facts=[
            prose("results: {}", code(" ".join(findings.results))),
            prose("people: {}", code(findings.human)),
            measured,
        ],
        sections=[block for aspect in findings.aspects for block in _aspect(aspect, findings)],
    )


def _aspect(study: AspectStudy, findings: StudyFindings) -> Iterator[Block]:
    several = len(findings.aspects) > 1
    suffix = f", {study.aspect}" if several else ""
    within = f", mean of {', '.join(study.groups)}" if study.groups else ""
    yield Paragraph(
        f"{study.aspect}: {study.texts} texts of {study.sources} sources that people scored;"
        f" {findings.settings.method} with them {_LEVELS[study.level]}{within}."
    )
    yield Bullets(study.notes, tone="caution")
    names = short_names(study.seats)
    yield Section(f"Seats{suffix}", [_seats(study, names)])
    yield Section(f"Subsets{suffix}", [_sizes(study.subsets, names), _best(study.subsets, names)])
    if study.redundancy:
        yield Section(f"Redundancy{suffix}", list(_redundancy(study.redundancy, names)))
    yield Section(f"Own family{suffix}", [_leans(study.leans, names)])
    yield Section(f"Weights of seats{suffix}", [_weighings(study.weighings, names)])
    yield Section(f"Cost and agreement{suffix}", list(frontier_blocks(study, findings, names)))


def _seats(study: AspectStudy, names: Names) -> Table:
    has_short = any(seat != name for seat, name in names.items())
    is_wide = max(map(len, names.values())) > _WIDE
    has_shapley = study.subsets.is_complete
    return table(
        [
            Column("seat", wrap=is_wide),
            *([Column("in full", only="page")] if has_short else []),
            Column("family", wrap=False, only="page" if is_wide else None),
            *numeric("scored", only="page"),
            *numeric("alone", "gain", *(["Shapley"] if has_shapley else [])),
        ],
        (
            (
                *(names[share.seat], *([share.seat] if has_short else [])),
                *(study.families.get(share.seat, "-"), Cell(share.coverage, ".0%")),
                estimate_cell(share.alone),
                estimate_cell(share.gain, GAIN),
                *([Cell(share.shapley, VALUE)] if has_shapley else []),
            )
            for share in study.subsets.shares
        ),
        note=f"Gain: the panel's agreement ({figure(study.subsets.whole.value, VALUE)}) minus "
        "that of all other seats." + (_SHAPLEY if has_shapley else ""),
    )


def _sizes(findings: SubsetFindings, names: Names) -> Table:
    looked_at = (
        "all subsets" if findings.is_complete else "subsets met when the best seat joins next"
    )
    return table(
        [
            *numeric("seats"),
            *numeric("panels", only="page"),
            *numeric("mean"),
            *numeric("least", only="page"),
            *numeric("best", "corrected"),
            "best panel",
        ],
        (
            (
                *(size.size, size.panels, Cell(size.mean, VALUE), Cell(size.least, VALUE)),
                estimate_cell(size.estimate),
                Cell(size.corrected, VALUE),
                _members(size.best, names),
            )
            for size in findings.sizes
        ),
        note=f"Agreement with people of {looked_at}, whose score is the mean of their seats'. "
        "Corrected: the best agreement minus what it gains by being chosen on the texts it "
        "is measured on.",
    )


def _members(panel: Subset, names: Names) -> str:
    left = [name for seat, name in names.items() if seat not in panel.seats]
    if len(left) < min(len(panel.seats), _FEW_LEFT):
        return f"all but {', '.join(left)}" if left else "all"
    return ", ".join(names[seat] for seat in panel.seats)


def _best(findings: SubsetFindings, names: Names) -> Table:
    defined = [subset for subset in findings.subsets if not math.isnan(subset.agreement)]
    ranked = sorted(defined, key=lambda subset: -subset.agreement)[:_MOST_SUBSETS]
    return table(
        ["panel", *numeric("seats", "agreement", "against all seats")],
        (
            (
                ", ".join(names[seat] for seat in subset.seats),
                len(subset.members),
                Cell(subset.agreement, VALUE),
                Cell(subset.agreement - findings.whole.value, GAIN),
            )
            for subset in ranked
        ),
        title=f"The {len(ranked)} subsets that agree most, of {len(findings.subsets)}",
        only="page",
    )


def _redundancy(findings: RedundancyFindings, names: Names) -> Iterator[Block]:
    pairs = findings.pairs
    if len(pairs) > _MOST_PAIRS:
        title = f"The {_MOST_PAIRS} most redundant pairs of {len(pairs)}"
        yield replace(_pairs(pairs[:_MOST_PAIRS], names), title=title, only="terminal")
        yield replace(_pairs(pairs, names), only="page")
    else:
        yield _pairs(pairs, names)
    number = Cell(
        findings.effective.value, ".2f", interval=(findings.effective.low, findings.effective.high)
    )
    yield Paragraph(f"The seats count as at least {number.text} independent ones.")
    if not math.isnan(findings.within):
        others = f", seats of different families by {figure(findings.between, VALUE)}"
        yield Paragraph(
            f"Seats of one family agree by {figure(findings.within, VALUE)} beyond people"
            f"{'' if math.isnan(findings.between) else others}."
        )


def _pairs(pairs: Iterable[RedundantPair], names: Names) -> Table:
    return table(
        [
            *("seat", "seat", "one family"),
            *numeric("texts", only="page"),
            *numeric("agreement beyond people"),
        ],
        (
            (
                *(names[pair.first], names[pair.second], pair.family or "", pair.texts),
                estimate_cell(pair.partial),
            )
            for pair in pairs
        ),
        note="Rank correlation of the two seats with people's scores held fixed. People's scores "
        "are noisy, and what they miss but both seats see counts as redundancy, so this is "
        "an upper bound.",
    )


def _leans(leans: Iterable[Lean], names: Names) -> Table:
    return table(
        ["seat", "family", "systems", *numeric("texts", "beyond people", "beyond other seats")],
        (
            (
                *(names[lean.seat], lean.family, ", ".join(lean.systems), lean.texts),
                estimate_cell(lean.beyond_people, "+.2f"),
                estimate_cell(lean.beyond_seats, "+.2f"),
            )
            for lean in leans
        ),
        note="How much higher a judge scores the texts of its own family's systems than people's "
        "scores predict, or than seats of other families do, minus the same difference on "
        "other texts; in grades of its scale. If those systems are better in ways that "
        "people missed, this counts as leaning, too.",
    )


def _weighed(weighing: Weighing, names: Names) -> tuple[Cell, str]:
    weights = (f"{names[seat]} {figure(of, '~.2f')}" for seat, of in weighing.weights.items())
    return estimate_cell(weighing.gain, GAIN), ", ".join(weights)


def _weighings(weighings: Iterable[Weighing], names: Names) -> Table:
    return table(
        [
            "score",
            Column("made with", only="page"),
            *numeric("agreement", "against the plain mean"),
            Column("weights", only="page"),
        ],
        (
            row(
                weighing.name,
                "people's scores, by folds" if weighing.uses_people else "seats alone",
                estimate_cell(weighing.agreement),
                *(("", "all alike") if weighing.name == _PLAIN else _weighed(weighing, names)),
            )
            for weighing in weighings
        ),
        note="A score is better than the plain mean if its whole interval is above 0. "
        "Dawid-Skene and the ordinal model assume that seats err independently, and "
        "overrate seats that make the same errors.",
    )
