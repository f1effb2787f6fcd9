"""One report, shown by each renderer, however long; and its tables as rows for programs."""

import math
import re
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
    apart,
    code,
    left,
    line,
    numeric,
    prose,
    right,
    row,
    spread,
    strong,
    table,
    table_of,
)
from spanjury.orchestration.report.document import tables_of
from spanjury.orchestration.report.html import report_fragment, report_html
from spanjury.orchestration.report.markdown import report_markdown
from spanjury.orchestration.report.tables import numbered
from spanjury.orchestration.report.terminal import report_view
from spanjury.stats.resampling import Estimate

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
ROW = table(["a"], [["b"]])
TABLE = table(
    [
        "judge",
        *numeric("mean", "mean"),
        Column("note", only="page"),
        Column("short", only="terminal"),
    ],
    [
        ["form", Cell(1 / 3, ".2f", interval=(0.0, 1.0), mark="bad"), 2, "<b>", "s"],
        row("grounding", math.nan, math.inf, None, "t", faint=True),
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


def of_sections(*titles: str) -> Report:
    return Report(title="t", sections=[Section(title, [ROW]) for title in titles])


def links(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<a href="#([^"]*)"><bdi>(.*?)</bdi>', page)


def test_from_four_sections_on_there_are_contents() -> None:
    page = report_html(of_sections("By judge", "What it says", "Über", "By judge"))
    assert links(page) == [
        ("by-judge", "By judge"),
        ("what-it-says", "What it says"),
        ("ber", "Über"),
        ("by-judge-2", "By judge"),
    ]
    for anchor, _ in links(page):
        assert page.count(f'<section id="{anchor}">') == 1
    assert "<nav" not in report_html(of_sections("a", "b", "c"))


def test_a_section_that_has_no_letters_is_linked_too() -> None:
    page = report_html(of_sections("汉字", "<b>", '"', "'"))
    assert [anchor for anchor, _ in links(page)] == ["section", "b", "section-2", "section-3"]
    assert "<b>" not in page


def test_hidden_sections_are_not_in_the_contents() -> None:
    report = of_sections("a", "b", "c", "d")
    hidden = Section("e", [ROW], only="terminal")
    page = report_html(Report(title="t", sections=[hidden, *report.sections, Section("f", [])]))
    assert [anchor for anchor, _ in links(page)] == ["a", "b", "c", "d"]


def test_a_table_of_more_than_a_screen_scrolls_below_its_head() -> None:
    def page(rows: int) -> str:
        tall = table(numeric("n"), [[number] for number in range(rows)])
        return report_html(Report(title="t", sections=[tall]))

    assert '<div class="scroll" ' in page(25)
    assert '<div class="scroll long" ' in page(26)


def test_pictures_that_follow_each_other_share_a_frame(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name in ("a.png", "b.png", "c.png"):
        (folder / name).write_bytes(b"png")
    first, second, third = (Picture(file=folder / f"{name}.png", alt=name) for name in "abc")
    report = Report(title="t", sections=[Section("s", [first, second, ROW, third])])
    page = report_html(report)
    assert page.count('<div class="pictures">') == 2
    assert [*re.findall(r"<figcaption[^>]*>(.)</", page)] == ["a", "b", "c"]
    assert "![a](pictures/a.png)" in report_markdown(report, folder=tmp_path)


def test_a_page_says_when_it_was_made_where_that_is_known() -> None:
    report = of_sections("a")
    assert "<footer>Made on &lt;day&gt;</footer>" in report_html(report, origin="Made on <day>")
    assert "<footer>" not in report_html(report)


def test_a_row_holds_numbers_with_all_digits_and_nothing_that_is_not_defined() -> None:
    assert TABLE.to_dicts() == [
        {"judge": "form", "mean": 1 / 3, "mean (2)": 2, "note": "<b>"},
        {"judge": "grounding", "mean": None, "mean (2)": None, "note": None},
    ]


def test_names_are_numbered_from_the_second_on() -> None:
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]
    assert numbered([]) == []


def test_the_tables_of_a_page_are_named_by_their_sections_in_order() -> None:
    report = Report(
        title="An exam",
        sections=[
            TABLE,
            Section("Outer", [Bullets(["x"]), Section("Inner", [TABLE, TABLE])]),
            Section("Terminal", [TABLE], only="terminal"),
            Section("Empty", [table(["a"], [])]),
            Section("Inner", [TABLE]),
        ],
    )
    assert [*tables_of(report)] == ["An exam", "Inner", "Inner (2)", "Inner (3)"]
    assert all(one is TABLE for one in tables_of(report).values())


def test_a_fragment_has_what_the_page_has_and_no_style_of_its_own() -> None:
    report = Report(title="<i>", facts=["a fact"], sections=[Section("One", [TABLE])])
    fragment, page = report_fragment(report), report_html(report)
    inner = fragment.removeprefix("<article>\n").removesuffix("\n</article>")
    assert inner in re.sub(r'<section id="[^"]*">', "<section>", page)  # a notebook has its own ids
    assert "<style" not in fragment
    assert "&lt;i&gt;" in fragment
    assert "&lt;b&gt;" in fragment
    assert "a fact" in fragment


def test_a_row_names_the_columns_that_its_cells_stand_in() -> None:
    mean = Estimate(0.5, 0.25, 0.75)
    shown = table_of(
        [
            line(left("judge", "form"), right("texts", 3), spread("mean", mean, ".2f"), faint=True),
            (left("judge", "reader"), right("texts", 2), spread("mean", None, ".2f")),
        ],
        note="n",
    )
    cell = Cell(0.5, ".2f", interval=(0.25, 0.75))
    rows = [row("form", 3, cell, faint=True), row("reader", 2, None)]
    assert shown == table(["judge", *numeric("texts", "mean")], rows, note="n")
    value, ends = apart("mean", mean, ".2f", ends_only="page")
    assert (value.cell.text, ends.cell.text) == ("0.50", "0.25 to 0.75")
    assert (value.column.only, ends.column.only) == (None, "page")


def test_rows_of_different_columns_make_no_table() -> None:
    assert table_of([]) == table([], [])
    with pytest.raises(ValueError, match="rows with the same columns"):
        table_of([[left("judge", "form")], [right("judge", "form")]])
