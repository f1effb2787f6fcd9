"""The pages of `spanjury view`: rows of one or two runs, and the list of runs in a folder.

A page gets its data from blocks in the same file, or from its server. Its script is a single
function, joined here from files with one part each.
"""

from collections.abc import Mapping
from importlib.resources import files

from spanjury.orchestration.report.page import Page, page_html, safe

_TEMPLATES = files("spanjury.orchestration.report.view") / "templates"
_PARTS = (
    "elements",
    "words",
    "state",
    "address",
    "columns",
    "source",
    "search",
    "facets",
    "filters",
    "controls",
    "list",
    "offsets",
    "spans",
    "markdown",
    "text",
    "card",
    "inputs",
    "trajectory",
    "findings",
    "verdict",
    "seats",
    "consolidation",
    "asked",
    "beside",
    "comparison",
    "row",
    "keys",
    "help",
    "marks_kept",
    "marks_spans",
    "marks_editor",
    "marks_dialog",
    "marks_text",
    "marks",
    "start",
)
"""Parts of the script, in order: at its top level, a part only uses earlier parts."""
_STYLES = ("colours", "frame", "list", "text", "trajectory", "row", "marks", "narrow")
_RUNS_PARTS = ("elements", "words", "address", "runs")
_RUNS_STYLES = ("colours", "runs")


def view_page(title: str, *, blocks: Mapping[str, str] | None = None) -> str:
    """Return the page as HTML; the names of the runs are in the head of the data.

    `blocks` are id -> text, as in `Page.data`: ``head`` as JSON, every other block as a JSON string
    of base64 of gzip of JSON. Without them, the page requests its data from its server.
    """
    return page_html(
        Page(
            title=title,
            body=_text("view.html").replace("{title}", safe(title)),
            style="".join(_text(f"{name}.css") for name in _STYLES),
            script=_script(_PARTS),
            data=blocks or {},
            asks_its_server=not blocks,
        )
    )


def runs_page(title: str, *, runs: str = "") -> str:
    """Return the page of a list of runs as HTML.

    `runs` are the described runs as JSON; empty if the page requests them from its server.
    """
    return page_html(
        Page(
            title=title,
            body=_text("runs.html").replace("{title}", safe(title)),
            style="".join(_text(f"{name}.css") for name in _RUNS_STYLES),
            script=_script(_RUNS_PARTS),
            data={"described": runs} if runs else {},
            asks_its_server=not runs,
        )
    )


def _script(names: tuple[str, ...]) -> str:
    parts = "\n".join(_text(f"{name}.js") for name in names)
    return f'\n"use strict";\n(() => {{\n{parts}}})();\n'


def _text(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
