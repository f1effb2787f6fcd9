"""A long report can be found one's way in: contents, links, tables with a head, a date."""

import re
from pathlib import Path

from spanjury.orchestration.report import Picture, Report, Section, numeric, table
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.markdown import report_markdown

ROW = table(["a"], [["b"]])


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
