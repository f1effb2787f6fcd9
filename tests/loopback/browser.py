"""A real browser without a window, driven over a pipe: no port, no network."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["CHROMIUM", "FLAGS", "Browser", "open_browser"]

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
_JOIN = 'commands=$1 answers=$2; shift 2; exec "$@" 3<&"$commands" 4>&"$answers"'
"""The browser reads commands from descriptor 3 and writes answers to 4."""


class Browser:
    """One tab of the browser, spoken to in the DevTools protocol."""

    def __init__(self, commands: IO[bytes], answers: IO[bytes]) -> None:
        self._commands, self._answers = commands, answers
        self._count = 0
        self._session = ""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = str(attached["sessionId"])
        self.call("Page.enable")

    def open(self, path: Path) -> None:
        """Load a file and wait until its script is through."""
        self.call("Page.navigate", {"url": path.as_uri()})
        waited = "new Promise(done => document.readyState === 'complete' ? done()"
        self.run(f"{waited} : addEventListener('load', () => done()))")

    def run(self, script: str) -> object:
        """Return what an expression gives on the page."""
        asked = {"expression": script, "returnByValue": True, "awaitPromise": True}
        answer = self.call("Runtime.evaluate", asked)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        result = answer["result"]
        assert isinstance(result, dict)
        return result.get("value")

    def call(self, method: str, options: Mapping[str, object] | None = None) -> dict[str, object]:
        """Send a command and return its answer; events in between are not looked at."""
        self._count += 1
        sent: dict[str, object] = {"id": self._count, "method": method, "params": options or {}}
        if self._session:
            sent["sessionId"] = self._session
        self._commands.write(json.dumps(sent).encode() + b"\0")
        self._commands.flush()
        while True:
            said = json.loads(self._message())
            if said.get("id") == self._count:
                break
        assert "error" not in said, said
        answer: dict[str, object] = said["result"]
        return answer

    def _message(self) -> bytes:
        """Read up to the next zero byte."""
        read = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser is gone"
            read += byte
        return bytes(read)


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """Start a browser that keeps what it must in `profile`, and end it."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    command = ["bash", "-c", _JOIN, "join", str(theirs_in), str(theirs_out)]
    command += [str(CHROMIUM), *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
    with (
        os.fdopen(ours_out, "wb") as commands,
        os.fdopen(ours_in, "rb") as answers,
        subprocess.Popen(
            command,
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process,
    ):
        os.close(theirs_in)
        os.close(theirs_out)
        try:
            yield Browser(commands, answers)
        finally:
            process.kill()
