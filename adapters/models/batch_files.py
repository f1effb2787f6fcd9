"""Batch files in OpenAI's format: one request per line is sent, one answer per line comes back.

A line of the input is ``{"custom_id", "method", "url", "body"}``. A line of the output has the
same ``custom_id``, and ``response`` (``status_code``, ``body``) or ``error``. OpenAI, Azure and
vLLM's ``run-batch`` differ in how they write errors; all their forms are read. Output may be
large, because it can include log-probabilities, so only the positions of its lines are held.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, Protocol, runtime_checkable

import msgspec

from spanjury.adapters.models.model_errors import error_by_status, refused_form, short_line
from spanjury.adapters.models.openai_reply import HttpAnswer, content_of, is_success, read_reply
from spanjury.adapters.models.openai_request import unforced
from spanjury.adapters.models.scrubbed_model import hide_in, scrubbed_reply
from spanjury.judges.core import (
    ChatModel,
    ChatRequest,
    DataError,
    ModelError,
    Reply,
    SecretFinder,
    StoreError,
)

ENDPOINT: Final = "/v1/chat/completions"
"""The path on the server that every request of a batch is for."""
_OK = 200
_ENCODER = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchAccess:
    """The server for a model's batches, in LiteLLM's terms.

    Without `model`, one batch may have requests to several models.
    """

    provider: str
    source: str
    model: str = ""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)


BatchState = Literal["under way", "completed", "expired", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """The state of a batch.

    Parameters
    ----------
    files
        Ids of its output file and error file, if there are such files.
    done, total
        Number of requests answered or failed, and of all; 0 if the provider does not report it.
    reason
        The provider's message, if the batch failed.
    """

    batch_id: str
    state: BatchState
    files: tuple[str, ...] = ()
    done: int = 0
    total: int = 0
    reason: str = ""


@runtime_checkable
class WrittenModel(ChatModel, Protocol):
    """A model that can write out its requests exactly as they would be sent."""

    @property
    def batch_access(self) -> BatchAccess | None:
        """The server for its batches; None if its provider has no batches in OpenAI's format."""
        ...

    async def body(self, request: ChatRequest) -> bytes:
        """Return the JSON that a call would send; raise `ModelError` as a call does."""
        ...


@dataclass(frozen=True, slots=True)
class BatchModel:
    """A model used through batch files; its replies are scrubbed as those of a call are."""

    model: WrittenModel
    source: str
    _secrets: SecretFinder = field(default_factory=SecretFinder, init=False, repr=False)

    async def line(self, key: str, request: ChatRequest) -> bytes:
        """Return the line that requests the reply; raise `ModelError` as a call does."""
        head = {"custom_id": key, "method": "POST", "url": ENDPOINT}
        return _ENCODER.encode({**head, "body": msgspec.Raw(await self.model.body(request))})

    def read(self, line: bytes, request: ChatRequest) -> Reply:
        """Return the reply in a line of the output; raise `ModelError` as a call does."""
        answer = _LINES.decode(line)
        try:
            content = content_of(_http_answer(answer), source=self.source, key="")
            reply = read_reply(content, unforced(request), source=self.source)
        except ModelError as error:
            hide_in(error)
            raise refused_form(error, unforced(request)) from None
        return scrubbed_reply(reply, self._secrets)


class _Response(msgspec.Struct):
    status_code: int | None = None
    body: msgspec.Raw = msgspec.Raw(b"null")


class _Line(msgspec.Struct):
    custom_id: str
    response: _Response | None = None
    error: object = None


class _Completion(msgspec.Struct):
    choices: list[msgspec.Raw]


_LINES = msgspec.json.Decoder(_Line)
_COMPLETIONS = msgspec.json.Decoder(_Completion)


def _http_answer(line: _Line) -> HttpAnswer:
    """Return a line as an answer to a call; raise `ModelError` for an error without its status."""
    response = line.response or _Response()
    status = response.status_code
    if line.error is None:
        status, body = _OK if status is None else status, bytes(response.body)
        return HttpAnswer(status=status, reason="", headers={}, body=body)
    error = line.error
    inner = error.get("error") if isinstance(error, Mapping) else None
    fields = error if isinstance(inner, Mapping) else {"error": error}
    if status is None or is_success(status):  # e.g. for a request when the batch expired
        raise error_by_status(f"the batch did not answer: {_words(error)}", status=None)
    return HttpAnswer(status=status, reason="", headers={}, body=json.dumps(fields).encode())


def _words(error: object) -> str:
    if isinstance(error, Mapping):
        inner = error.get("error")
        error = inner if isinstance(inner, Mapping) else error
        named = [str(error[part]) for part in ("code", "message") if error.get(part)]
        return short_line(": ".join(named) or "no reason given")
    return short_line(str(error))


@dataclass(frozen=True, slots=True)
class _Interval:
    """Position of a line in a file; calling it reads the line."""

    path: Path
    start: int
    length: int

    def __call__(self) -> bytes:
        try:
            with self.path.open("rb") as file:
                file.seek(self.start)
                return file.read(self.length)
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be read: {error.strerror}") from error


@dataclass(slots=True)
class AnswerLine:
    """The lines of a file for one request: its reply, or at least one failure."""

    reply: _Interval | None = None
    failures: list[_Interval] = field(default_factory=list)


@dataclass(slots=True)
class AnswerFile:
    """The output file of a batch.

    Parameters
    ----------
    lines
        Lines by the key of their request.
    damaged
        Numbers of the lines that are not valid answers.
    doubled
        Numbers of the lines that repeat an answer; the first answer is used.
    errors
        Number of failed answers by status or error code.
    """

    path: Path
    lines: dict[str, AnswerLine] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)
    doubled: list[int] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)


def read_answers(path: Path) -> AnswerFile:
    """Index the output of a batch; raise `DataError` if the file cannot be read."""
    answers = AnswerFile(path)
    start = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    _take(answers, line, number=number, start=start)
                start += len(line)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    return answers


def _take(answers: AnswerFile, line: bytes, *, number: int, start: int) -> None:
    read = _read_line(line)
    if read is None:
        answers.damaged.append(number)
        return
    interval = _Interval(answers.path, start, len(line))
    failed = _failure(read)
    before = answers.lines.get(read.custom_id)
    if before is not None and (failed or before.reply is not None):
        answers.doubled.append(number)
        return
    if failed:
        answers.errors[failed] += 1
        answers.lines[read.custom_id] = AnswerLine(failures=[interval])
    else:
        answers.lines[read.custom_id] = AnswerLine(reply=interval)


def _read_line(line: bytes) -> _Line | None:
    """Return the parsed line; None if it is not an answer, or its reply not a chat completion."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        read = _LINES.decode(line)
        if _failure(read):
            return read
        if read.response is not None and _COMPLETIONS.decode(read.response.body).choices:
            return read
    return None


def _failure(line: _Line) -> str:
    """Return the code of a failed answer; empty if it has a reply."""
    status = line.response.status_code if line.response else None
    if line.error is not None:
        code = line.error.get("code") if isinstance(line.error, Mapping) else None
        return str(code or (status if status != _OK else None) or "error")
    return "" if status is None or is_success(status) else f"status {status}"


class RequestFile:
    """A file of requests, written completely or not at all; end with `finish` or `discard`.

    Raises `StoreError` if it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._new = path.with_name(f"{path.name}.new")
        with self._writing():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._new.open("wb")

    def write(self, line: bytes) -> None:
        """Append a line."""
        with self._writing():
            self._file.write(line + b"\n")

    def finish(self) -> None:
        """Sync the file to disk, and give it its final name."""
        with self._writing():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._new.replace(self.path)

    def discard(self) -> None:
        """Delete the unfinished file."""
        self._file.close()
        self._new.unlink(missing_ok=True)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self.path}: cannot be written: {error.strerror}") from error


def write_answers(path: Path, content: bytes) -> None:
    """Write the output of a batch, synced to disk; raise `StoreError` if that fails."""
    file = RequestFile(path)
    file.write(content)
    file.finish()
