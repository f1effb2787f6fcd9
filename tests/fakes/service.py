"""`spanjury serve` as a process of its own, on a port that was free."""

import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
from fakes.command import SPANJURY, environment

RULES = ("--judge", "grounding", "--judge", "form")
"""Judges that open in milliseconds."""
_ADDRESS = re.compile(r"listens on (http://\S+)")
_SECONDS = 60


class Served:
    """A service that runs, and what it has said so far."""

    def __init__(self, process: "subprocess.Popen[str]", folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    @property
    def url(self) -> str:
        """Its address."""
        match = _ADDRESS.search("".join(self.lines))
        assert match is not None, self.lines
        return match[1]

    @property
    def port(self) -> int:
        """Its port."""
        return int(self.url.rpartition(":")[2])

    def client(self, *, token: str = "", seconds: float = 30.0) -> httpx.Client:
        """Return a client of it."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=seconds)

    def check(self, request: Mapping[str, object]) -> httpx.Response:
        """Have a text judged, by a client of its own."""
        return httpx.post(f"{self.url}/v1/check", json=request, timeout=30.0)

    def wait_until(self, words: str) -> None:
        """Return once it has said something with `words` in it."""
        with self._news:
            assert self._news.wait_for(lambda: words in "".join(self.lines), _SECONDS), self.lines

    def wait(self) -> int:
        """Return its exit code once it has ended."""
        code = self.process.wait(_SECONDS)
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()
        with self._news:
            self.lines.append("(the end) ready")
            self._news.notify_all()


def started(folder: Path, *flags: str, judges: Sequence[str] = RULES, token: str = "") -> Served:
    """Start a service whose batches are in `folder`; return it when it is ready, or has ended."""
    variables = environment(folder)
    process = subprocess.Popen(
        [*SPANJURY, "serve", "--port", "0", "--state-dir", str(folder / "state"), *judges, *flags],
        cwd=folder,
        env={**variables, "SPANJURY_SERVE_TOKEN": token} if token else variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    served = Served(process, folder)
    served.wait_until("ready")
    return served


@contextmanager
def serving(
    folder: Path, *flags: str, judges: Sequence[str] = RULES, token: str = ""
) -> Iterator[Served]:
    """Run a service in `folder` for as long as the context lasts."""
    served = started(folder, *flags, judges=judges, token=token)
    try:
        yield served
    finally:
        served.process.kill()
        served.wait()


def rows(*outputs: str) -> bytes:
    """Return rows of summaries with these texts."""
    article = '"inputs": {"Article": "The bridge was opened in 1932."}'
    lines = (
        f'{{"id": "{number}", "task": "summarization", {article}, "output": "{output}"}}\n'
        for number, output in enumerate(outputs)
    )
    return "".join(lines).encode()
