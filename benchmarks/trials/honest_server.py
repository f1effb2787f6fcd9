"""An HTTP server that answers like a judge, and the command that calls it."""

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["Answerer", "Asked", "Result", "Row", "judged"]


class Asked(NamedTuple):
    """A request as parsed by an honest judge."""

    prompt: str
    text: str
    mark: str
    case: int


Answerer = Callable[[Asked], tuple[str, str]]
"""Request -> reply and finish reason (``stop`` or ``length``)."""


@contextmanager
def _server(answer: Answerer, pages: Mapping[str, object]) -> Iterator[tuple[str, list[Asked]]]:
    """Serve chat completions, and `pages` by path; yield the address and the list of requests."""
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path in pages:
                self._send(pages[self.path])
                return
            asked.append(_understood([message["content"] for message in body["messages"]]))
            text, finish = answer(asked[-1])
            choice = {"index": 0, "finish_reason": finish, "message": _message(text)}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            envelope = {"id": "a", "object": "chat.completion", "created": 1, "model": "honest"}
            self._send({**envelope, "choices": [choice], "usage": usage})

        def do_GET(self) -> None:
            self._send(pages.get(self.path, {}))

        def _send(self, page: object) -> None:
            data = json.dumps(page).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _message(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def _understood(messages: Sequence[str]) -> Asked:
    prompt = "\n".join(messages)
    text = re.search(r"(?s)(\[\w{12}\]) Summary: begin\n(.*?)\n\1 Summary: end", prompt)
    text = text or re.search(r"(?s)(~{3,}) Summary\n(.*?)\n\1", prompt)
    mark = re.search(r"Overall score \((\w+)\): <", prompt)
    case = re.search(r"Case (\d+)\.", prompt)
    return Asked(
        prompt=prompt,
        text=text[2] if text else "",
        mark=mark[1] if mark else "",
        case=int(case[1]) if case else 0,
    )


class Row(NamedTuple):
    """A row of the input: a text, and the name of its source."""

    output: str
    header: str = "Article"


class Result(NamedTuple):
    """The only seat's report on a row."""

    outcome: str
    score: float | None
    severities: tuple[int | None, ...]


def judged(
    rows: Sequence[Row],
    answer: Answerer,
    *,
    judge: str,
    pages: Mapping[str, object] = MappingProxyType({}),
) -> tuple[list[Result], list[Asked]]:
    """Run ``spanjury evaluate`` on `rows`; return its results and the server's requests.

    `pages` are the server's answers to paths other than completions, as JSON.
    """
    with tempfile.TemporaryDirectory() as folder, _server(answer, pages) as (url, asked):
        data, results = Path(folder, "data.jsonl"), Path(folder, "results.jsonl")
        lines = (
            {"id": str(number), "output": row.output, "inputs": {row.header: "It rains."}}
            for number, row in enumerate(rows)
        )
        data.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
        flags = ["--judge", judge, "--model", "openai-compatible/honest", "--model-base-url", url]
        flags += ["--task", "summarization", "--aspect", "consistency", "-o", str(results)]
        flags.append("--no-preflight")  # the preflight has no judged text
        flags += ["--min-usable", "0"]  # replies without a score are the subject of the test
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-m", "spanjury", "evaluate", str(data), *flags],
            env={**os.environ, "HOME": folder, "XDG_DATA_HOME": folder, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        if not results.exists():
            raise RuntimeError(f"no results: {done.stderr[-2000:]}")
        written = results.read_text(encoding="utf-8").splitlines()
        return [_result(json.loads(line)) for line in written], asked


def _result(row: dict[str, list[dict[str, object]]]) -> Result:
    (seat,) = row["seats"]
    spans = seat["spans"]
    assert isinstance(spans, list)
    score = seat["score"]
    return Result(
        outcome=str(seat["outcome"]),
        score=float(score) if isinstance(score, int | float) else None,
        severities=tuple(span["severity"] for span in spans),
    )
