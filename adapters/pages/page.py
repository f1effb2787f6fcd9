"""The frame of a page: a title, a summary, data that a script draws, tables without a script.

Texts are shown with words where they stand, and nothing that hides or cannot be encoded.

Text from outside is either escaped or in a block of JSON that no browser runs, and the
page's own policy lets the browser run the script of ours whose digest it names, and load
nothing at all.
"""

import json
import math
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from spanjury.judges.core import ConfigError, StoreError, shown

_TEMPLATES = files("spanjury.adapters.pages") / "templates"
_MOST_ROWS = 3000
"""Of a table that is shown where no script runs."""
JsonText = dict[str, list[str]]
"""``words``, and ``gaps``: what stands before each of them and after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The contents of a page without its script.

    `head` names ``m`` columns, each row has ``m`` texts. Of more than 3,000 rows the first are
    shown, and that is said.
    """

    caption: str
    head: tuple[str, ...]
    rows: Sequence[Sequence[str]] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text and its words, as half-open offsets in code points.

    They ascend, and neither overlap nor are empty; else `ValueError` is raised.
    """

    text: str
    words: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        last = 0
        for start, end in self.words:
            if not last <= start < end <= len(self.text):
                raise ValueError(
                    f"a word at {start}:{end} does not follow {last} in {len(self.text)} characters"
                )
            last = end


def make_page(
    title: str, *, summary: Sequence[str], drawing: str, data: Mapping[str, object], table: Table
) -> str:
    """Return a page of HTML.

    The lines of `summary` describe the drawing, with its numbers. `drawing` names the template
    that is drawn by: ``templates/NAME.html`` is its body, ``templates/NAME.js`` its script. `data`
    is for the script: lists, texts, finite numbers, None. `table` is the same for those whose
    browser runs no script.
    """
    style = _template("page.css")
    script = _template("common.js") + _template(f"{drawing}.js")
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}';"
        " base-uri 'none'; form-action 'none'"
    )
    lines = "".join(f"<p><bdi>{_safe(line)}</bdi></p>\n" for line in summary)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<header>\n<h1><bdi>{_safe(title)}</bdi></h1>\n{lines}</header>\n"
        f'<main id="drawing" hidden>\n{_template(f"{drawing}.html")}</main>\n'
        f"<noscript>\n{_table(table)}</noscript>\n"
        f'<script type="application/json" id="data">{_json(data)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def write_page(path: Path, page: str) -> None:
    """Write a page.

    Raises `ConfigError` if `path` does not end in ``.html``. Raises `StoreError` if it cannot be
    written.
    """
    if path.suffix != ".html":
        raise ConfigError(f"a page ends in .html, got {path.name!r}")
    try:
        path.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}") from error


def number(value: float) -> float | None:
    """Return `value` to four digits behind the point, and None for what is no number."""
    return round(float(value), 4) if math.isfinite(value) else None


def measured(value: float) -> str:
    """Return `value` as a reader sees it."""
    return f"{value:.3f}" if math.isfinite(value) else "no value"


def marked_json(marked: MarkedText) -> JsonText:
    """Return a text as the script of a page reads it."""
    edges = [0, *(edge for word in marked.words for edge in word), len(marked.text)]
    pieces = [shown(marked.text[a:b]) for a, b in pairwise(edges)]
    return {"words": pieces[1::2], "gaps": pieces[0::2]}


def tokens_json(tokens: Sequence[str]) -> JsonText:
    """Return tokens as the script of a page reads them, with a space between each two."""
    gaps = ["", *[" "] * len(tokens)]
    return {"words": [shown(token) for token in tokens], "gaps": gaps}


def _json(data: Mapping[str, object]) -> str:
    """Write JSON that holds no character which HTML gives a meaning to."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _safe(text: str) -> str:
    return escape(shown(text))


def _table(table: Table) -> str:
    is_cut = len(table.rows) > _MOST_ROWS
    note = f" (the first {_MOST_ROWS:,} of {len(table.rows):,} rows)" if is_cut else ""
    head = "".join(f'<th scope="col">{_safe(name)}</th>' for name in table.head)
    rows = "\n".join(
        "<tr>" + "".join(f"<td><bdi>{_safe(cell)}</bdi></td>" for cell in row) + "</tr>"
        for row in table.rows[:_MOST_ROWS]
    )
    return (
        f"<table>\n<caption>{_safe(table.caption + note)}</caption>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n"
    )


def _digest(code: str) -> str:
    return f"sha256-{b64encode(sha256(code.encode()).digest()).decode()}"


def _template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
