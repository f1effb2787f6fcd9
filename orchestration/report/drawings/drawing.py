"""A drawing: a title, a summary, data for a script, and a table for browsers without scripts.

Texts are shown with the intervals of their words; hidden and unencodable characters are escaped.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import pairwise

from spanjury.judges.core import shown
from spanjury.orchestration.report import Table
from spanjury.orchestration.report.html import table_html
from spanjury.orchestration.report.page import Page, breakable, page_html, safe, template

_TEMPLATES = files("spanjury.orchestration.report.drawings") / "templates"
_MOST_ROWS = 3000
"""Most rows of a table that is shown without scripts."""
JsonText = dict[str, list[str]]
"""``words``, and ``gaps``: the text before each word and after the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedText:
    """A text and its words, as half-open offsets in code points.

    Raises `ValueError` unless they ascend, do not overlap and are not empty.
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
    """Return an HTML page.

    The lines of `summary` describe the drawing, with its numbers. `drawing` names the template:
    ``templates/NAME.html`` is its body, ``templates/NAME.js`` its script. `data` is for the script:
    lists, texts, finite numbers, None. `table` shows the same data without scripts; beyond 3,000
    rows only the first are shown, and its title says so.
    """
    lines = "".join(f"<p><bdi>{safe(line)}</bdi></p>\n" for line in summary)
    body = (
        f"<header>\n<h1><bdi>{breakable(title)}</bdi></h1>\n{lines}</header>\n"
        f'<main id="drawing" hidden>\n{_template(f"{drawing}.html")}</main>\n'
        f"<noscript>\n{_table(table)}</noscript>"
    )
    script = _template("common.js") + _template(f"{drawing}.js")
    values = json.dumps(data, separators=(",", ":"), allow_nan=False)
    style = _template("drawing.css")
    return page_html(
        Page(title=title, body=body, style=style, script=script, data={"data": values})
    )


def number(value: float) -> float | None:
    """Return `value` rounded to four decimals, or None if it is not finite."""
    return round(float(value), 4) if math.isfinite(value) else None


def measured(value: float) -> str:
    """Return `value` as text for readers."""
    return f"{value:.3f}" if math.isfinite(value) else "no value"


def marked_json(marked: MarkedText) -> JsonText:
    """Return a text in the format of the page's script."""
    edges = [0, *(edge for word in marked.words for edge in word), len(marked.text)]
    pieces = [shown(marked.text[a:b]) for a, b in pairwise(edges)]
    return {"words": pieces[1::2], "gaps": pieces[0::2]}


def tokens_json(tokens: Sequence[str]) -> JsonText:
    """Return tokens in the format of the page's script, separated by spaces."""
    gaps = ["", *[" "] * len(tokens)]
    return {"words": [shown(token) for token in tokens], "gaps": gaps}


def _table(table: Table) -> str:
    is_cut = len(table.rows) > _MOST_ROWS
    note = f" (the first {_MOST_ROWS:,} of {len(table.rows):,} rows)" if is_cut else ""
    return table_html(replace(table, rows=table.rows[:_MOST_ROWS], title=f"{table.title}{note}"))


def _template(name: str) -> str:
    return template(_TEMPLATES / name)
