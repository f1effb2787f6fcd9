"""The HTTP client shared by all sinks: one session, and errors that tell whether to send again."""

import json
import os
from collections.abc import Collection, Mapping

import aiohttp

from spanjury.judges.core import (
    VERSION,
    ConfigError,
    SinkError,
    SinkRefusedError,
    TraceScore,
    address_of,
    check_address,
    scrub,
    shown,
    without_secrets,
)

_SECONDS = 30.0
"""Time limit for one request."""
_SUCCEEDED = range(200, 300)
_REFUSED = frozenset({400, 404, 405, 409, 413, 415, 422})
"""Statuses that are about the data sent, so that other scores may still be accepted."""
_SHOWN = 200
"""Number of characters of an answer that a message shows."""
_LONGEST_TEXT = 2_000
"""Maximum length of an explanation that is sent, in characters."""


class HttpSink:
    """A service reached over HTTP; its session is opened with the first request.

    Redirects are not followed, cookies are not kept, and proxies in the environment are not used.

    `name` is that of the service, for messages; `url` is its address, or ``env:VARIABLE``. The
    headers are sent with every request; they may contain keys. Raises `ConfigError` if the address
    is invalid, or seems to contain a secret.
    """

    def __init__(self, name: str, *, url: str, headers: Mapping[str, str] | None = None) -> None:
        check_address(url)
        self._name = name
        self._url = (address_of(url) or "").rstrip("/")
        self._headers = {
            "User-Agent": f"spanjury/{VERSION}",
            "Content-Type": "application/json",
            **(headers or {}),
        }
        self._session: aiohttp.ClientSession | None = None

    async def request(
        self, method: str, path: str, body: object, *, done: Collection[int] = ()
    ) -> None:
        """Send `body` as JSON to a path; `done` are other statuses that mean success.

        Raises `SinkRefusedError` if the service refuses the data, and `SinkError` if it cannot be
        reached, is busy, fails, or does not accept the key.
        """
        if self._session is None:
            self._session = aiohttp.ClientSession(
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=_SECONDS),
                headers=self._headers,
            )
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        try:
            async with self._session.request(
                method, f"{self._url}{path}", data=data, allow_redirects=False
            ) as response:
                answer = await response.text(errors="replace")
                status, wait = response.status, response.headers.get("Retry-After", "")
        except TimeoutError as error:
            raise SinkError(f"{self.source}: no answer within {_SECONDS:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise SinkError(f"{self.source}: {scrub(str(error) or repr(error))}") from error
        if status in _SUCCEEDED or status in done:
            return
        problem = f"{self.source}: HTTP {status} on {method} {path}: {_excerpt(answer)}"
        if status in _REFUSED:
            raise SinkRefusedError(problem)
        raise SinkError(problem, retry_after=float(wait) if wait.isdecimal() else None)

    @property
    def source(self) -> str:
        """Its name and address, without secrets."""
        return f"{self._name} at {without_secrets(self._url)}"

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None


def variable(*names: str, default: str = "") -> str:
    """Return the value of the first of these environment variables that is set, or `default`."""
    values = (os.environ.get(name, "").strip() for name in names)
    return next(filter(None, values), default)


def required(*names: str, sink: str) -> str:
    """Return the value of the first of these environment variables that is set.

    Raises `ConfigError` if none is set.
    """
    if value := variable(*names):
        return value
    raise ConfigError(f"sink {sink!r} needs a key: set {' or '.join(names)}")


def explanation_of(score: TraceScore) -> str:
    """Return the explanation, shortened to a length that every service accepts."""
    text = score.explanation
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def details_of(score: TraceScore) -> dict[str, object]:
    """Return the values of a score for which a service has no field."""
    details: dict[str, object] = {
        "score_id": score.score_id,
        "outcome": score.outcome,
        "scale": f"{score.low:g} to {score.high:g}",
        "signature": score.signature,
        "task": score.task,
        "decision": score.decision,
        "error_probability": score.error_probability,
    }
    return {name: value for name, value in details.items() if value not in {"", None}}


def _excerpt(answer: str) -> str:
    return shown(scrub(" ".join(answer.split())[:_SHOWN])) or "no text"
