"""Secrets, judged texts and control characters that could escape to a file, a log or the screen.

A dozen secrets are planted in the environment, in addresses, in replies and in error bodies, in all
forms that should be masked. Then every file of the run (including the memory and its write-ahead
log), standard output and standard error are searched for each of them.
"""

import base64
import json
import re
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from benchmarks.trials.command import everything, run
from benchmarks.trials.hostile_names import hostile_trials
from benchmarks.trials.trial import Harm, Trial

__all__ = ["trials"]

_NAMES = (
    "OPENAI_API_KEY", "OPENAI_COMPATIBLE_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "DB_PASSWORD",
    "APP_SECRET", "SESSION_COOKIE", "LDAP_PASS", "GITHUB_PAT", "SMTP_PWD", "SIGNING_KEY",
    "SOME_CREDENTIALS",
)  # fmt: skip
_TEXT = "The bridge number {} at Port Ellery will close for the repair of its pivot."
_REPLY = """Error 1:
Location: "bridge"
Explanation: it was shown {0}
Severity: 3

Overall score: Fair
Explanation of the score: the key is {0}"""
_ROADS = ("openai-compatible/judge", "openai/judge")
_ADDRESSES = (
    "http://me:{}@127.0.0.1:1/v1",
    "http://{}@127.0.0.1:1/v1",
    "http://127.0.0.1:1/v1?api_key={}",
    "http://127.0.0.1:1/v1?x=1&token={}",
    "http://127.0.0.1:1/{}/v1",
    "http://127.0.0.1:1/v1#{}",
)
_LIBRARY = """
import anyio, logging, sys
from spanjury import Segment, find_aspect, open_panel
if sys.argv[1:]:
    logging.basicConfig(level=logging.DEBUG)

class Broken:
    signature = "broken"
    async def assess(self, segment, aspect):
        text, key = segment.output, "{key}"
        raise {error}(text, key)

async def main():
    async with open_panel(judges=[Broken(), "form"]) as panel:
        segment = Segment(segment_id="row", output="{text}")
        await panel.assess(segment, find_aspect("summarization", "fluency"))

anyio.run(main)
"""
_ERRORS = ("ValueError", "KeyError", "RuntimeError", "OSError", "TypeError", "LookupError")


class Leak(NamedTuple):
    """A form of a secret that a server returns, and the text that must not appear."""

    form: str
    trace: str


def trials() -> list[Trial]:
    """Test each channel, and count the leaks."""
    planted = {name: _secret(number) for number, name in enumerate(_NAMES)}
    leaks = [leak for secret in planted.values() for leak in _forms(secret)]
    return [
        *(_echoed(road, leaks, planted, failing=False) for road in _ROADS),
        *(_echoed(road, leaks, planted, failing=True) for road in _ROADS),
        _addresses(list(planted.values())),
        _fresh_addresses(),
        *_library(),
        *hostile_trials(),
    ]


def _secret(number: int) -> str:
    """Return a random key in one of the usual formats."""
    body = secrets.token_hex(8)
    return (f"sk-{body}", f"{body}/+{body[:4]}=", f"hf_{body.upper()}q7", f"Pw9-{body}.x")[
        number % 4
    ]


def _forms(secret: str) -> Iterator[Leak]:
    data = secret.encode()
    for form in (
        secret,
        secret.upper(),
        secret.lower(),
        quote(secret, safe=""),
        quote_plus(secret),
    ):
        yield Leak(form, letters(secret))
    for blank in (" ", "\n", "-", "\u200b", "\u00ad", "\u2060"):
        yield Leak(blank.join(secret), letters(secret))
        yield Leak(f"{secret[:7]}{blank}{secret[7:]}", letters(secret))
    for form in (data.hex(), data.hex().upper(), data.hex(":"), "".join(f"%{b:02x}" for b in data)):
        yield Leak(form, data.hex())
    yield Leak(secret[::-1], letters(secret[::-1]))
    for escape in ("\\u{:04x}", "\\x{:02x}", "&#{};", "&#x{:x};"):
        form = "".join(escape.format(ord(character)) for character in secret)
        yield Leak(form, letters(form))
    for before in (b"", b"u", b"u:::"):
        form = base64.b32encode(before + data + b"|").decode().rstrip("=")
        yield Leak(form, letters(form[7:-2]))
    for before in (b"", b"u", b"u:"):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            form = encode(before + data + b"|").decode()
            yield Leak(form, letters(form[4:-4]))


def letters(text: str) -> str:
    """Return only the letters and digits of `text`, case-folded."""
    return re.sub(r"[\W_]+", "", text).casefold()


def _echoed(road: str, leaks: Sequence[Leak], planted: dict[str, str], *, failing: bool) -> Trial:
    def answer(number: int) -> tuple[int, str]:
        form = leaks[number].form
        if failing:
            return 400, json.dumps({"error": {"message": f"wrong key: {form}", "code": None}})
        return 200, _completion(_REPLY.format(form))

    with tempfile.TemporaryDirectory() as path, _serving(answer) as url:
        folder = Path(path)
        _write_rows(folder, len(leaks))
        flags = ("--model", road, "--model-base-url", url, "--attempts", "1", "--run-dir", "run")
        more = ("--aspect", "fluency", "--log-file", "run.log", "--min-usable", "0")
        done = run(folder, "evaluate", "rows.jsonl", *flags, *more, environment=planted)
        seen = letters(done.stdout + done.stderr + everything(folder / "run") + everything(folder))
        harmed = sum(leak.trace in seen for leak in leaks)
        results = (folder / "run" / "results.jsonl").read_bytes().count(b"\n")
    what = "an error body" if failing else "a reply"
    return Trial(
        harm=Harm.LEAKED,
        name=f"a key in {what}, {road.partition('/')[0]}",
        tries=len(leaks),
        harmed=harmed,
        note=f"{results} results, {len(planted)} keys in {len(leaks) // len(planted)} forms",
    )


def _addresses(planted: Sequence[str]) -> Trial:
    """Use known secrets in addresses: no request may be sent, and nothing written."""
    harmed = 0
    for number, secret in enumerate(planted):
        form = _ADDRESSES[number % len(_ADDRESSES)]
        harmed += _address_leaks(form, secret, {"SOME_KEY": secret})
    name = "a key of the environment in an address"
    return Trial(harm=Harm.LEAKED, name=name, tries=len(planted), harmed=harmed)


def _fresh_addresses() -> Trial:
    """Use secrets that occur only in an address."""
    harmed = sum(_address_leaks(form, secrets.token_urlsafe(24), {}) for form in _ADDRESSES)
    name = "a secret known from its address alone"
    return Trial(harm=Harm.LEAKED, name=name, tries=len(_ADDRESSES), harmed=harmed)


def _address_leaks(form: str, secret: str, environment: dict[str, str]) -> bool:
    url = form.format(quote(secret, safe=""))
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        _write_rows(folder, 1)
        flags = ("--model", _ROADS[0], "--model-base-url", url, "--log-file", "run.log")
        done = run(folder, "evaluate", "rows.jsonl", *flags, environment=environment)
        seen = letters(done.stdout + done.stderr + everything(folder))
    return letters(secret) in seen or not done.returncode


def _library() -> Iterator[Trial]:
    """Use spanjury as a library with a judge that fails, without logging and with it."""
    for flags, name in (((), "no log set up"), (("log",), "logging.basicConfig(DEBUG)")):
        harmed = 0
        for error in _ERRORS:
            key, text = _secret(1), f"{_TEXT.format(7)} {secrets.token_hex(4)}"
            program = _LIBRARY.format(key=key, text=text, error=error)
            command = [sys.executable, "-c", program, *flags]
            done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
            seen = done.stdout + done.stderr
            harmed += bool(done.stdout or key in seen or text in seen or (seen and not flags))
        what = f"a text in the locals and the message of an exception, {name}"
        yield Trial(harm=Harm.LEAKED, name=what, tries=len(_ERRORS), harmed=harmed)


def _write_rows(folder: Path, count: int) -> None:
    rows = (
        {"id": str(number), "task": "summarization", "output": _TEXT.format(number)}
        for number in range(count)
    )
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _completion(text: str) -> str:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    return json.dumps({"object": "chat.completion", "model": "judge", "choices": [choice]})


@contextmanager
def _serving(answer: Callable[[int], tuple[int, str]]) -> Iterator[str]:
    """Serve completions that depend on the number in the judged text."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
            number = re.search(r"bridge number (\d+)", asked)
            # The preflight has no text; if it failed, no row would be judged.
            status, body = answer(int(number[1])) if number else (200, _completion("ready"))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
