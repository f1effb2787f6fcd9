"""A server of OpenAI's and Mistral's batches, whose requests a `LoopbackServer` answers.

A batch is over after `looks` looks at it. It can be held back at any step: the step is done, and
its answer is not sent, as when the client is killed before it gets it.
"""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

from loopback.answers import Answer
from loopback.in_thread import InThread
from loopback.server import LoopbackServer, Received

__all__ = ["BatchesServer", "Step", "answered_lines"]

Step = Literal["upload", "create", "list", "look", "download"]


def answered_lines(lines: Iterable[str], model: LoopbackServer) -> list[dict[str, Any]]:
    """Return the line of the output for each line of the input, as OpenAI and vLLM write it."""
    return [_answered(json.loads(line), model) for line in lines if line.strip()]


def _answered(line: Mapping[str, Any], model: LoopbackServer) -> dict[str, Any]:
    received = Received(path=line["url"], headers={}, body=line["body"])
    answer = model.record(received)
    body = json.loads(answer.body)
    response = {"status_code": answer.status, "request_id": "r", "body": body}
    head = {"id": f"batch_req_{line['custom_id'][:8]}", "custom_id": line["custom_id"]}
    return {**head, "response": response, "error": None}


@dataclass(slots=True)
class _Batch:
    batch_id: str
    input_file: str
    looks: int = 0
    files: tuple[str, str] = ("", "")
    status: str = "in_progress"
    counts: Counter[str] = field(default_factory=Counter)


class BatchesServer(InThread):
    """Serve files and batches; `model` answers each request.

    Parameters
    ----------
    looks
        How often a batch is looked at before it is over.
    ends
        The state in which batches end, one after the other; "completed" once there are no more.
    expired
        Says whether the request of a key is left unanswered, when a batch expires.
    """

    def __init__(
        self,
        model: LoopbackServer,
        *,
        looks: int = 2,
        ends: Iterable[str] = (),
        expired: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self.model = model
        self.steps: Counter[str] = Counter()
        self.held = threading.Event()
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, _Batch] = {}
        self.models: list[str] = []
        """Models of the batches that Mistral's clients begin."""
        self.failures: dict[Step, list[Answer]] = {}
        self.looks = looks
        self._ends = iter(ends)
        self._expired = expired
        self._hold: Step | None = None
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        super().__init__(_Server(self))

    def release(self) -> None:
        self._stopping.set()

    def hold(self, step: Step | None) -> None:
        """Do the next `step` and do not answer; `held` says that it is done."""
        self.held.clear()
        self._hold = step

    def do(self, step: Step, act: Callable[[], Answer]) -> Answer | None:
        """Do a step; return None if it is not to be answered."""
        with self._lock:
            self.steps[step] += 1
            if failures := self.failures.get(step):
                failure = failures.pop(0)
                if failure.status < 500:
                    return failure
                act()  # the server did it, and says that it broke
                return failure
            answer = act()
            if self._hold == step:
                self._hold = None
                self.held.set()
                return None
            return answer

    def upload(self, body: bytes) -> Answer:
        """Keep the file in a form."""
        boundary, _, _ = body.partition(b"\r\n")
        (content,) = (part for part in body.split(boundary) if b'name="file"' in part)
        content = content.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        name = f"file-{self.steps['upload']}"
        self.files[name] = content
        return _json({"id": name, "object": "file", **_FILE, "bytes": len(content)})

    def create(self, body: bytes) -> Answer:
        """Begin a batch."""
        asked = json.loads(body)
        assert asked["endpoint"] == "/v1/chat/completions"
        batch = _Batch(f"batch_{len(self.batches) + 1}", asked["input_file_id"])
        self.batches[batch.batch_id] = batch
        return _json(_written(batch))

    def listed(self) -> Answer:
        """Return all batches, newest first."""
        data = [_written(batch) for batch in reversed(self.batches.values())]
        return _json({"object": "list", "data": data, "has_more": False})

    def look(self, batch_id: str) -> Answer:
        """Return a batch, which may be over now."""
        batch = self.batches[batch_id]
        batch.looks += 1
        if batch.status == "in_progress" and batch.looks >= self.looks:
            self._end(batch, next(self._ends, "completed"))
        return _json(_written(batch))

    def _end(self, batch: _Batch, status: str) -> None:
        batch.status = status
        if status == "failed":
            return
        lines = self.files[batch.input_file].decode().splitlines()
        keys = [json.loads(line)["custom_id"] for line in lines]
        left = {key for key in keys if status == "expired" and self._expired(key)}
        answered = answered_lines(
            [line for line, key in zip(lines, keys, strict=True) if key not in left], self.model
        )
        good = [line for line in answered if line["response"]["status_code"] == 200]
        bad = [line for line in answered if line["response"]["status_code"] != 200]
        error = {"code": "batch_expired", "message": "This request could not be executed in time."}
        bad += [{"id": key, "custom_id": key, "response": None, "error": error} for key in left]
        names = (f"{batch.batch_id}-output", f"{batch.batch_id}-errors" if bad else "")
        self.files[names[0]] = _lines(reversed(good))  # no order is promised
        if bad:
            self.files[names[1]] = _lines(bad)
        batch.files = names
        batch.counts.update(total=len(keys), completed=len(good), failed=len(bad))


_FILE = {"created_at": 1, "filename": "x.jsonl", "purpose": "batch", "status": "processed"}


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _written(batch: _Batch) -> dict[str, Any]:
    errors = [{"code": "invalid", "message": "The file is not as it should be.", "line": 1}]
    return {
        "id": batch.batch_id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "input_file_id": batch.input_file,
        "completion_window": "24h",
        "status": batch.status,
        "output_file_id": batch.files[0] or None,
        "error_file_id": batch.files[1] or None,
        "created_at": 1,
        "errors": {"object": "list", "data": errors} if batch.status == "failed" else None,
        "request_counts": {"total": 0, "completed": 0, "failed": 0, **batch.counts},
    }


def _json(value: Mapping[str, Any]) -> Answer:
    return Answer(body=json.dumps(value))


_MISTRAL = {
    "in_progress": "RUNNING",
    "completed": "SUCCESS",
    "expired": "TIMEOUT_EXCEEDED",
    "failed": "FAILED",
}


def _as_mistral(answer: Answer | None) -> Answer | None:
    """Return a batch as Mistral writes it."""
    if answer is None or answer.status >= 400:
        return answer
    batch = json.loads(answer.body)
    counts = batch["request_counts"]
    return _json(
        {
            "id": batch["id"],
            "input_files": [batch["input_file_id"]],
            "endpoint": batch["endpoint"],
            "status": _MISTRAL[batch["status"]],
            "created_at": 1,
            "output_file": batch["output_file_id"],
            "error_file": batch["error_file_id"],
            "total_requests": counts["total"],
            "completed_requests": counts["completed"] + counts["failed"],
            "succeeded_requests": counts["completed"],
            "failed_requests": counts["failed"],
            "errors": [],
        }
    )


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: BatchesServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: steps are counted."""

    def do_GET(self) -> None:
        owner, path = self.server.owner, self.path.partition("?")[0].removeprefix("/v1/")
        if path.startswith("batch/jobs/"):
            job = path.removeprefix("batch/jobs/")
            self._send(_as_mistral(owner.do("look", lambda: owner.look(job))))
        elif path == "batches":
            self._send(owner.do("list", owner.listed))
        elif path.startswith("batches/"):
            self._send(owner.do("look", lambda: owner.look(path.removeprefix("batches/"))))
        elif path.endswith("/content"):
            content = owner.files[path.split("/")[1]].decode()
            self._send(owner.do("download", lambda: Answer(body=content)))
        else:
            self._send(Answer(status=404, body="{}"))

    def do_POST(self) -> None:
        owner = self.server.owner
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path == "/v1/files":
            self._send(owner.do("upload", lambda: owner.upload(body)))
        elif self.path == "/v1/batch/jobs":
            asked = json.loads(body)
            owner.models.append(asked["model"])
            (file,) = asked["input_files"]
            job = json.dumps({"endpoint": asked["endpoint"], "input_file_id": file}).encode()
            self._send(_as_mistral(owner.do("create", lambda: owner.create(job))))
        elif self.path == "/v1/batches":
            self._send(owner.do("create", lambda: owner.create(body)))
        elif self.path == "/v1/chat/completions":  # a live call
            headers = {name.lower(): value for name, value in self.headers.items()}
            received = Received(path=self.path, headers=headers, body=json.loads(body))
            self._send(owner.model.record(received))
        else:
            self._send(Answer(status=404, body="{}"))

    def _send(self, answer: Answer | None) -> None:
        if answer is None:
            self.connection.recv(1)  # until the client is gone
            self.close_connection = True
            return
        body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
