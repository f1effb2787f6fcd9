"""Results and memories that a fault could destroy, as handled by the real commands.

A run is damaged as disks, crashes and mistakes do it, 60 times with a fixed seed, and continued by
following the program's own advice. Harm is a wrong score, advice that does not help, or a repeated
call for a text whose reply is in an undamaged page.
"""

import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
from benchmarks.trials.trial import Harm, Trial
from numpy.random import Generator

from spanjury.adapters.runs.memory_form import unpacked

__all__ = ["trials"]

ROWS = 40
KILLED_AT = 25
DAMAGES = 60
PAGE = 4096
_TEXT = re.compile(r"Text (\d+) ends here\.")
_ADVICE = re.compile(r"spanjury (runs repair \S+)")
_WORDS = ("Unacceptable", "Poor", "Fair", "Good", "Excellent")
Damage = Callable[[bytearray, Generator], None]


@dataclass(slots=True)
class Model:
    """A model whose answer depends only on the text, and which can stop answering."""

    asked: list[int] = field(default_factory=list)
    fails_after: int = 10**9

    def answer(self, body: str) -> str | None:
        """Return the reply to a request, or None if the server fails.

        The preflight is always answered, so that a text without a reply is a row without an answer
        rather than an outage.
        """
        texts = _TEXT.findall(body)
        if not texts:
            return _completion("ready")
        number = int(texts[-1])
        if len(self.asked) >= self.fails_after:
            return None
        self.asked.append(number)
        word = _WORDS[expected(number) - 1]
        return _completion(f"No Error\n\nOverall score: {word}\nExplanation: {mark(number)}")


def _completion(text: str) -> str:
    return json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "model": "judge",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": text},
                }
            ],
            "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
        }
    )


def expected(number: int) -> int:
    """Return the score of a text, 1 to 5."""
    return 1 + sha256(str(number).encode()).digest()[0] % 5


def mark(number: int) -> str:
    """Return a word that occurs only in the reply about this text."""
    return sha256(f"mark {number}".encode()).hexdigest()


@contextmanager
def serving(answer: Callable[[str], str | None]) -> Iterator[str]:
    """Serve a model by a function from body to reply, or None for a failure; yield its base URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            text = answer(self.rfile.read(int(self.headers["Content-Length"])).decode())
            data = (text or "{}").encode()
            self.send_response(200 if text else 500)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Log nothing about clients that were killed."""

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a command whose runs are stored in `folder`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPANJURY")}
    return {**kept, "SPANJURY_RUNS": str(folder / "runs")}


def spanjury(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in `folder`."""
    return subprocess.run(  # noqa: S603  our own command
        [sys.executable, "-m", "spanjury", *arguments],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )


def evaluate(url: str, *flags: str) -> tuple[str, ...]:
    """Return the command that judges the rows in the run folder ``run``."""
    model = ("--model", "openai-compatible/judge", "--model-base-url", url, "--attempts", "1")
    common = ("--aspect", "fluency", "--via", "fast", "--no-progress")
    return ("evaluate", "rows.jsonl", *common, *model, *(flags or ("--run-dir", "run")))


def write_rows(folder: Path) -> None:
    """Write the texts."""
    rows = (
        {"id": str(number), "task": "summarization", "output": f"Text {number} ends here."}
        for number in range(ROWS)
    )
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def scores(path: Path) -> dict[int, float | None]:
    """Return the score of each result row."""
    rows = map(json.loads, path.read_text().splitlines())
    return {int(row["id"]): row["score"] for row in rows}


def begun(folder: Path, url: str, model: Model) -> Path:
    """Create a finished run."""
    folder.mkdir()
    write_rows(folder)
    done = spanjury(folder, *evaluate(url))
    if done.returncode:
        raise RuntimeError(done.stderr)
    model.asked.clear()
    return folder


def killed(folder: Path, url: str, model: Model) -> Path:
    """Create a run whose process was killed, so that its replies are in the memory's log."""
    folder.mkdir()
    write_rows(folder)
    command = [sys.executable, "-m", "spanjury", *evaluate(url, "--run-dir", "run")]
    process = subprocess.Popen(  # noqa: S603  our own command
        [*command, "--max-connections", "1"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    tick = threading.Event()
    while len(model.asked) < KILLED_AT and process.poll() is None:
        tick.wait(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    model.asked.clear()
    return folder


def flip(data: bytearray, chance: Generator) -> None:
    """Flip one bit, or five."""
    for _ in range(chance.choice((1, 5))):
        data[chance.integers(len(data))] ^= 1 << chance.integers(8)


def zero(data: bytearray, chance: Generator) -> None:
    """Overwrite one page, or two, with zeros."""
    start = PAGE * chance.integers(-(-len(data) // PAGE))
    end = min(len(data), start + PAGE * chance.choice((1, 2)))
    data[start:end] = bytes(end - start)


def cut(data: bytearray, chance: Generator) -> None:
    """Truncate the file."""
    del data[chance.integers(len(data)) :]


def spoil(data: bytearray, chance: Generator) -> None:
    """Overwrite some of the first 100 bytes."""
    for _ in range(chance.choice((1, 8))):
        data[chance.integers(100)] = chance.integers(256)


@dataclass(slots=True)
class Counts:
    """Counts of the damaged runs that led to harm."""

    wrong: int = 0
    dead_ends: int = 0
    paid_twice: int = 0
    repaired: int = 0


def whole_values(run: Path, hit: Path, data: bytes) -> bytes:
    """Return the unchanged pages of a run's memory, if the file `hit` now contains `data`."""
    pages = []
    for path in (run / "memory.sqlite3", run / "memory.sqlite3-wal"):
        before = path.read_bytes() if path.exists() else b""
        after = data if path == hit else before
        first, size = (32, 24 + PAGE) if path.name.endswith("-wal") else (0, PAGE)
        cuts = (slice(start, start + size) for start in range(first, len(before), size))
        pages += [before[page] for page in cuts if before[page] == after[page]]
    return b"".join(pages)


def safe_values(run: Path, whole: bytes) -> list[bytes]:
    """Return the values of an undamaged run's memory that are stored in the pages `whole`.

    They are read from a copy.
    """
    with tempfile.TemporaryDirectory() as copy:
        for path in run.glob("memory.sqlite3*"):
            shutil.copy(path, copy)
        with closing(sqlite3.connect(Path(copy) / "memory.sqlite3")) as connection:
            rows = connection.execute("SELECT key, value, checksum FROM memory").fetchall()
    return [unpacked(*row) or b"" for row in rows if row[1] in whole]


def go_on(folder: Path, counts: Counts) -> bool:
    """Resume as the program advises; return whether the run gets finished."""
    resumed = spanjury(folder, "resume", "run", "--no-progress")
    if resumed.returncode:
        advice = _ADVICE.search(resumed.stderr)
        if advice is None:
            return False
        counts.repaired += 1
        spanjury(folder, *shlex.split(advice[1]))
        resumed = spanjury(folder, "resume", "run", "--no-progress")
    return resumed.returncode == 0


def damaged(base: Path, turn: int, *, model: Model, counts: Counts) -> None:
    """Damage a copy of the run in `base` and continue it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "copy"
        shutil.copytree(base, folder)
        run = folder / "run"
        hit = run / "memory.sqlite3"
        log = run / "memory.sqlite3-wal"
        if log.exists() and turn % 3:
            hit = log
        data = bytearray(hit.read_bytes())
        chance = np.random.default_rng(turn)
        (flip, zero, cut, spoil)[turn // 2 % 4](data, chance)
        whole = whole_values(run, hit, bytes(data))
        safe = safe_values(run, whole)
        hit.write_bytes(data)
        model.asked.clear()
        if not go_on(folder, counts):
            counts.dead_ends += 1
            return
        marks = (mark(number).encode() for number in model.asked)
        counts.paid_twice += any(word in value for word in marks for value in safe)
        judged = scores(run / "results.jsonl")
        counts.wrong += judged != {number: expected(number) for number in range(ROWS)}


def damage_trials(folder: Path, url: str, model: Model) -> list[Trial]:
    """Damage the memory of a finished run, and of one that was killed."""
    bases = begun(folder / "done", url, model), killed(folder / "killed", url, model)
    counts = Counts()
    for turn in range(DAMAGES):
        damaged(bases[turn % 2], turn, model=model, counts=counts)
    names = {
        "a damaged memory: a wrong or missing score": counts.wrong,
        "a damaged memory: advice that does not lead on": counts.dead_ends,
        "a damaged memory: asked again for what lies in whole pages": counts.paid_twice,
    }
    note = f"{counts.repaired} needed `runs repair`"
    return [
        Trial(harm=Harm.LOST, name=name, tries=DAMAGES, harmed=harmed, note=note)
        for name, harmed in names.items()
    ]


def manifest_trial(folder: Path, url: str, model: Model) -> Trial:
    """Truncate the manifest, and start the run again as the program advises."""
    begun(folder / "manifest", url, model)
    path = folder / "manifest" / "run" / "run.json"
    sound = path.read_bytes()
    lengths = (0, 1, 100, len(sound) // 2, len(sound) - 3)
    harmed = 0
    for length in lengths:
        path.write_bytes(sound[:length])
        resumed = spanjury(path.parent.parent, "resume", "run", "--no-progress")
        again = spanjury(path.parent.parent, *evaluate(url))
        advised = resumed.returncode == 1 and "begin the run again" in resumed.stderr
        harmed += not advised or again.returncode != 0 or bool(model.asked)
    name = "a torn run.json: a dead end, or a text paid for again"
    return Trial(harm=Harm.LOST, name=name, tries=len(lengths), harmed=harmed)


def replacing_trial(folder: Path, url: str, model: Model) -> Trial:
    """Try to overwrite results by rows without an answer, with every command that could."""
    base = begun(folder / "results", url, model)
    results = base / "run" / "results.jsonl"
    memory = base / "run" / "memory.sqlite3"
    before, remembered = results.read_bytes(), memory.read_bytes()
    other = ("--judge", "annotator:max_tokens=77", "--no-progress")
    plain = base / "plain.jsonl"
    plain.write_bytes(before)
    onto = evaluate(url, "--no-memory", "-o", plain.name)
    silent: list[tuple[tuple[str, ...], int]]
    silent = [(("resume", "run", *other), row) for row in (0, 1, 20, 39)]
    silent += [(onto, row) for row in (0, 1, 20, 39)]
    silent += [(("rescore", "run", "--aggregate", how), 0) for how in ("mean", "median")]
    harmed = 0
    for command, fails_after in silent:
        memory.write_bytes(b"" if command[0] == "rescore" else remembered)
        model.asked.clear()
        model.fails_after = fails_after
        done = spanjury(base, *command)
        harmed += done.returncode != 1 or {results.read_bytes(), plain.read_bytes()} != {before}
    model.fails_after = 10**9
    name = "rows without an answer over good ones (rescore, resume, evaluate)"
    return Trial(harm=Harm.LOST, name=name, tries=len(silent), harmed=harmed)


def trials() -> list[Trial]:
    """Return all trials of results and memories that may be lost."""
    model = Model()
    with tempfile.TemporaryDirectory() as folder, serving(model.answer) as url:
        path = Path(folder)
        return [
            *damage_trials(path, url, model),
            manifest_trial(path, url, model),
            replacing_trial(path, url, model),
        ]
