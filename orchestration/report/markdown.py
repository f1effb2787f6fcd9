"""A report in Markdown, in which foreign text is escaped."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

from spanjury.judges.core import code_span, markdown
from spanjury.orchestration.report.document import (
    Block,
    Bullets,
    Paragraph,
    Picture,
    Report,
    Section,
    closing,
    opening,
    shown_on,
)
from spanjury.orchestration.report.plot import Plot
from spanjury.orchestration.report.prose import Prose, Styled, parts
from spanjury.orchestration.report.tables import Cell, Table

_DEEPEST = 6


def report_markdown(report: Report, *, folder: Path | None = None) -> str:
    """Return `report` as Markdown; links to pictures are relative to `folder`."""
    blocks = [f"# {markdown(report.title)}"]
    for block in shown_on("page", (*opening(report), *report.sections, closing(report))):
        blocks.extend(_blocks(block, level=2, folder=folder))
    return "\n\n".join(blocks) + "\n"


def _blocks(block: Block, *, level: int, folder: Path | None) -> Iterator[str]:
    match block:
        case Paragraph():
            yield _prose(block.text, bold=block.tone == "strong")
        case Bullets():
            yield "\n".join(f"- {_prose(item)}" for item in block.items)
        case Table():
            yield from _table(block)
        case Picture():
            seen = block.file.relative_to(folder).as_posix() if folder else block.file.name
            yield f"![{markdown(block.alt)}]({quote(seen)})"
        case Plot():
            yield markdown(block.alt)
        case Section():
            yield f"{'#' * min(level, _DEEPEST)} {markdown(block.title)}"
            for inner in shown_on("page", block.blocks):
                yield from _blocks(inner, level=level + 1, folder=folder)


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield _prose(table.title)
    columns = table.columns_on("page")
    yield "\n".join(
        (
            _line(markdown(column.heading) for column in columns),
            "|" + "---|" * len(columns),
            *(_line(map(_cell, table.cells_on("page", row))) for row in table.rows),
        )
    )
    if table.note:
        yield _prose(table.note)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cell(cell: Cell) -> str:
    value = markdown(cell.figure)
    remainder = markdown(cell.remainder)
    shown = f"**{value}**" if cell.bold and value else value
    return f"{shown} {remainder}" if remainder else shown


def _prose(text: Prose, *, bold: bool = False) -> str:
    written = "".join(map(_styled, parts(text)))
    return f"**{written}**" if bold else written


def _styled(piece: Styled) -> str:
    match piece.style:
        case "code":
            return code_span(piece.text)
        case "strong":
            return f"**{markdown(piece.text)}**"
        case "emphasis":
            return f"*{markdown(piece.text)}*"
        case _:
            return _spaced(piece.text)


def _spaced(text: str) -> str:
    """Escape `text`, keeping a space at either end that separates it from its neighbours."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{markdown(text)}{after}"
