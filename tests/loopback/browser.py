"""A real browser without a window, which fails a test whose page complains or calls elsewhere.

The fixture `chromium` (tests/conftest.py) starts it once for all tests of a process; a test opens
pages on it and has playwright's own `Page`::

    def test_a_span_is_shown(chromium: Chromium, tmp_path: Path) -> None:
        path = written(tmp_path / "page.html")
        with chromium.open(path, width=390, scheme="dark") as page:
            page.get_by_role("button", name="Show").click()
            expect(page.locator("#readout")).to_have_text("shown")
            assert sideways(page) == 0

Playwright's sync API cannot run inside a running loop of asyncio, and while it works it is such a
loop itself. So tests with a browser are plain functions, and what they need of async code (a
command that makes a file, a server) runs before a page is opened or in a thread of its own. While
no page is open, other tests of the process may run loops as they like.
"""

import asyncio  # noqa: TID251 - playwright's loop is one of asyncio's
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Literal
from urllib.parse import urldefrag, urlsplit

from PIL import Image
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    expect,
    sync_playwright,
)

CHROMIUM = Path("/usr/bin/chromium")
COLOURS = 128
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    # Whatever a page asks for, nothing leaves this machine.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
INSIDE = frozenset({"about", "blob", "data"})  # schemes of what a browser has already


@dataclass(frozen=True, slots=True)
class Chromium:
    """A started browser and the loop of playwright that speaks with it."""

    browser: Browser
    loop: asyncio.AbstractEventLoop

    @contextmanager
    def open(
        self,
        target: Path | str,
        *,
        width: int = 1280,
        height: int = 800,
        scheme: Literal["light", "dark"] = "light",
        reduced_motion: bool = False,
        servers: Sequence[str] = (),
        complaints: Sequence[str] = (),
    ) -> Iterator[Page]:
        """Open a file or an address in a fresh profile; at the end, fail if the page misbehaved.

        Parameters
        ----------
        target
            A file, or an address of a server on loopback (which may be asked from then on).
        servers
            More servers that the page may ask, as ``http://127.0.0.1:8000``.
        complaints
            Errors and warnings that the test provokes: each is a part of a message of the
            console, as ``"409"`` of a refused request, and has to come at least once.
        """
        address = target.absolute().as_uri() if isinstance(target, Path) else target
        seen = Seen(opened=address, servers=(origin(address), *servers))
        with running(self.loop):
            context = self.browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                reduced_motion="reduce" if reduced_motion else "no-preference",
                locale="en-GB",
                timezone_id="UTC",
            )
            with context:
                page = context.new_page()
                seen.watch(page)
                page.goto(address)
                yield page
        seen.check(complaints)


@dataclass(kw_only=True)  # playwright hangs its wrappers of the methods on the object
class Seen:
    """A record of what a page said and asked for while it was open."""

    opened: str
    servers: Sequence[str]
    complaints: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("console", self.hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("crash", lambda _: self.errors.append("the page crashed"))
        page.on("request", self.note)

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(f"{message.type}: {message.text}")

    def note(self, request: Request) -> None:
        self.requests.append(request.url)

    def check(self, expected: Sequence[str]) -> None:
        """Fail on whatever was neither allowed nor expected, and on what was expected in vain."""
        elsewhere = [url for url in self.requests if not self.is_allowed(url)]
        assert not elsewhere, f"the page asked for {elsewhere}"
        assert not self.errors, f"the page raised {self.errors}"
        surprising = [
            complaint
            for complaint in self.complaints
            if not any(part in complaint for part in expected)
        ]
        assert not surprising, f"the console says {surprising}"
        missing = [
            part for part in expected if not any(part in complaint for complaint in self.complaints)
        ]
        assert not missing, f"the console does not say {missing}, but {self.complaints}"

    def is_allowed(self, url: str) -> bool:
        return (
            urlsplit(url).scheme in INSIDE
            or urldefrag(url).url == urldefrag(self.opened).url
            or (origin(url) in self.servers and urlsplit(url).scheme != "file")
        )


def origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


_PATIENCE = 30_000  # milliseconds for what a page shows, where the cores have much else to do


def started_chromium() -> Iterator[Chromium]:
    """Start the browser, and end it when the iterator is asked again."""
    expect.set_options(timeout=_PATIENCE)
    driver = sync_playwright().start()
    chromium = Chromium(
        browser=driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS)),
        loop=asyncio.get_running_loop(),
    )
    asyncio._set_running_loop(None)
    try:
        yield chromium
    finally:
        with running(chromium.loop):
            chromium.browser.close()
            driver.stop()


@contextmanager
def running(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Have `loop` be the running one only in the block: playwright leaves it so for good."""
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)


def sideways(page: Page) -> int:
    """Return by how many pixels the page is wider than its window; 0 needs no scrolling."""
    wider: int = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return max(0, wider)


def contrast(locator: Locator) -> float:
    """Return the WCAG contrast of an element's text with what is behind it, 1 to 21.

    Colours are as computed; transparent ones and opacity are blended down to the page. An image
    or a gradient behind the text has no one colour: that is an error.
    """
    ratio: float = locator.evaluate(CONTRAST)
    return ratio


def picture(page: Page, path: Path, *, whole: bool = False) -> Path:
    """Write a small PNG of what the window shows, or of the `whole` page."""
    taken = page.screenshot(full_page=whole, animations="disabled", caret="hide")
    with Image.open(BytesIO(taken)) as image:
        # Of few colours, the rare ones, as of a mark in a table, are kept, too.
        small = image.convert("RGB").quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
        small.save(path, optimize=True)
    return path
