"""The pages of `spanjury view`: rows of one or two runs, and the list of runs in a folder.

A page gets its data from blocks in the same file, or from its server. Its script is a single
function, joined here from files with one part each.
"""

from collections.abc import Mapping
from importlib.resources import files

from spanjury.orchestration.report.page import Page, page_html, safe, template

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
)
"""Parts of the script, in order: at its top level, a part only uses earlier parts."""
_STYLES = ("colours", "frame", "list", "text", "trajectory", "row", "marks", "narrow")
_EXTRA_PARTS = ("marks_kept", "marks_spans", "marks_editor", "marks_dialog", "marks_text", "marks")
"""Parts that register with `addPart`; included if their files exist."""
_RUNS_PARTS = ("elements", "words", "address", "runs")
_RUNS_STYLES = ("colours", "runs")


def view_page(title: str, *, blocks: Mapping[str, str], is_served: bool) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    title
        Any text; the names of the runs are in the head of the data.
    blocks
        Id -> text, as in `Page.data`: ``head`` as JSON, every other block as a JSON string of
        base64 of gzip of JSON. Empty if the page is served.
    is_served
        Whether the page requests its data from its server; only then may it send requests.

    Raises
    ------
    ValueError
        If a page that is not served has no ``head``, or a served page has blocks.
    """
    if is_served == ("head" in blocks):
        raise ValueError(f"a page is served or holds a head, got blocks {sorted(blocks)}")
    return page_html(
        Page(
            title=title,
            body=template(_TEMPLATES / "view.html").replace("{title}", safe(title)),
            style="".join(_texts(_STYLES, ending="css")),
            script=_script((*_PARTS, *_EXTRA_PARTS, "start")),
            data=blocks,
            asks_its_server=is_served,
        )
    )


def runs_page(title: str, *, runs: str = "") -> str:
    """Return the page of a list of runs as HTML.

    Parameters
    ----------
    title
        Any text.
    runs
        The described runs as JSON; empty if the page requests them from its server.
    """
    return page_html(
        Page(
            title=title,
            body=template(_TEMPLATES / "runs.html").replace("{title}", safe(title)),
            style="".join(_texts(_RUNS_STYLES, ending="css")),
            script=_script(_RUNS_PARTS),
            data={"described": runs} if runs else {},
            asks_its_server=not runs,
        )
    )


def _script(names: tuple[str, ...]) -> str:
    parts = "\n".join(_texts(names, ending="js"))
    return f'\n"use strict";\n(() => {{\n{parts}}})();\n'


def _texts(names: tuple[str, ...], *, ending: str) -> list[str]:
    files_of_parts = ((name, _TEMPLATES / f"{name}.{ending}") for name in names)
    return [
        template(file)
        for name, file in files_of_parts
        if name not in _EXTRA_PARTS or file.is_file()
    ]
