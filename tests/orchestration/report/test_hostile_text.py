"""Texts from outside are text on every page, whatever stands in them."""

import re
from html.parser import HTMLParser

from fakes.hostile import anything, rendered
from hypothesis import given

from spanjury.judges.core import one_line, shown
from spanjury.orchestration.report import Bullets, Cell, Report, Section, code, prose, row, table
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.markdown import report_markdown


class Texts(HTMLParser):
    """Keeps the texts of a page, and the names of its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "wbr":  # stands where a line of our own page may end
            self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Texts:
    texts = Texts()
    texts.feed(page)
    texts.close()
    return texts


def everywhere(text: str) -> Report:
    """Return a report that has `text` wherever a report may have some."""
    cells = [row(text, Cell(text, bold=True, note=text))]
    return Report(
        title=text,
        facts=[text, prose("*x* {}, {}", code(text), text)],
        sections=[Section(text, [Bullets([text]), table([text, "b"], cells, title=text)])],
    )


@given(anything.filter(bool))
def test_no_text_adds_a_tag_to_a_page_of_html(text: str) -> None:
    page = read(report_html(everywhere(text)))
    assert page.tags == read(report_html(everywhere("word"))).tags
    assert one_ending(shown(text)) in one_ending(page.text)


def one_ending(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


@given(anything)
def test_a_sentence_keeps_the_spaces_between_its_pieces(text: str) -> None:
    report = Report(title="t", facts=[prose("a {} b `c`", text)])
    line = report_markdown(report).splitlines()[-1]
    assert line.startswith("- a ")
    assert line.endswith(" b `c`")


@given(anything, anything)
def test_a_cell_is_the_text_and_nothing_else(first: str, second: str) -> None:
    report = Report(title="t", sections=[table(["a", "b"], [[first, second]])])
    page = rendered(report_markdown(report))
    cells = re.findall(r"<td>(.*?)</td>", page, re.DOTALL)
    assert len(cells) == 2
    for cell, text in zip(cells, (first, second), strict=True):
        assert "<" not in cell.replace("<code>", "").replace("</code>", "")
        plain = re.sub("</?code>", "`", cell)
        for entity, letter in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
            plain = plain.replace(entity, letter)
        assert plain.strip() == one_line(text).strip()
