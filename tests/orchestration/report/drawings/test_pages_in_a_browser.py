"""Pages as a real browser shows them: their scripts run, and only theirs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes.sample_pages import HOSTILE, PAGES
from loopback.browser import Chromium, contrast, sideways
from playwright.sync_api import Locator, Page, expect

from spanjury.orchestration.report.files import write_page

WORDS = ("the", "gunman", "was", "caught")


@contextmanager
def opened(chromium: Chromium, page: str, folder: Path) -> Iterator[Page]:
    write_page(folder / "a.html", page)
    with chromium.open(folder / "a.html") as shown:
        yield shown


def readout(page: Page) -> Locator:
    return page.locator("#readout")


def word(page: Page, side: str, index: int) -> Locator:
    return page.locator(f"#{side} .word").nth(index)


def linked(page: Page) -> Locator:
    return page.locator("#links path.on")


def test_the_script_of_a_hostile_page_runs_and_what_stands_in_it_does_not(
    tmp_path: Path, chromium: Chromium, hostile_page: str
) -> None:
    with opened(chromium, hostile_page, tmp_path) as page:
        expect(page.locator("body")).to_have_attribute("data-ready", "true")
        assert page.locator("body").get_attribute("data-owned") is None
        expect(page.locator("img")).to_have_count(0)
        assert page.evaluate("performance.getEntriesByType('resource').length") == 0
        shown = page.locator("#drawing").text_content() or ""
        assert HOSTILE[0] in shown
        assert "\ufffd" in shown


@pytest.mark.parametrize(
    ("kind", "counts"),
    [
        ("heat_map", {"output": "4", "reference": "4", "cells": "16"}),
        ("flow", {"output": "4", "reference": "4", "links": "5"}),
        ("ngrams", {"n": "1", "shared": "1", "clipped": "1", "output": "4", "references": "2"}),
        ("alignment", {"output": "4", "reference": "4", "pairs": "2", "links": "2"}),
    ],
)
def test_a_page_counts_what_it_draws(
    tmp_path: Path, chromium: Chromium, kind: str, counts: dict[str, str]
) -> None:
    with opened(chromium, PAGES[kind](*WORDS), tmp_path) as page:
        counted: dict[str, str] = page.evaluate("({...document.body.dataset})")
        assert counted == counts | {"ready": "true"}


def test_a_token_shows_its_best_partners(tmp_path: Path, chromium: Chromium) -> None:
    with opened(chromium, PAGES["heat_map"](*WORDS), tmp_path) as page:
        word(page, "output", 1).focus()
        said = "output gunman \u2192 gunman 0.750, the 0.250, was 0.250, caught 0.250"
        expect(readout(page)).to_have_text(said)
        expect(page.locator("#reference .partner").first).to_have_text("gunman")
        page.keyboard.press("ArrowRight")
        said = "output was \u2192 was 0.750, the 0.250, gunman 0.250, caught 0.250"
        expect(readout(page)).to_have_text(said)
        word(page, "reference", 3).focus()
        expect(readout(page)).to_contain_text("reference caught")
        page.keyboard.press("Escape")
        word(page, "output", 0).hover()
        expect(readout(page)).to_contain_text("output the \u2192 the 0.750")
        expect(page.locator(".cross").first).to_be_visible()


def test_a_cell_of_the_map_shows_its_pair(tmp_path: Path, chromium: Chromium) -> None:
    with opened(chromium, PAGES["heat_map"](*WORDS), tmp_path) as page:
        page.locator("#map").focus()
        expect(readout(page)).to_have_text("the and the 0.750")
        page.keyboard.press("ArrowRight")
        expect(readout(page)).to_have_text("the and gunman no value")
        page.keyboard.press("ArrowDown")
        expect(readout(page)).to_have_text("gunman and gunman 0.750")


def test_a_token_isolates_its_flow(tmp_path: Path, chromium: Chromium) -> None:
    with opened(chromium, PAGES["flow"](*WORDS), tmp_path) as page:
        word(page, "output", 0).focus()
        said = "output the sends 1.5: gunman 1 at cost 0.000, the 0.5"
        expect(readout(page)).to_have_text(said)
        expect(linked(page)).to_have_count(2)
        paths = page.locator("#links path").all()
        widths = [path.get_attribute("stroke-width") for path in paths]
        assert widths == ["13.00", "6.50", "6.50", "4.33", "3.25"]
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        expect(linked(page)).to_have_count(0)


def test_the_slider_chooses_n(tmp_path: Path, chromium: Chromium) -> None:
    with opened(chromium, PAGES["ngrams"](*WORDS), tmp_path) as page:
        hits = page.locator("#output .word.hit")
        expect(hits).to_have_text(["the", "gunman"])
        page.locator("#size").focus()
        page.keyboard.press("ArrowRight")
        expect(hits).to_have_text(["gunman", "was"])
        counted = "1 of 3 n-grams of the output are found (33.3%)"
        expect(page.locator("#count")).to_contain_text(counted)
        word(page, "output", 1).focus()
        said = "gunman was 1\u00d7 in the output, 1\u00d7, 0\u00d7 in the references"
        expect(readout(page)).to_have_text(said)
        page.locator("#against").select_option("2")
        expect(hits).to_have_count(0)
        expect(page.locator("#references .text:not([hidden])")).to_have_count(1)


def test_an_aligned_word_is_linked_with_its_partner(tmp_path: Path, chromium: Chromium) -> None:
    with opened(chromium, PAGES["alignment"](*WORDS), tmp_path) as page:
        word(page, "output", 1).focus()
        expect(readout(page)).to_have_text("gunman (word 2) \u2194 was (word 3)")
        expect(linked(page)).to_have_count(1)
        word(page, "output", 3).focus()
        expect(readout(page)).to_have_text("output caught: not aligned")


def test_a_page_is_dark_on_request_and_light_in_print(tmp_path: Path, chromium: Chromium) -> None:
    with opened(chromium, PAGES["heat_map"](*WORDS), tmp_path) as page:
        body = page.locator("body")
        expect(body).to_have_css("background-color", "rgb(255, 255, 255)")
        page.emulate_media(color_scheme="dark")
        expect(body).to_have_css("background-color", "rgb(20, 23, 26)")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        expect(body).to_have_css("background-color", "rgb(255, 255, 255)")


@pytest.mark.parametrize("kind", PAGES)
def test_long_hostile_texts_fit_any_width(tmp_path: Path, chromium: Chromium, kind: str) -> None:
    with opened(chromium, PAGES[kind]("x" * 500, *HOSTILE), tmp_path) as page:
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            assert sideways(page) == 0, width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_title_and_readout_are_legible(tmp_path: Path, chromium: Chromium, scheme: str) -> None:
    with opened(chromium, PAGES["heat_map"](*WORDS), tmp_path) as page:
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        word(page, "output", 1).focus()
        assert contrast(page.locator("h1")) >= 7
        assert contrast(readout(page)) >= 4.5
