"""A report as a single HTML file for screens of any size, dark mode and print, without scripts.

Foreign text is escaped, pictures are embedded, and the browser runs nothing. A long report has a
table of contents, and the head of a long table stays visible.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import groupby

from spanjury.judges.core import StoreError
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
from spanjury.orchestration.report.page import Page, breakable, page_html, safe
from spanjury.orchestration.report.plot import Plot, plot_svg
from spanjury.orchestration.report.prose import Prose, parts
from spanjury.orchestration.report.tables import Cell, Column, Table, numbered

_STYLE = files("spanjury.orchestration.report") / "report.css"
_DEEPEST = 6
_MANY_SECTIONS = 4
"""Number of sections from which a report has a table of contents."""
_MANY_ROWS = 25
"""A table with more rows scrolls below its head."""
_NO_ANCHORS: Iterator[str] = iter(())
_TAGS = {"plain": "bdi", "strong": "strong", "emphasis": "em", "code": "code"}
_KINDS: Mapping[str, str] = {".png": "image/png", ".svg": "image/svg+xml"}


def report_html(report: Report, *, origin: str = "") -> str:
    """Return `report` as a self-contained page; `origin`, at its end, says when it was made.

    Raise `StoreError` if a picture cannot be read.
    """
    footer = [f"<footer>{safe(origin)}</footer>"] if origin else []
    body = "\n".join((*_content(report, has_contents=True), *footer))
    return page_html(Page(title=report.title, body=body, style=_STYLE.read_text(encoding="utf-8")))


def report_fragment(report: Report) -> str:
    """Return `report` as a part of a page with its own style, such as a notebook.

    Raise `StoreError` if a picture cannot be read.
    """
    return "\n".join(("<article>", *_content(report, has_contents=False), "</article>"))


def _content(report: Report, *, has_contents: bool) -> Iterator[str]:
    yield "<header>"
    yield f"<h1><bdi>{breakable(report.title)}</bdi></h1>"
    for block in shown_on("page", opening(report)):
        yield from _lines(block)
    yield "</header>"
    blocks = [*report.sections, closing(report)]
    sections = [section for section in shown_on("page", blocks) if isinstance(section, Section)]
    titles = (_anchor(section.title) for section in sections) if has_contents else ()
    anchors = [_anchor(name) for name in numbered(titles)]
    if len(anchors) >= _MANY_SECTIONS:
        yield _contents(sections, anchors)
    yield "<main>"
    yield from _flow(blocks, level=2, anchors=iter(anchors))
    yield "</main>"


def _contents(sections: Sequence[Section], anchors: Sequence[str]) -> str:
    items = "".join(
        f'<li><a href="#{anchor}"><bdi>{safe(section.title)}</bdi></a></li>\n'
        for section, anchor in zip(sections, anchors, strict=True)
    )
    return f'<nav aria-label="Contents">\n<ul>\n{items}</ul>\n</nav>'


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-") or "section"


def _flow(
    blocks: Iterable[Block], *, level: int, anchors: Iterator[str] = _NO_ANCHORS
) -> Iterator[str]:
    """Yield blocks one below the other, and pictures side by side."""
    shown = shown_on("page", blocks)
    for are_pictures, group in groupby(shown, key=lambda block: isinstance(block, Picture)):
        if are_pictures:
            yield '<div class="pictures">'
        for block in group:
            yield from _lines(block, level=level, anchors=anchors)
        if are_pictures:
            yield "</div>"


def _lines(block: Block, *, level: int = 2, anchors: Iterator[str] = _NO_ANCHORS) -> Iterator[str]:
    match block:
        case Paragraph():
            yield f'<p class="{block.tone}">{_prose(block.text)}</p>'
        case Bullets():
            items = "".join(f"<li>{_prose(item)}</li>\n" for item in block.items)
            yield f'<ul class="{block.tone}">\n{items}</ul>'
        case Table():
            yield from _table(block)
        case Picture():
            shown = safe(block.alt)
            yield f'<figure>\n<img src="{_contained(block)}" alt="{shown}">'
            yield f'<figcaption aria-hidden="true">{shown}</figcaption>\n</figure>'
        case Plot():
            yield f"<figure>\n{plot_svg(block)}"
            yield f'<figcaption aria-hidden="true">{safe(block.alt)}</figcaption>\n</figure>'
        case Section():
            anchor = next(anchors, "")
            yield f'<section id="{anchor}">' if anchor else "<section>"
            yield f"<h{level}><bdi>{safe(block.title)}</bdi></h{level}>"
            yield from _flow(block.blocks, level=min(level + 1, _DEEPEST))
            yield "</section>"


def table_html(table: Table) -> str:
    """Return a table as a part of a page with its own style."""
    return "\n".join(_table(table))


def _table(table: Table) -> Iterator[str]:
    columns = table.columns_on("page")
    if table.title:
        yield f"<p>{_prose(table.title)}</p>"
    # With a focus, the keyboard can scroll a table that is larger than its frame.
    long = " long" if len(table.rows) > _MANY_ROWS else ""
    yield f'<div class="scroll{long}" tabindex="0">\n<table>'
    heads = (f'<th scope="col"{_side(column)}>{safe(column.heading)}</th>' for column in columns)
    yield f"<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>"
    for row in table.rows:
        cells = "".join(map(_cell, columns, table.cells_on("page", row)))
        kinds = " ".join(name for name in ("faint", "ruled") if getattr(row, name))
        yield f'<tr class="{kinds}">{cells}</tr>' if kinds else f"<tr>{cells}</tr>"
    yield "</tbody>\n</table>\n</div>"
    if table.note:
        yield f'<p class="note">{_prose(table.note)}</p>'


def _cell(column: Column, cell: Cell) -> str:
    value = f"<bdi>{breakable(cell.figure)}</bdi>"
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
        f"<{_TAGS[piece.style]}>{breakable(piece.text)}</{_TAGS[piece.style]}>"
        for piece in parts(text)
    )
