"""A report before rendering: titles, sentences, tables and pictures, independent of the format.

A study makes a `Report` from its findings. `markdown`, `html` and `terminal` render it, and
`files.write_report` writes it. The answer comes first, and the facts last. The terminal shows less
than a page: title and facts appear on pages only, and `only` restricts a block or a column to one
medium.

    Report(
        title="Judge card",
        answer="The judge meets all 3 requirements.",
        facts=[prose("judge: {}", code(signature))],
        sections=[
            Section(
                "Retest",
                [
                    table_of(
                        (left("measure", each.name), spread("value", each, ".3g"))
                        for each in measures
                    ),
                    Bullets(cautions, tone="caution"),
                ],
            )
        ],
    )

All text is literal: markup in it has no meaning. Bold words, code and emphasis come from `strong`,
`code` and `emphasis`, or from `prose`, which parses Markdown in a constant. Empty parts (a section
without blocks, a table without rows, bullets without items) are not shown.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Literal

from spanjury.orchestration.report.plot import Plot
from spanjury.orchestration.report.prose import Prose
from spanjury.orchestration.report.tables import Medium, Table, numbered

Tone = Literal["plain", "strong", "caution", "faint"]
"""The tone of a paragraph: usual, a conclusion, a warning, or an aside."""


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
    """A picture in a file: Markdown pages link to it, HTML pages embed it.

    `file` is a PNG or SVG in the folder of the page or below it, and `alt` describes the picture.
    """

    file: Path
    alt: str
    only: Medium | None = field(default="page", init=False)


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a report, which may contain others; on a terminal its tables have its title."""

    title: str
    blocks: "Sequence[Block]"
    _: KW_ONLY
    only: Medium | None = None


Block = Paragraph | Bullets | Table | Picture | Plot | Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Findings in a form to be rendered.

    `answer` is the result in a sentence or two, at the beginning of pages and terminal output, and
    pages show `picture` next to it. `facts` say at the end of a page what was examined, on which
    data and with which settings.
    """

    title: str
    answer: Prose = ""
    picture: Picture | Plot | None = None
    facts: Sequence[Prose] = ()
    sections: Sequence[Block] = ()


def opening(report: Report) -> Iterator[Block]:
    """Yield the blocks at the beginning of a report."""
    if report.answer:
        yield Paragraph(report.answer, tone="strong")
    if report.picture is not None:
        yield report.picture


def closing(report: Report) -> Section:
    """Return the last section of a page: what was examined, on which data and settings."""
    return Section("Judges, data and settings", [Bullets(report.facts)], only="page")


def shown_on(medium: Medium, blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks that `medium` shows, without empty ones."""
    for block in blocks:
        if block.only in (None, medium) and _is_filled(medium, block):
            yield block


def tables_of(report: Report) -> dict[str, Table]:
    """Return the tables that a page of `report` shows, in order.

    The key is the title of a table's section, or of the report outside of sections. Repeated titles
    are numbered, as in ``Null control (2)``.
    """
    tables = list(_titled(report.title, report.sections))
    names = numbered(title for title, _ in tables)
    return {name: table for name, (_, table) in zip(names, tables, strict=True)}


def _titled(title: str, blocks: Iterable[Block]) -> Iterator[tuple[str, Table]]:
    for block in shown_on("page", blocks):
        if isinstance(block, Table):
            yield title, block
        elif isinstance(block, Section):
            yield from _titled(block.title, block.blocks)


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
