"""The list of runs in a real browser: filtered, sorted, two compared; served and as a file."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from fakes.command import call, start
from fakes.viewed_runs import judge, results, write_rows
from loopback.browser import Chromium, contrast, sideways
from playwright.sync_api import Page, expect

HOSTILE = "<img src=x onerror=alert(1)> & 'quoted'"
OPENING = 30_000
"""Milliseconds that the server may take to read the runs that are opened."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three runs: as judged, with better scores, and under a hostile name."""
    folder = tmp_path_factory.mktemp("listed")
    write_rows(folder / "rows.jsonl")
    first = judge(folder, run="runs/first")
    shutil.copytree(first, folder / "runs/better")
    rows = [{**row, "score": 5, "decision": "ok"} for row in results(first)]
    better = folder / "runs/better/results.jsonl"
    better.write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copytree(first, folder / "runs" / HOSTILE)
    return folder


@contextmanager
def served(home: Path) -> Iterator[str]:
    process = start(home, "view", "runs", "--no-browser")
    assert process.stderr is not None
    line = process.stderr.readline()
    address = re.search(r"http://\S+", line)
    assert address, line + process.stderr.read()
    try:
        yield address[0]
    finally:
        process.terminate()
        process.communicate()


def names(page: Page) -> list[str]:
    expect(page.locator("body")).to_have_attribute("data-ready", "true")
    return page.locator("td.of-name bdi").all_inner_texts()


def test_runs_are_filtered_sorted_opened_and_compared(chromium: Chromium, home: Path) -> None:
    with served(home) as url, chromium.open(url) as page:
        assert set(names(page)) == {"first", "better", HOSTILE}
        page.get_by_role("button", name="mean score").click()
        assert names(page)[0] == "better"
        page.get_by_role("button", name="mean score").click()
        assert names(page)[-1] == "better"
        page.locator("#search").fill("grounding FIRST")
        assert names(page) == ["first"]
        page.get_by_label("Choose first").check()
        page.locator("#search").fill("")
        page.get_by_label("Choose better").check()
        page.get_by_role("link", name="Compare first with better").click()
        expect(page.locator("#title")).to_have_text("first beside better", timeout=OPENING)
        expect(page.locator("body")).to_have_attribute("data-ready", "true", timeout=OPENING)
        page.go_back()
        assert names(page)[-1] == "better"  # as it was left
        expect(page.get_by_label("Choose first")).to_be_checked()
        page.get_by_role("link", name=HOSTILE).click()
        expect(page.locator("#title")).to_have_text(HOSTILE, timeout=OPENING)
        page.get_by_role("link", name="All runs").click()
        assert len(names(page)) == 3
        assert page.locator("img").count() == 0


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1440, "light")])
def test_a_file_of_runs_fits_and_gives_the_commands(
    chromium: Chromium, home: Path, width: int, scheme: str
) -> None:
    call(home, "view", "runs", "--html", "runs.html")
    with chromium.open(home / "runs.html", width=width, scheme=scheme) as page:  # type: ignore[arg-type]  # one of the two
        assert len(names(page)) == 3
        page.get_by_label("Choose first").check()
        page.get_by_label(f"Choose {HOSTILE}").check()
        quoted = HOSTILE.replace("'", "'\\''")
        expect(page.locator("#chosen")).to_contain_text(f"spanjury view first '{quoted}'")
        expect(page.locator("#chosen")).to_contain_text(f"spanjury compare first '{quoted}'")
        assert sideways(page) == 0
        for part in ("#count", "#chosen .note", "td.of-score b", "td.of-cost .none"):
            assert contrast(page.locator(part).first) >= 4.5, part
