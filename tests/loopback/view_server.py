"""A server of the page of `spanjury view` on loopback, which answers from data built by hand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlsplit

from fakes.view_data import Json, ViewData

from spanjury.orchestration.report.view.page import view_page

TOKEN = "t0k-en_of.this~test"


@dataclass
class ViewServer:
    """Data that are served, and errors by path, each answered once."""

    data: ViewData
    rows_at_once: int = 20_000
    asked: list[str] = field(default_factory=list)
    faults: dict[str, tuple[int, str]] = field(default_factory=dict)
    address: str = ""

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, object]:
        self.asked.append(path)
        if fault := self.faults.pop(path, None):
            return fault[0], {"title": fault[1]}
        answers = {
            "head": self._head,
            "columns": self._columns,
            "rows": self._rows,
            "search": self._search,
            "asked": self._prompts,
            "comparison": self._comparison,
        }
        if path not in answers:
            return 404, {"title": f"there is no {path}"}
        return 200, answers[path](query)

    def _head(self, _: dict[str, str]) -> Json:
        return {**self.data.head(), "has_replies": True}

    def _columns(self, query: dict[str, str]) -> Json:
        start = int(query["from"])
        return self.data.columns(start, start + self.rows_at_once)

    def _rows(self, query: dict[str, str]) -> Json:
        return self.data.details([int(number) for number in query["numbers"].split(",")])

    def _search(self, query: dict[str, str]) -> Json:
        wanted = query["text"].casefold()
        rows = enumerate(self.data.rows)
        return {"numbers": [number for number, row in rows if wanted in row["id"].casefold()]}

    def _prompts(self, query: dict[str, str]) -> Json:
        messages = [{"role": "user", "content": f"Judge row {query['number']} <b>well</b>."}]
        calls = [{"messages": messages, "reply": "It is good."}]
        return {"seats": [{"judge": "a", "calls": calls}], "note": ""}

    def _comparison(self, query: dict[str, str]) -> Json:
        matches = [each for each in self.data.comparisons if each["first"] == query["first"]]
        return matches[0] if matches else {**query, "rows": [], "note": "no text in common"}


@contextmanager
def served(server: ViewServer) -> Iterator[str]:
    """Yield the page's address with the token; the server is gone when the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if not parts.path.startswith("/api/"):
                page = view_page("served")
                return self.send(200, page.encode(), kind="text/html; charset=utf-8")
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                return self.send(401, b'{"title": "no token"}')
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            status, answer = server.answer(parts.path.removeprefix("/api/"), query)
            return self.send(status, json.dumps(answer).encode())

        def send(self, status: int, body: bytes, kind: str = "application/json") -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Keep the terminal free."""

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.address = f"http://127.0.0.1:{listening.server_port}/"
    try:
        yield f"{server.address}#{TOKEN}"
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
