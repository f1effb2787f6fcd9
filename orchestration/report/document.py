"""A report before it is shown: titles, sentences, tables and pictures, of no format.

A study makes a `Report` of its findings. `markdown`, `html` and `terminal` show it, and
`files.write_report` writes it. The answer comes first, and the facts last. The terminal shows less
than a page: the title and the facts are on pages only, and `only` binds a block or a column to
either medium.

    Report(
        title="Judge card",
        answer="The judge meets all 3 demands.",
        facts=[prose("judge: {}", code(signature))],
        sections=[
            Section(
                "Retest",
                [
                    table_of(
                        (
                            (
                                left("measure", each.name),
                                spread("value", each, ".3g"),
                                right("of", each.count),
                            )
                            for each in measures
                        ),
                        note="Intervals are of 95 %.",
                    ),
                    Bullets(cautions, tone="caution"),
                ],
            )
        ],
    )

All text is shown as it is: markup in it means nothing. Bold words, code and emphasis come from
`strong`, `code` and `emphasis`, or from `prose`, which reads Markdown in a constant. What is
empty (a section without blocks, a table without rows, bullets without items) is not shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Literal

from spanjury.orchestration.report.plot import Plot
from spanjury.orchestration.report.prose import Prose
from spanjury.orchestration.report.tables import Medium, Table, numbered

Tone = Literal["plain", "strong", "caution", "faint"]
"""The weight of a paragraph: usual, the conclusion, a warning, or an aside."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: Prose
    _: KW_ONLY
    tone: Tone = "plain"
    only: Medium | None = None


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: Sequence[Prose]
    _: KW_ONLY
    tone: Tone = "plain"
    only: Medium | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture in a file: pages in Markdown link it by its name, pages in HTML contain it.

    Parameters
    ----------
    file
        PNG or SVG, in the folder of the page or below it.
    alt
        What it shows.
    """

    file: Path
    alt: str
    only: Medium | None = field(default="page", init=False)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report, which may hold others; on a terminal its tables carry its title."""

    title: str
    blocks: "Sequence[Block]"
    _: KW_ONLY
    only: Medium | None = None


Block = Paragraph | Bullets | Table | Picture | Plot | Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A finding as it is read.

    Parameters
    ----------
    answer
        What was found, in a sentence or two: pages and terminals begin with it.
    picture
        What a page shows beside the answer.
    sections
        What follows; blocks may stand outside of any section.
    facts
        What was examined, on what and by which settings: signatures, data, seeds; at the end of a
        page.
    """

    title: str
    answer: Prose = ""
    picture: Picture | Plot | None = None
    facts: Sequence[Prose] = ()
    sections: Sequence[Block] = ()


def opening(report: Report) -> Iterator[Block]:
    """Yield the blocks that a report begins with."""
    if report.answer:
        yield Paragraph(report.answer, tone="strong")
    if report.picture is not None:
        yield report.picture


def closing(report: Report) -> Section:
    """Return the section that a page ends with: what was examined, on what, by which settings."""
    return Section("Judges, data and settings", [Bullets(report.facts)], only="page")


def shown_on(medium: Medium, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks that `medium` shows, as far as there is something in them."""
    for block in blocks:
        if block.only in (None, medium) and _is_filled(medium, block):
            yield block


def tables_of(report: Report) -> dict[str, Table]:
    """Return the tables that a page of `report` shows, in order.

    Each is under the title of its section, or the report's if it is in none; a second one there
    has a number behind it, as ``Null control (2)``.
    """
    tables = list(_titled("page", report.title, report.sections))
    names = numbered(title for title, _ in tables)
    return {name: table for name, (_, table) in zip(names, tables, strict=True)}


def _titled(medium: Medium, title: str, blocks: Iterable[Block]) -> Iterator[tuple[str, Table]]:
    for block in shown_on(medium, blocks):
        if isinstance(block, Table):
            yield title, block
        elif isinstance(block, Section):
            yield from _titled(medium, block.title, block.blocks)


def _is_filled(medium: Medium, block: Block) -> bool:
    match block:
        case Bullets():
            return bool(block.items)
        case Table():
            return bool(block.rows)
        case Section():
            return any(True for _ in shown_on(medium, block.blocks))
        case Plot():
            return bool(block.drawn)
        case _:
            return True
