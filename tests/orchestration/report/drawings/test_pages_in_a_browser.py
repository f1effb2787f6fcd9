"""Pages as a real browser shows them: their scripts run, and only theirs."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes.sample_pages import HOSTILE, PAGES
from loopback.browser import CHROMIUM, FLAGS, Browser, open_browser

from spanjury.orchestration.report.drawings.drawing import write_page

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"{CHROMIUM} is not installed")

READOUT = "document.getElementById('readout').textContent"
WORDS = ("the", "gunman", "was", "caught")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def opened(browser: Browser, page: str, folder: Path) -> Browser:
    write_page(folder / "a.html", page)
    browser.open(folder / "a.html")
    return browser


def focus(browser: Browser, side: str, index: int) -> object:
    """Focus a word as the keyboard does, and return what the page then says."""
    browser.run(f"document.querySelectorAll('#{side} .word')[{index}].focus()")
    return browser.run(READOUT)


def press(browser: Browser, key: str) -> object:
    for kind in ("keyDown", "keyUp"):
        browser.call("Input.dispatchKeyEvent", {"type": kind, "key": key, "code": key})
    return browser.run(READOUT)


def hover(browser: Browser, selector: str) -> object:
    """Move the pointer to the middle of an element, and return what the page then says."""
    box = f"document.querySelector({selector!r}).getBoundingClientRect()"
    where = browser.run(f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({box})")
    assert isinstance(where, list)
    moved = {"type": "mouseMoved", "x": where[0], "y": where[1]}
    browser.call("Input.dispatchMouseEvent", moved)
    return browser.run(READOUT)


def test_the_script_of_a_hostile_page_runs_and_what_stands_in_it_does_not(
    tmp_path: Path, browser: Browser, hostile_page: str
) -> None:
    page = opened(browser, hostile_page, tmp_path)
    assert page.run("document.body.dataset.ready") == "true"
    assert page.run("document.body.dataset.owned ?? null") is None
    assert page.run("document.querySelectorAll('img').length") == 0
    assert page.run("performance.getEntriesByType('resource').length") == 0
    shown = page.run("document.getElementById('drawing').textContent")
    assert isinstance(shown, str)
    assert HOSTILE[0] in shown
    assert "\ufffd" in shown


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_counts_what_it_draws_without_a_window_or_an_inspector(
    tmp_path: Path, kind: str
) -> None:
    write_page(tmp_path / "a.html", PAGES[kind](*WORDS))
    command = [str(CHROMIUM), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    ran = subprocess.run(
        [*command, (tmp_path / "a.html").as_uri()], capture_output=True, text=True, check=True
    )
    counts = {
        "heat_map": 'data-output="4" data-reference="4" data-cells="16"',
        "flow": 'data-output="4" data-reference="4" data-links="5"',
        "ngrams": 'data-n="1" data-shared="1" data-clipped="1" data-output="4"',
        "alignment": 'data-output="4" data-reference="4" data-pairs="2" data-links="2"',
    }
    assert counts[kind] in ran.stdout
    assert 'data-ready="true"' in ran.stdout


def test_a_token_shows_its_best_partners(tmp_path: Path, browser: Browser) -> None:
    page = opened(browser, PAGES["heat_map"](*WORDS), tmp_path)
    shown = focus(page, "output", 1)
    assert shown == "output gunman \u2192 gunman 0.750, the 0.250, was 0.250, caught 0.250"
    assert page.run("document.querySelector('#reference .partner').textContent") == "gunman"
    assert (
        press(page, "ArrowRight")
        == "output was \u2192 was 0.750, the 0.250, gunman 0.250, caught 0.250"
    )
    assert "reference caught" in str(focus(page, "reference", 3))
    press(page, "Escape")
    assert str(hover(page, "#output .word")).startswith("output the \u2192 the 0.750")
    assert page.run("document.querySelector('.cross').hidden") is False


def test_a_cell_of_the_map_shows_its_pair(tmp_path: Path, browser: Browser) -> None:
    page = opened(browser, PAGES["heat_map"](*WORDS), tmp_path)
    page.run("document.getElementById('map').focus()")
    assert page.run(READOUT) == "the and the 0.750"
    assert press(page, "ArrowRight") == "the and gunman no value"
    assert press(page, "ArrowDown") == "gunman and gunman 0.750"
    press(page, "Escape")


def test_a_token_isolates_its_flow(tmp_path: Path, browser: Browser) -> None:
    page = opened(browser, PAGES["flow"](*WORDS), tmp_path)
    assert focus(page, "output", 0) == "output the sends 1.5: gunman 1 at cost 0.000, the 0.5"
    assert page.run("document.querySelectorAll('#links path.on').length") == 2
    widths = (
        "[...document.querySelectorAll('#links path')].map(p => p.getAttribute('stroke-width'))"
    )
    assert page.run(widths) == ["13.00", "6.50", "6.50", "4.33", "3.25"]
    press(page, "Escape")
    page.run("document.activeElement.blur()")
    assert page.run("document.querySelectorAll('#links path.on').length") == 0


def test_the_slider_chooses_n(tmp_path: Path, browser: Browser) -> None:
    page = opened(browser, PAGES["ngrams"](*WORDS), tmp_path)
    hits = "[...document.querySelectorAll('#output .word.hit')].map(word => word.textContent)"
    assert page.run(hits) == ["the", "gunman"]
    page.run("document.getElementById('size').focus()")
    press(page, "ArrowRight")
    assert page.run(hits) == ["gunman", "was"]
    count = page.run("document.getElementById('count').textContent")
    assert str(count).startswith("1 of 3 n-grams of the output are found (33.3%)")
    said = focus(page, "output", 1)
    assert said == "gunman was 1\u00d7 in the output, 1\u00d7, 0\u00d7 in the references"
    choose = "(() => { const list = document.getElementById('against'); list.value = '2';"
    page.run(f"{choose} list.dispatchEvent(new Event('change')); }})()")
    assert page.run(hits) == []
    assert page.run("document.querySelectorAll('#references .text:not([hidden])').length") == 1


def test_an_aligned_word_is_linked_with_its_partner(tmp_path: Path, browser: Browser) -> None:
    page = opened(browser, PAGES["alignment"](*WORDS), tmp_path)
    assert focus(page, "output", 1) == "gunman (word 2) \u2194 was (word 3)"
    assert page.run("document.querySelectorAll('#links path.on').length") == 1
    assert focus(page, "output", 3) == "output caught: not aligned"


def test_a_page_is_dark_where_that_is_wished_and_light_in_print(
    tmp_path: Path, browser: Browser
) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page = opened(browser, PAGES["heat_map"](*WORDS), tmp_path)
    found = []
    for scheme in ("light", "dark"):
        wished = [{"name": "prefers-color-scheme", "value": scheme}]
        page.call("Emulation.setEmulatedMedia", {"features": wished})
        found.append(page.run(ground))
    assert found == ["rgb(255, 255, 255)", "rgb(20, 23, 26)"]
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run(ground) == "rgb(255, 255, 255)"
    page.call("Emulation.setEmulatedMedia", {"features": []})


def test_long_hostile_texts_fit_the_width_of_the_page(tmp_path: Path, browser: Browser) -> None:
    for kind in PAGES:
        page = opened(browser, PAGES[kind]("x" * 500, *HOSTILE), tmp_path)
        wide = page.run("document.documentElement.scrollWidth - innerWidth")
        assert isinstance(wide, int)
        assert wide <= 0, kind
