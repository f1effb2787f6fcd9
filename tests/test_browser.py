"""The browser of the tests: a page that misbehaves fails the test that opened it."""

from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from loopback.browser import Chromium, contrast, picture, sideways
from PIL import Image

FRAME = "<!DOCTYPE html><meta charset=utf-8><title>a</title>"


def written(folder: Path, body: str) -> Path:
    path = folder / "a.html"
    path.write_text(FRAME + body, encoding="utf-8")
    return path


def shown(chromium: Chromium, path: Path, *, complaints: Sequence[str] = ()) -> None:
    with chromium.open(path, complaints=complaints) as page:
        page.wait_for_load_state("load")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("<script>console.error('broken')</script>", "error: broken"),
        ("<script>console.warn('careful')</script>", "warning: careful"),
        ("<script>throw new Error('thrown')</script>", "raised .*thrown"),
        ("<img src='http://192.0.2.1/a.png'>", "asked for .*192.0.2.1"),
        ("<img src='http://127.0.0.1:9/a.png'>", "asked for .*127.0.0.1"),
        ("<img src='b.png'>", "asked for .*b.png"),
    ],
)
def test_a_page_that_complains_or_asks_elsewhere_fails_its_test(
    tmp_path: Path, chromium: Chromium, body: str, problem: str
) -> None:
    with pytest.raises(AssertionError, match=problem):
        shown(chromium, written(tmp_path, body))


def test_a_picture_in_the_page_is_no_request_elsewhere(tmp_path: Path, chromium: Chromium) -> None:
    dot = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA="
    shown(chromium, written(tmp_path, f"<img src='{dot}'>"))


def test_a_provoked_complaint_has_to_come(tmp_path: Path, chromium: Chromium) -> None:
    shown(chromium, written(tmp_path, "<script>console.error('409')</script>"), complaints=("409",))
    with pytest.raises(AssertionError, match="does not say .*409"):
        shown(chromium, written(tmp_path, "<p>"), complaints=("409",))


async def asleep() -> str:
    await anyio.lowlevel.checkpoint()
    return "woken"


def test_async_code_runs_between_pages(tmp_path: Path, chromium: Chromium) -> None:
    path = written(tmp_path, "<p>a")
    shown(chromium, path)
    assert anyio.run(asleep) == "woken"
    shown(chromium, path)


async def test_async_tests_run_beside_the_browser(chromium: Chromium) -> None:
    assert chromium.browser.is_connected()
    assert await asleep() == "woken"


@pytest.mark.parametrize(
    ("style", "ratio"),
    [
        ("color: #000; background: #fff", 21.0),
        ("color: #777; background: #fff", 4.48),  # the known grey that is just not enough
        ("color: #767676; background: #fff", 4.54),  # and the one that just is
        ("color: rgb(0 0 0 / 50%); background: #fff", 3.98),  # as #7f7f7f or #808080
        ("color: color-mix(in srgb, #fff, #000 50%); background: #fff", 3.98),
        ("color: #000; background: #fff; opacity: 0.5", 3.98),
        ("color: #fff; background: #fff", 1.0),
    ],
)
def test_contrast_is_as_seen(tmp_path: Path, chromium: Chromium, style: str, ratio: float) -> None:
    path = written(tmp_path, f"<body style='background: #fff'><p style='{style}'>a")
    with chromium.open(path) as page:
        assert contrast(page.locator("p")) == pytest.approx(ratio, abs=0.03)


def test_a_page_that_is_too_wide_is_measured(tmp_path: Path, chromium: Chromium) -> None:
    path = written(tmp_path, "<body style='margin: 0'><div style='width: 500px'>a</div>")
    with chromium.open(path, width=390) as page:
        assert sideways(page) == 110
        page.set_viewport_size({"width": 600, "height": 800})
        assert sideways(page) == 0


def test_a_picture_is_of_the_window_and_small(tmp_path: Path, chromium: Chromium) -> None:
    path = written(tmp_path, "<p>a")
    with chromium.open(path, width=390, scheme="dark") as page:
        taken = picture(page, tmp_path / "a.png")
    with Image.open(taken) as image:
        assert (image.size, image.mode) == ((390, 800), "P")


def test_wishes_of_the_reader_reach_the_page(tmp_path: Path, chromium: Chromium) -> None:
    path = written(tmp_path, "<p>a")
    with chromium.open(path, scheme="dark", reduced_motion=True) as page:
        assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
        assert page.evaluate("matchMedia('(prefers-reduced-motion: reduce)').matches")
