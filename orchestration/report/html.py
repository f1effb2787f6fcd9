"""A report as one file of HTML: readable on a phone, in the dark and on paper, without a script.

What comes from outside is escaped, pictures are contained, and the page's own policy lets a
browser load nothing and run nothing.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from types import MappingProxyType

from spanjury.judges.core import StoreError, shown
from spanjury.orchestration.report.document import (
    Block,
    Bullets,
    Paragraph,
    Picture,
    Report,
    Section,
    shown_on,
)
from spanjury.orchestration.report.prose import Prose, parts
from spanjury.orchestration.report.tables import Cell, Column, Table

_STYLE = files("spanjury.orchestration.report") / "page.css"
_DEEPEST = 6
_TAGS = MappingProxyType({"plain": "bdi", "strong": "strong", "emphasis": "em", "code": "code"})
_KINDS: Mapping[str, str] = MappingProxyType({".png": "image/png", ".svg": "image/svg+xml"})


def report_html(report: Report) -> str:
    """Return `report` as a page that needs no other file.

    Raise `StoreError` if a picture cannot be read.
    """
    style = _STYLE.read_text(encoding="utf-8")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    title = _safe(report.title)
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>",
            *_content(report),
            "</body>\n</html>\n",
        )
    )


def report_fragment(report: Report) -> str:
    """Return `report` as a part of a page that has its own style, as a notebook's.

    Raise `StoreError` if a picture cannot be read.
    """
    return "\n".join(("<article>", *_content(report), "</article>"))


def _content(report: Report) -> Iterator[str]:
    yield "<header>"
    yield f"<h1><bdi>{_safe(report.title)}</bdi></h1>"
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
            yield f'<p><img src="{_contained(block)}" alt="{_safe(block.alt)}"></p>'
        case Section():
            yield f"<section>\n<h{level}><bdi>{_safe(block.title)}</bdi></h{level}>"
            for inner in shown_on("page", block.blocks):
                yield from _lines(inner, level=min(level + 1, _DEEPEST))
            yield "</section>"


def _table(table: Table) -> Iterator[str]:
    columns = table.columns_on("page")
    if table.title:
        yield f"<p>{_prose(table.title)}</p>"
    # A focus lets the keyboard scroll a table that is wider than the page.
    yield '<div class="scroll" tabindex="0">\n<table>'
    heads = (f'<th scope="col"{_side(one)}>{_safe(one.heading)}</th>' for one in columns)
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
    value = f"<bdi>{_safe(cell.figure)}</bdi>"
    if cell.bold:
        value = f"<strong>{value}</strong>"
    if cell.mark:
        value = f'<span class="{cell.mark}">{value}</span>'
    if cell.remainder:
        value += f" <small><bdi>{_safe(cell.remainder)}</bdi></small>"
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
        f"<{_TAGS[piece.style]}>{_safe(piece.text)}</{_TAGS[piece.style]}>" for piece in parts(text)
    )


def _safe(text: str) -> str:
    return escape(shown(text))
