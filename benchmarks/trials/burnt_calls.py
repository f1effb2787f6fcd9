"""Calls wasted by a run on a model that is unusable, does not answer, or answers uselessly.

The real command judges real rows with a real server that refuses, dies, is overloaded, is down, or
is up but useless. Harm is a call beyond those that the fault excuses, a failed row that it does not
excuse, or an exit status of success.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import perf_counter
from typing import Self

from benchmarks.trials.trial import Harm, Trial

__all__ = ["trials"]

ROWS = 2000
GOOD = "No Error\n\nOverall score: Good\nExplanation of the score: It is fine."
FINE = 200
_PROBE = b"the single word"
Status = Callable[[int], int]
"""Status of the nth request, from 0; 0 breaks the connection."""


def _always(status: int) -> Status:
    return lambda _: status


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    """One kind of failure, and what it excuses: calls, an exit code, scored rows and failed rows.

    If `is_ready`, every preflight is answered. From call number `content_from` on, replies to rows
    are `content`.
    """

    name: str
    status: Status
    calls: int
    code: int = 1
    results: int = 0
    failed: int = 0
    is_ready: bool = False
    content: str = GOOD
    content_from: int = 0
    flags: tuple[str, ...] = ("--max-outage", "2")


_AFTER = 80
_UNDER_WAY = 16
_VAIN = 60
_FAULTS = (
    *(
        _Fault(name=f"{status} for each of {ROWS} rows", status=_always(status), calls=4)
        for status in (401, 402, 403, 404, 405)
    ),
    _Fault(
        name="401 for each row, no preflight",
        status=_always(401),
        calls=1 + 1,
        flags=("--no-preflight", "--max-connections", "64"),
    ),
    _Fault(name="503 for each row", status=_always(503), calls=6),
    _Fault(name="the connection breaks for each row", status=_always(0), calls=6),
    _Fault(
        name=f"dead after {_AFTER} rows",
        status=lambda number: FINE if number <= _AFTER else 0,
        calls=_AFTER + 1 + 8 + 6,
        results=_AFTER,
    ),
    _Fault(
        name=f"key withdrawn after {_AFTER} rows",
        status=lambda number: FINE if number <= _AFTER else 401,
        calls=_AFTER + 1 + 8 + 3,
        results=_AFTER,
    ),
    _Fault(
        name=f"503 for 9 calls after {_AFTER} rows, then well",
        status=lambda number: 503 if _AFTER < number <= _AFTER + 9 else FINE,
        calls=ROWS + 9 + 6,
        code=0,
        results=ROWS,
        flags=(),
    ),
    *(
        _Fault(
            name=f"ready, and {status} for each of {ROWS} rows",
            status=_always(status),
            is_ready=True,
            calls=_VAIN,
            failed=failed,
            flags=(),
        )
        for status, failed in ((500, 0), (400, _VAIN // 2))
    ),
    _Fault(
        name=f"empty replies to each of {ROWS} rows",
        status=_always(FINE),
        content="",
        calls=_VAIN,
        failed=_VAIN // 2,
    ),
    _Fault(
        name=f"empty replies after {_AFTER} rows",
        status=_always(FINE),
        content="",
        content_from=_AFTER + 1,
        calls=_AFTER + 1 + 2 * (50 + _UNDER_WAY),
        failed=50 + _UNDER_WAY,
        results=_AFTER,
    ),
)


def trials() -> list[Trial]:
    """Test the command with every fault; a trial has as many tries as rows."""
    return [_tried(fault) for fault in _FAULTS]


def _tried(fault: _Fault) -> Trial:
    with tempfile.TemporaryDirectory(prefix="burnt-") as folder, _Server(fault) as server:
        began = perf_counter()
        code = _evaluate(Path(folder), server.url, fault.flags)
        seconds = perf_counter() - began
        outcomes = _outcomes(Path(folder) / "run")
    failed = max(0, sum(outcome != "scored" for outcome in outcomes) - fault.failed)
    unfinished = fault.code == 0 and len(outcomes) != fault.results
    harmed = max(0, server.calls - fault.calls) + failed + unfinished + (code != fault.code)
    return Trial(
        harm=Harm.BURNT,
        name=fault.name,
        tries=ROWS,
        harmed=min(harmed, ROWS),
        note=f"{server.calls} calls, {len(outcomes)} results, exit {code}, {seconds:.0f} s",
    )


def _evaluate(folder: Path, url: str, flags: tuple[str, ...]) -> int:
    rows = (
        json.dumps({"id": str(number), "task": "summarization", "output": f"Text {number}."})
        for number in range(ROWS)
    )
    (folder / "rows.jsonl").write_text("\n".join(rows))
    environment = {name: value for name, value in os.environ.items() if "SPANJURY" not in name}
    model = ("--model", "openai-compatible/judge", "--model-base-url", url)
    command = (sys.executable, "-m", "spanjury", "evaluate", "rows.jsonl", "--aspect", "fluency")
    ended = subprocess.run(  # noqa: S603 - our own command
        [*command, *model, "--run-dir", "run", "--no-progress", *flags],
        cwd=folder,
        env={**environment, "SPANJURY_RUNS": str(folder / "home")},
        capture_output=True,
        check=False,
        timeout=600,
    )
    return ended.returncode


def _outcomes(run: Path) -> list[str]:
    (written,) = run.glob("results.jsonl*")
    return [json.loads(line)["outcome"] for line in written.read_text().splitlines()]


class _Server:
    """A server that counts its calls and answers according to a fault, as a context manager."""

    def __init__(self, fault: _Fault) -> None:
        self.calls = 0
        self._fault = fault
        self._lock = threading.Lock()
        server = self

        class Handler(_Handler):
            owner = server

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self.url = f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, body: bytes) -> tuple[int, str]:
        """Count a call; return the status and the text of its answer."""
        with self._lock:
            number = self.calls
            self.calls += 1
        fault = self._fault
        if fault.is_ready and _PROBE in body:
            return FINE, "ready"
        return fault.status(number), fault.content if number >= fault.content_from else GOOD


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    owner: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Log nothing."""

    def do_POST(self) -> None:
        """Answer a chat completion."""
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        status, text = self.owner.answer(body)
        if status == 0:
            self.close_connection = True
            return
        message = {"role": "assistant", "content": text}
        reply = {
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        }
        written = json.dumps(reply if status == FINE else {"error": {"message": "no"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)
