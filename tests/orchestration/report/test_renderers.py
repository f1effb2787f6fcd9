"""One report, shown by each renderer: the same figures, each medium its own part."""

import math
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from spanjury.judges.core import StoreError
from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Column,
    Paragraph,
    Picture,
    Report,
    Section,
    code,
    numeric,
    prose,
    row,
    strong,
    table,
)
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.terminal import report_view

HOSTILE = '<b>|[x](http://y)"&\x1b[31m'
REPORT = Report(
    title="Discernment exam",
    answer="The judge catches most.",
    facts=[prose("judge: {}", code("panel|a`b")), "texts: 12"],
    sections=[
        Section(
            "Averages",
            [
                Paragraph(("D is ", strong("high"), ".")),
                table(
                    [
                        Column("damage", wrap=True),
                        *numeric("D", "effect"),
                        Column("by", only="page"),
                    ],
                    [
                        ["typos", 1.234, Cell(0.4, "+.2f", interval=(0.1, 0.7), bold=True), "rule"],
                        row(
                            "case",
                            math.nan,
                            Cell(None, "+.2f", interval=(0, 1)),
                            "rule",
                            faint=True,
                        ),
                        [HOSTILE, Cell(3, mark="bad"), Cell(0.5, ".3f", note="(20)"), ""],
                    ],
                    note="D of 1 is p = 0.05.",
                ),
            ],
        ),
        Section("Short", [Paragraph("average 1.23", tone="strong")], only="terminal"),
        Section("Read with care", [Bullets(["12 texts are few."], tone="caution")]),
        Section("Nothing", [table(["a"], []), Bullets([])]),
        Section("Outer", [Section("Inner", [Paragraph(HOSTILE)])], only="page"),
    ],
)


class Tags(HTMLParser):
    """Keeps tags and texts; finds what is left open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in {"meta", "img", "wbr"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Tags:
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert not tags.open
    return tags


def on_terminal(report: Report, *, width: int = 80) -> str:
    console = Console(file=StringIO(), width=width)
    with console.capture() as captured:
        console.print(report_view(report))
    return captured.get()


def test_markdown_says_all_that_is_for_pages() -> None:
    assert report_markdown(REPORT) == (
        "# Discernment exam\n\n"
        "**The judge catches most.**\n\n"
        "## Averages\n\n"
        "D is **high**.\n\n"
        "| damage | D | effect | by |\n|---|---|---|---|\n"
        "| typos | 1.23 | **+0.40** [+0.10, +0.70] | rule |\n"
        "| case | - | - | rule |\n"
        '| &lt;b&gt;\\|\\[x\\](http\\://y)"&amp;\ufffd\\[31m | 3 | 0.500 (20) |  |\n\n'
        "D of 1 is p = 0.05.\n\n"
        "## Read with care\n\n- 12 texts are few.\n\n"
        "## Outer\n\n### Inner\n\n"
        '&lt;b&gt;\\|\\[x\\](http\\://y)"&amp;\ufffd\\[31m\n\n'
        "## Judges, data and settings\n\n- judge: `` panel|a`b ``\n- texts: 12\n"
    )


def test_a_terminal_shows_tables_under_their_section_and_neither_title_nor_facts() -> None:
    shown = on_terminal(REPORT)
    assert shown.startswith("The judge catches most.\n")
    for word in (
        "Averages",
        "typos",
        "+0.40 [+0.10, +0.70]",
        "average 1.23",
        "- 12 texts are few.",
    ):
        assert word in shown
    for word in ("Discernment exam", "judge:", "rule", "Outer", "Nothing"):
        assert word not in shown
    assert '<b>|[x](http://y)"&' in shown


def test_a_page_of_html_holds_all_that_markdown_holds_and_runs_nothing() -> None:
    page = report_html(REPORT)
    tags = read(page)
    assert tags.text.index("The judge catches most.") < tags.text.index("Averages")
    assert "script" not in tags.tags
    assert "b" not in tags.tags
    assert "default-src 'none'" in page
    text = "".join(tags.text)
    for word in ("Discernment exam", "panel|a`b", "+0.40", "[+0.10, +0.70]", "rule", "Inner"):
        assert word in text
    assert "average 1.23" not in text
    assert "\x1b" not in page
    assert '<span class="bad">' in page


def test_pictures_are_contained_in_html_and_linked_in_markdown(tmp_path: Path) -> None:
    file = tmp_path / "a b.png"
    report = Report(title="t", sections=[Picture(file=file, alt="D by treatment")])
    with pytest.raises(StoreError, match=r"a b\.png: cannot be read"):
        report_html(report)
    file.write_bytes(b"png")
    assert '<img src="data:image/png;base64,cG5n" alt="D by treatment">' in report_html(report)
    assert report_markdown(report) == "# t\n\n![D by treatment](a%20b.png)\n"
    assert on_terminal(report) == ""


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="row 1 has 1 cells, expected 2"):
        table(["a", "b"], [["x", "y"], ["z"]])


def test_values_of_a_sentence_are_text() -> None:
    assert prose("*p* of {} is `x`", "**a** {}")[2] == "**a** {}"
