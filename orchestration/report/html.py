"""A report as one file of HTML: readable on a phone, in the dark and on paper, without a script.

What comes from outside is escaped, pictures are contained, and the browser runs nothing.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from importlib.resources import files
from types import MappingProxyType

from spanjury.judges.core import StoreError
from spanjury.orchestration.report.document import (
    Block,
    Bullets,
    Paragraph,
    Picture,
    Report,
    Section,
    shown_on,
)
from spanjury.orchestration.report.page import Page, page_html, safe, template
from spanjury.orchestration.report.prose import Prose, parts
from spanjury.orchestration.report.tables import Cell, Column, Table

_STYLE = files("spanjury.orchestration.report") / "report.css"
_DEEPEST = 6
_TAGS = MappingProxyType({"plain": "bdi", "strong": "strong", "emphasis": "em", "code": "code"})
_KINDS: Mapping[str, str] = MappingProxyType({".png": "image/png", ".svg": "image/svg+xml"})


def report_html(report: Report) -> str:
    """Return `report` as a page that needs no other file.

    Raise `StoreError` if a picture cannot be read.
    """
    body = "\n".join(_content(report))
    return page_html(Page(title=report.title, body=body, style=template(_STYLE)))


def report_fragment(report: Report) -> str:
    """Return `report` as a part of a page that has its own style, as a notebook's.

    Raise `StoreError` if a picture cannot be read.
    """
    return "\n".join(("<article>", *_content(report), "</article>"))


def _content(report: Report) -> Iterator[str]:
    yield "<header>"
    yield f"<h1><bdi>{safe(report.title)}</bdi></h1>"
    for one in shown_on("page", [Bullets(report.facts)]):
        yield from _lines(one)
    yield from ("</header>", "<main>")
    for one in shown_on("page", report.sections):
        yield from _lines(one)
    yield "</main>"


def _lines(block: Block, *, level: int = 2) -> Iterator[str]:
    match block:
        case Paragraph():
            yield f'<p class="{block.tone}">{_prose(block.text)}</p>'
        case Bullets():
            items = "".join(f"<li>{_prose(item)}</li>\n" for item in block.items)
            yield f'<ul class="{block.tone}">\n{items}</ul>'
        case Table():
            yield from _table(block)
        case Picture():
            yield f'<p><img src="{_contained(block)}" alt="{safe(block.alt)}"></p>'
        case Section():
            yield f"<section>\n<h{level}><bdi>{safe(block.title)}</bdi></h{level}>"
            for inner in shown_on("page", block.blocks):
                yield from _lines(inner, level=min(level + 1, _DEEPEST))
            yield "</section>"


def _table(table: Table) -> Iterator[str]:
    columns = table.columns_on("page")
    if table.title:
        yield f"<p>{_prose(table.title)}</p>"
    # A focus lets the keyboard scroll a table that is wider than the page.
    yield '<div class="scroll" tabindex="0">\n<table>'
    heads = (f'<th scope="col"{_side(one)}>{safe(one.heading)}</th>' for one in columns)
    yield f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>"
    for row in table.rows:
        cells = map(_cell, columns, table.cells_on("page", row))
        kinds = " ".join(name for name in ("faint", "ruled") if getattr(row, name))
        yield (
            f'<tr class="{kinds}">{"".join(cells)}</tr>' if kinds else f"<tr>{''.join(cells)}</tr>"
        )
    yield "</tbody>\n</table>\n</div>"
    if table.note:
        yield f'<p class="note">{_prose(table.note)}</p>'


def _cell(column: Column, cell: Cell) -> str:
    value = f"<bdi>{safe(cell.figure)}</bdi>"
    if cell.bold:
        value = f"<strong>{value}</strong>"
    if cell.mark:
        value = f'<span class="{cell.mark}">{value}</span>'
    if cell.remainder:
        value += f" <small><bdi>{safe(cell.remainder)}</bdi></small>"
    return f"<td{_side(column)}>{value}</td>"


def _side(column: Column) -> str:
    return ' class="number"' if column.align == "right" else ""


def _contained(picture: Picture) -> str:
    try:
        data = picture.file.read_bytes()
    except OSError as error:
        raise StoreError(f"{picture.file}: cannot be read: {error.strerror}") from error
    kind = _KINDS[picture.file.suffix]
    return f"data:{kind};base64,{b64encode(data).decode()}"


def _prose(text: Prose) -> str:
    return "".join(
        f"<{_TAGS[piece.style]}>{safe(piece.text)}</{_TAGS[piece.style]}>" for piece in parts(text)
    )
