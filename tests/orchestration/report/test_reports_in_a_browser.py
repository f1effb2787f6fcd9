"""Reports as a real browser shows them: on a phone, at a desk, in the dark, on paper."""

from pathlib import Path

import pytest
from loopback.browser import Chromium, contrast, sideways
from playwright.sync_api import Page

from spanjury.orchestration.report import (
    Bullets,
    Cell,
    Paragraph,
    Plot,
    PlotPoint,
    Report,
    Section,
    code,
    numeric,
    prose,
    row,
    table,
)
from spanjury.orchestration.report.files import write_page
from spanjury.orchestration.report.html import report_html
from spanjury.orchestration.report.tables import Mark

MARKS: tuple[Mark, ...] = ("good", "bad", "unsure", "failed")
WIDE = table(
    ["condition", *numeric(*(f"measure {number}" for number in range(20)))],
    [row(f"row {at}", *range(20), faint=at % 2 == 1) for at in range(60)],
    title="A large table",
    note="Of 60 rows.",
)
POINTS = [PlotPoint(x=at, y=at % 3, name=f"{at}", kind="line", mark=f"{at}") for at in range(3)]
REPORT = Report(
    title="A report",
    answer="The judge catches most errors.",
    facts=[prose("judge: {}", code("panel|" * 60))],
    sections=[
        Section(
            "Marks", [table(["mark"], [[Cell(mark, mark=mark, note="(1)")] for mark in MARKS])]
        ),
        Section("Large", [WIDE]),
        Section("Sentences", [Paragraph("Few."), Bullets(["Beware."], tone="caution")]),
        Section("Drawn", [Plot(points=POINTS, x="cost", y="agreement", alt="Cost by agreement")]),
        Section("Long words", [Paragraph("x" * 500), table(["a"], [["y" * 500]])]),
    ],
)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "a.html"
    write_page(path, report_html(REPORT, origin="Made today"))
    return path


def top(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box
    return box["y"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_texts_have_enough_contrast(report: Path, chromium: Chromium, scheme: str) -> None:
    with chromium.open(report, scheme="dark" if scheme == "dark" else "light") as page:
        read = [
            "h1",
            "header .strong",
            "code",
            "nav a",
            "td small",
            "tr.faint td",
            ".caution li",
            "p.note",
        ]
        for selector in [*read, "footer", *(f".{mark}" for mark in MARKS)]:
            assert contrast(page.locator(selector).first) >= 4.5, selector


@pytest.mark.parametrize("width", [320, 390, 1280, 2560])
def test_no_page_scrolls_sideways(report: Path, chromium: Chromium, width: int) -> None:
    with chromium.open(report, width=width) as page:
        assert sideways(page) == 0


def test_contents_lead_to_their_sections(report: Path, chromium: Chromium) -> None:
    with chromium.open(report) as page:
        assert top(page, "#sentences") > 800
        page.get_by_role("link", name="Sentences").click()
        assert 0 <= top(page, "#sentences") < 800
        assert page.url.endswith("#sentences")


def test_head_and_first_column_of_a_large_table_stay_seen(report: Path, chromium: Chromium) -> None:
    with chromium.open(report, width=390) as page:
        frame = page.locator(".scroll.long")
        frame.focus()
        head, name = top(page, ".long thead th"), page.locator(".long tbody td").first
        before = name.bounding_box()
        assert before
        frame.evaluate("frame => frame.scrollTo(300, 0)")
        assert name.bounding_box() == before
        frame.evaluate("frame => frame.scrollTo(300, 500)")
        assert top(page, ".long thead th") == head
        below = name.bounding_box()
        assert below
        assert below["y"] == before["y"] - 500


def test_a_printed_page_cuts_nothing_off(report: Path, chromium: Chromium) -> None:
    with chromium.open(report, width=800, scheme="dark") as page:
        page.emulate_media(media="print")
        frame = page.locator(".scroll.long")
        assert frame.evaluate("frame => frame.scrollHeight - frame.clientHeight") <= 1
        assert not page.locator("nav").is_visible()
        ground = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
